import { effect, signal, untracked } from '@preact/signals'
import type { Answer } from '../../client/index.ts'
import { isTransient } from '../nouns/failure.ts'
import { checkRestarted } from './checks.ts'
import { readContainers } from './containers.ts'
import { api, isOperator, onSignOut } from './panel.ts'

export type Action = 'start' | 'stop' | 'shutdown' | 'reboot'
type Task = Answer<'GET /api/hypervisor/tasks/{task}'>

/** An action on a container and its progress. */
export interface Asked {
  action: Action
  /** The id of its task; undefined until it starts. */
  id?: string
  /** The last known state; undefined until the first one. */
  task?: Task
  /** The reason why it could not start, or why its progress is unknown. */
  error?: unknown
}

const POLL_MS = 1_000
const STORAGE_KEY = 'ops-panel.tasks'

/** The last action on each container in this window, by number, until the user hides it. */
export const asked = signal<ReadonlyMap<number, Asked>>(new Map())

export function isUnderWay({ task, error }: Asked): boolean {
  return error === undefined && task?.status !== 'stopped'
}

/** Reads a task; undefined when it is temporarily unknown. */
async function taskOf(task: string): Promise<Task | undefined> {
  try {
    return await api('GET /api/hypervisor/tasks/{task}', { params: { task } })
  } catch (error) {
    if (isTransient(error)) return undefined
    throw error
  }
}

/** Starts an action and follows its task to the end. Never rejects: see `asked`. */
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

/** Follows a task to its end, or until the next action on its container. Never rejects. */
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
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
    await readContainers()
    if (now.action === 'reboot' && now.task?.exit_status === 'OK') void checkRestarted(`lxc:${vmid}`)
  } catch (error) {
    update({ error })
  }
}

export function dismissAction(vmid: number): void {
  const rest = new Map(asked.value)
  rest.delete(vmid)
  set(rest)
}

function put(vmid: number, one: Asked): void {
  set(new Map(asked.value).set(vmid, one))
}

/** False when another action replaced this one, or the user hid it. */
function replace(vmid: number, one: Asked, next: Asked): boolean {
  if (asked.value.get(vmid) !== one) return false
  put(vmid, next)
  return true
}

/** Running tasks survive a reload of the page: the service has no list of tasks. */
function set(next: ReadonlyMap<number, Asked>): void {
  asked.value = next
  const underWay = [...next].flatMap(([vmid, one]) =>
    one.id && isUnderWay(one) ? [[vmid, { action: one.action, id: one.id }]] : [],
  )
  try {
    sessionStorage.setItem(STORAGE_KEY, JSON.stringify(underWay))
  } catch {
    // Without storage, they are known until the page is reloaded.
  }
}

function kept(): [number, Required<Pick<Asked, 'action' | 'id'>>][] {
  try {
    return JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? '[]')
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
  if (isOperator.value) untracked(goOn)
})

onSignOut(() => set(new Map()))
