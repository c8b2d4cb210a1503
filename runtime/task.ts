import type { RuntimeServices } from './context.ts'

type Logging = Pick<RuntimeServices, 'log'>

/** Periodic work: it runs soon after the start and then at an interval. */
export interface Task<services> {
  name: string
  /** Seconds from the end of one run to the start of the next. */
  every: number
  run(services: services): Promise<void>
}

/** Returns the function that declares tasks of a service. Nothing runs until `startTasks` receives them. */
export function taskDeclarations<services>() {
  return (task: Task<services>): Task<services> => task
}

export interface RunningTasks {
  /** Starts no further run. Settles when the current runs have ended. */
  stop(): Promise<void>
}

/** The first runs wait this long, so that the service can answer requests first. */
const FIRST_MS = 2_000

/** Runs each task at its interval, never twice at once. A failure is logged and does not cancel the next run. */
export function startTasks<services extends Logging>(
  tasks: readonly Task<services>[],
  services: services,
): RunningTasks {
  const timers = new Set<NodeJS.Timeout>()
  const running = new Set<Promise<void>>()
  let stopped = false

  const schedule = (task: Task<services>, afterMs: number) => {
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

/** Runs each task once. Settles when all have ended. Failures are logged. */
export async function runTasks<services extends Logging>(
  tasks: readonly Task<services>[],
  services: services,
): Promise<void> {
  await Promise.all(tasks.map((task) => once(task, services)))
}

async function once<services extends Logging>({ name, run }: Task<services>, services: services): Promise<void> {
  try {
    await run(services)
  } catch (error) {
    services.log.error({ task: name, err: error }, 'task failed')
  }
}
