import { signal } from '@preact/signals'
import type { Answer } from '../../client/index.ts'
import { isPassing } from '../nouns/failure.ts'
import { readContainers } from './containers.ts'
import { startUpgrade } from './jobs.ts'
import { api, atSignOut } from './panel.ts'

export type Action = 'start' | 'stop' | 'shutdown' | 'reboot'
type Task = Answer<'GET /api/hypervisor/tasks/{task}'>

/** What was asked of a container, and how that goes. */
export interface Asked {
  action: Action | 'upgrade'
  /** As it was told last; undefined until then. */
  task?: Task
  /** Why it could not be asked, or how it goes is not known. */
  error?: unknown
}

const EVERY_MS = 1_000

/** The last action on each container in this window, by number; until it is put away. */
export const asked = signal<ReadonlyMap<number, Asked>>(new Map())

export function isUnderWay({ task, error }: Asked): boolean {
  return error === undefined && task?.status !== 'stopped'
}

/** How far it is; undefined when that cannot be known right now, but may be a little later. */
async function taskOf(task: string): Promise<Task | undefined> {
  try {
    return await api('GET /api/hypervisor/tasks/{task}', { params: { task } })
  } catch (error) {
    if (isPassing(error)) return undefined
    throw error
  }
}

/** Asks, and follows the task to its end. Never rejects: see `asked`. */
export async function act(vmid: number, action: Action): Promise<void> {
  const mine: Asked = { action }
  put(vmid, mine)
  let now = mine
  const update = (next: Partial<Asked>) => {
    // Another one was asked meanwhile, or this one was put away.
    if (asked.value.get(vmid) !== now) return false
    now = { ...now, ...next }
    put(vmid, now)
    return true
  }
  try {
    const { task: id } = await api('POST /api/hypervisor/containers/{vmid}/{action}', { params: { vmid, action } })
    for (;;) {
      const task = await taskOf(id)
      if (task && (!update({ task }) || task.status === 'stopped')) break
      if (asked.value.get(vmid) !== now) break
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS))
    }
    await readContainers()
  } catch (error) {
    update({ error })
  }
}

/** Starts an upgrade, and gives its job's id; without one when that has failed: see `asked`. */
export async function upgrade(vmid: number): Promise<string | undefined> {
  putAway(vmid)
  try {
    return await startUpgrade(`lxc:${vmid}`)
  } catch (error) {
    put(vmid, { action: 'upgrade', error })
    return undefined
  }
}

export function putAway(vmid: number): void {
  const rest = new Map(asked.value)
  rest.delete(vmid)
  asked.value = rest
}

function put(vmid: number, one: Asked): void {
  asked.value = new Map(asked.value).set(vmid, one)
}

atSignOut(() => {
  asked.value = new Map()
})
