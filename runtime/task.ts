import type { Services } from './context.ts'
import type { Log } from './log.ts'

/** Work that nobody asks for: it runs soon after the start and then every so many seconds. */
export interface Task {
  name: string
  /** Seconds from the end of one run to the begin of the next. */
  every: number
  run(services: Services): Promise<void>
}

/** Declares a task. Nothing runs until `startTasks` is given it. */
export function defineTask(task: Task): Task {
  return task
}

export interface RunningTasks {
  /** Begins no further run; settles when those under way have ended. */
  stop(): Promise<void>
}

/** The service answers first: what is due at the start waits for this long. */
const FIRST_MS = 2_000

/** Runs each task in its own time, never beside itself; a failure is logged, and the next run comes all the same. */
export function startTasks(tasks: readonly Task[], services: Services): RunningTasks {
  const timers = new Set<NodeJS.Timeout>()
  const running = new Set<Promise<void>>()
  let stopped = false

  const schedule = (task: Task, afterMs: number) => {
    if (stopped) return
    const timer = setTimeout(() => {
      timers.delete(timer)
      const run = once(task, services).then(() => {
        running.delete(run)
        schedule(task, task.every * 1000)
      })
      running.add(run)
    }, afterMs)
    timer.unref()
    timers.add(timer)
  }

  for (const task of tasks) schedule(task, Math.min(FIRST_MS, task.every * 1000))
  return {
    async stop() {
      stopped = true
      for (const timer of timers) clearTimeout(timer)
      await Promise.all(running)
    },
  }
}

/** Runs each task once; settles when all have ended. A failure is logged. */
export async function runTasks(tasks: readonly Task[], services: Services): Promise<void> {
  await Promise.all(tasks.map((task) => once(task, services)))
}

async function once({ name, run }: Task, services: Services): Promise<void> {
  const { log }: { log: Log } = services
  try {
    await run(services)
  } catch (error) {
    log.error({ task: name, err: error }, 'task failed')
  }
}
