import * as z from 'zod'
import { answer } from './child.ts'
import { followNewJob, Task } from './follow.ts'

const Frame = z.object({ data: z.object({ chunk: z.string() }) })

/** Starts a job whose lines are times in nanoseconds; returns the milliseconds from each to its arrival. */
answer(Task, async (task) => {
  const ages: number[] = []
  let rest = ''
  await followNewJob(task, (frame) => {
    const now = performance.timeOrigin + performance.now()
    const lines = (rest + Frame.parse(JSON.parse(frame.toString())).data.chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) ages.push(now - Number(line) / 1e6)
  })
  return ages
})
