import { answer } from './child.ts'
import { followNewJob, Task } from './follow.ts'

/** Starts a job and reads all of its output; the time is from the request to the final event. */
answer(Task, async (task) => {
  const started = performance.now()
  const followed = await followNewJob(task)
  return { ms: performance.now() - started, ...followed }
})
