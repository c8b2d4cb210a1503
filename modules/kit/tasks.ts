/*
 * Tasks of modules: periodic work that runs while the module is enabled, never twice at once, and once among all
 * instances that share the database. A task that fails or hangs disturbs nothing but itself.
 */

import { endTurn, takeTurn } from '../../db/module-store/turns.ts'
import { timestamp } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import type { Task } from '../../runtime/task.ts'
import type { StoreServices } from './store.ts'

/** A task as a module declares it; `every` is in seconds. */
export interface TaskDefinition {
  name: string
  every: number
  run(context: never): unknown
}

/** The services that tasks of modules receive, next to all others of the service. */
export interface TaskServices extends StoreServices {
  log: Log
}

/** The least interval of a task, in seconds. */
export const LEAST_EVERY = 60
/** How often an instance asks whether a task is due, in seconds. */
const LOOK = 30
/** The time after which a run counts as failed. */
const MAX_MS = 10 * 60_000
/** A turn outlives its run by this much, so that it cannot expire during the run. */
const MARGIN_MS = 60_000

/**
 * Returns a module's task as one of the service. `owner` is this instance, `contextOf` gives what the task receives, and
 * `stopping` ends a run when the service stops.
 */
export function moduleTask<services extends TaskServices>(
  module: string,
  { name, every, run }: TaskDefinition,
  {
    owner,
    stopping,
    contextOf,
    call = (work) => work(),
  }: {
    owner: string
    stopping: AbortSignal
    contextOf(services: services): object
    /** Calls code of the module. */
    call?: (work: () => unknown) => unknown
  },
): Task<services> {
  /** A run that ignores its signal goes on beyond its time; this instance waits for its end. */
  let going = false
  return {
    name: `module:${module}:${name}`,
    every: Math.min(every, LOOK),
    async run(services) {
      const { db, clock, log } = services
      if (going || stopping.aborted) return
      const turn = { module, task: name, owner }
      if (!(await takeTurn(db, turn, Math.max(every * 1000, MAX_MS + MARGIN_MS), timestamp(clock())))) return
      const began = performance.now()
      going = true
      const { signal, late, done } = bounded(stopping)
      const context = Object.assign(Object.create(services), contextOf(services), { signal })
      const running = (async () => {
        await call(() => run(context as never))
      })().finally(() => {
        going = false
      })
      // An error after the end of its time is of no more use.
      running.catch(() => {})
      try {
        await Promise.race([running, late])
      } catch (error) {
        if (stopping.aborted) log.info({ module, task: name }, 'a task of a module ended early, the service stops')
        else log.error({ module, task: name, err: error }, 'a task of a module failed')
      } finally {
        done()
      }
      // A run that the service's end has cut short begins again soon.
      const wait = stopping.aborted ? LEAST_EVERY * 1000 : every * 1000
      await endTurn(db, turn, wait - (performance.now() - began))
    },
  }
}

/** A signal that is aborted at the end of the time or of the service, and a promise that then rejects. */
function bounded(stopping: AbortSignal): { signal: AbortSignal; late: Promise<never>; done(): void } {
  const controller = new AbortController()
  const stop = () => controller.abort(new Error('the service stops'))
  const timer = setTimeout(() => controller.abort(new Error(`it took longer than ${MAX_MS / 1000} s`)), MAX_MS)
  timer.unref()
  stopping.addEventListener('abort', stop, { once: true })
  const late = new Promise<never>((_, reject) => {
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason), { once: true })
  })
  // Nobody waits for it when the run ends in time.
  late.catch(() => {})
  return {
    signal: controller.signal,
    late,
    done() {
      clearTimeout(timer)
      stopping.removeEventListener('abort', stop)
    },
  }
}
