import { setTimeout as pause } from 'node:timers/promises'
import { Failure } from '../../runtime/errors.ts'
import { ApiRefusal, type ApiRequests } from './api-requests.ts'
import type { OnNode } from './api-snapshots.ts'
import { findTasks, readStatus, readTask, type TaskStatus, type TasksOf } from './api-tasks.ts'

/** The requests of one look together, and the one that starts a task: the hypervisor may be busy. */
export const LOOK_MS = 20_000
const BEGIN_MS = 60_000
/** The pauses between two looks; the last one repeats. */
const LOOKS_MS = [100, 200, 500, 1_000]
/** The time until the task of a request whose answer was lost is listed. */
const LATE_MS = 3_000
/** Tasks that one call starts. More than one is needed only where the hypervisor has forgotten the first. */
const MOST_BEGUN = 2

/** An ended task of the hypervisor. */
export type EndedTask = TaskStatus & { id: string }

/** The way to one container through the API. */
export interface ApiWork {
  /** Sends requests over one connection; see `withApi`. */
  api<result>(work: (requests: ApiRequests) => Promise<result>, withinMs?: number): Promise<result>
  place: OnNode
  /** The user or token that the requests are sent as. */
  user: string
  signal: AbortSignal
}

/** The state of a change: `done`, nothing yet (`begin`, or `wait` for a moment), or the reason why it has failed. */
export type Seen = 'done' | 'begin' | 'wait' | { reason: string }

/** A change of a container by a task of the hypervisor. */
export interface Change {
  type: TasksOf['type']
  /** Seconds since 1970, by the clock of the node: an older task belongs to another change. */
  since: number
  /** Looks at the container while no task of this change runs; `ended` is the task that ended well, else the newest. */
  look(requests: ApiRequests, ended: EndedTask | undefined): Promise<Seen>
  /** Starts the task and returns its id. */
  begin(requests: ApiRequests): Promise<string>
}

export type Changed = { done: true; log: string[] } | { done: false; log: string[]; reason: string }

/**
 * Makes a change once, however often it is called, and follows its task to the end. A caller that was killed may have
 * started the task already, so tasks are looked for first. `begun` has the ids of tasks that an earlier call with it has
 * started, and gets new ones.
 */
export async function makeChange(
  { type, since, look, begin }: Change,
  work: ApiWork,
  begun: string[],
): Promise<Changed> {
  const { api, place, user, signal } = work
  for (let looks = 0; ; looks += 1) {
    const { ended, seen } = await api(async (requests) => {
      const ids = await findTasks(requests, place.node, { type, vmid: place.vmid, user, since })
      const tasks: EndedTask[] = []
      for (const id of new Set([...ids, ...begun])) {
        const task = await readStatus(requests, place.node, id).catch(unlessGone)
        if (task) tasks.push({ ...task, id })
      }
      const ended = tasks.find(hasEndedWell) ?? tasks.at(-1)
      const isRunning = tasks.some(({ status }) => status === 'running')
      return { ended, seen: isRunning ? 'wait' : await look(requests, ended) }
    })
    if (seen === 'wait') await pause(LOOKS_MS[Math.min(looks, LOOKS_MS.length - 1)], undefined, { signal })
    else if (seen === 'begin') {
      if (begun.length >= MOST_BEGUN)
        return { done: false, log: [], reason: 'the hypervisor does not know its own task' }
      const task = await beginning(begin, work)
      if (task instanceof ApiRefusal) return { done: false, log: [], reason: task.reason }
      begun.push(task)
      looks = 0
    } else {
      const log = ended ? await logOf(ended.id, work) : []
      return seen === 'done' ? { done: true, log } : { done: false, log, reason: seen.reason }
    }
  }
}

/** Whether a task has done what it should; it may have warned. */
export function hasEndedWell({ status, exit_status }: TaskStatus): boolean {
  return status === 'stopped' && /^(OK|WARNINGS: \d{1,6})$/.test(exit_status ?? '')
}

/** Starts a task, and returns its id or the hypervisor's refusal. */
async function beginning(begin: Change['begin'], { api, signal }: ApiWork): Promise<string | ApiRefusal> {
  try {
    return await api(begin, BEGIN_MS)
  } catch (error) {
    if (error instanceof ApiRefusal) return error
    // Its answer may be lost although the task begins.
    await pause(LATE_MS, undefined, { signal })
    throw error
  }
}

function unlessGone(error: unknown): undefined {
  if (error instanceof Failure && error.code === 'job_missing') return undefined
  throw error
}

/** The log of a task without the line that repeats its end. A log that cannot be read says nothing about the change. */
async function logOf(id: string, { api, place }: ApiWork): Promise<string[]> {
  try {
    const { log } = await api((requests) => readTask(requests, place.node, id))
    return log.filter((line) => line.trim() !== '' && !/^TASK (OK|ERROR|WARNINGS)\b/.test(line))
  } catch (error) {
    if (error instanceof Failure) return []
    throw error
  }
}
