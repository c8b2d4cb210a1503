import * as z from 'zod'
import { answer } from './child.ts'
import { awaitNewJob, followNewJob, Task } from './follow.ts'

/** Starts a job and, if asked to, reads all of its output; the time is from the request to the job's end. */
answer(Task.extend({ watched: z.boolean() }), async ({ watched, ...task }) => {
  const started = performance.now()
  const followed = await (watched ? followNewJob(task) : awaitNewJob(task))
  return { ms: performance.now() - started, ...followed }
})
