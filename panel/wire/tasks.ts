import { effect, signal, untracked } from '@preact/signals'
import type { Answer } from '../../client/index.ts'
import { isPassing } from '../nouns/failure.ts'
import { readContainers } from './containers.ts'
import { startUpgrade } from './jobs.ts'
import { api, atSignOut, isAdmin } from './panel.ts'

export type Action = 'start' | 'stop' | 'shutdown' | 'reboot'
type Task = Answer<'GET /api/hypervisor/tasks/{task}'>

/** What was asked of a container, and how that goes. */
export interface Asked {
  action: Action | 'upgrade'
  /** Of its task; undefined until it is begun. */
  id?: string
  /** As it was told last; undefined until then. */
  task?: Task
  /** Why it could not be asked, or how it goes is not known. */
  error?: unknown
}

const EVERY_MS = 1_000
const KEPT = 'ops-panel.tasks'

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
  try {
    const { task: id } = await api('POST /api/hypervisor/containers/{vmid}/{action}', { params: { vmid, action } })
    await followTask(vmid, mine, id)
  } catch (error) {
    replace(vmid, mine, { ...mine, error })
  }
}

/** Follows a task to its end, or until something else is asked of its container. Never rejects. */
async function followTask(vmid: number, before: Asked, id: string): Promise<void> {
  let now = before
  const update = (next: Partial<Asked>) => {
    const other = { ...now, ...next }
    if (!replace(vmid, now, other)) return false
    now = other
    return true
  }
  if (!update({ id })) return
  try {
    while (asked.value.get(vmid) === now) {
      const task = await taskOf(id)
      if (task && (!update({ task }) || task.status === 'stopped')) break
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
  set(rest)
}

function put(vmid: number, one: Asked): void {
  set(new Map(asked.value).set(vmid, one))
}

/** False where another one was asked meanwhile, or this one was put away. */
function replace(vmid: number, one: Asked, next: Asked): boolean {
  if (asked.value.get(vmid) !== one) return false
  put(vmid, next)
  return true
}

/** What is under way is followed on when the page is loaded anew: nobody has a list of tasks. */
function set(next: ReadonlyMap<number, Asked>): void {
  asked.value = next
  const underWay = [...next].flatMap(([vmid, one]) =>
    one.id && isUnderWay(one) ? [[vmid, { action: one.action, id: one.id }]] : [],
  )
  try {
    sessionStorage.setItem(KEPT, JSON.stringify(underWay))
  } catch {
    // It is known as long as the page is not loaded anew.
  }
}

function kept(): [number, Required<Pick<Asked, 'action' | 'id'>>][] {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT) ?? '[]')
  } catch {
    return []
  }
}

let left = kept()
function goOn(): void {
  for (const [vmid, { action, id }] of left) {
    const one: Asked = { action }
    put(vmid, one)
    void followTask(vmid, one, id)
  }
  left = []
}
effect(() => {
  if (isAdmin.value) untracked(goOn)
})

atSignOut(() => set(new Map()))
