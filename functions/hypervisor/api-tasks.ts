import * as z from 'zod'
import { fail } from '../services.ts'
import { type ApiRequests, unreadable } from './api-requests.ts'
import { type ContainerAction, type ContainerTask, cutLine, LOG_LINES } from './container-task.ts'

/** `UPID:<node>:<pid>:<start>:<time>:<type>:<id>:<user>:`, the hypervisor's task id. */
const UPID =
  /^UPID:(?<node>[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?):[0-9A-Fa-f]{8}:[0-9A-Fa-f]{8,9}:(?<time>[0-9A-Fa-f]{8}):(?<type>\w{1,64}):(?<id>[\w.@-]{0,64}):(?<user>[^:\s/\\\p{Cc}]{1,200}):$/u

/** The schema of a task's id. */
export const Upid = z.string().regex(UPID, 'un numéro de tâche (UPID)')

/** Starting or stopping a container logs about ten lines. */
const MOST_LINES = 10_000
/** Lines that the hypervisor returns by default. */
const PAGE = 500

/** Returns the node of a hypervisor task; undefined for text that is not a task id. */
export function nodeOfTask(task: string): string | undefined {
  return UPID.exec(task)?.groups?.node
}

const ACTIONS = /^vz(start|stop|shutdown|reboot)$/

/** Returns the number of the container that a task of the hypervisor starts or stops; undefined for any other text. */
export function containerOfTask(task: string): string | undefined {
  const { type = '', id } = UPID.exec(task)?.groups ?? {}
  return ACTIONS.test(type) ? id : undefined
}

/** Starts an action on a container and returns the task's id. */
export function act({ ask }: ApiRequests, node: string, vmid: number, action: ContainerAction): Promise<string> {
  return ask(Upid, `/nodes/${node}/lxc/${vmid}/status/${action}`, { method: 'POST' })
}

const Status = z.object({ status: z.enum(['running', 'stopped']), exitstatus: z.string().nullish() })
const Lines = z.array(z.object({ n: z.number().nullish(), t: z.string() }))
/** The text that the hypervisor sends for an empty log. */
const NOTHING = 'no content'

const pathOf = (node: string, task: string) => `/nodes/${node}/tasks/${encodeURIComponent(task)}`
const refused = (reason: string) => (/no such task|unable to open file/i.test(reason) ? fail('job_missing') : undefined)

/** The state of a task, without its log. */
export type TaskStatus = Omit<ContainerTask, 'log'>

/** Returns the state of a task. Fails with `job_missing` when there is no such task. */
export async function readStatus({ ask }: ApiRequests, node: string, task: string): Promise<TaskStatus> {
  const { status, exitstatus } = await ask(Status, `${pathOf(node, task)}/status`, { refused })
  return { status, exit_status: status === 'stopped' ? (exitstatus ?? null) : null }
}

/** Returns the state of a task with the last lines of its log. Fails with `job_missing` when there is no such task. */
export async function readTask(requests: ApiRequests, node: string, task: string): Promise<ContainerTask> {
  const { ask } = requests
  const path = pathOf(node, task)
  const { status, exit_status } = await readStatus(requests, node, task)
  const log: string[] = []
  for (let start = 0; ; start += PAGE) {
    if (start > MOST_LINES) throw unreadable(`le journal de la tâche dépasse ${MOST_LINES} lignes`)
    const lines = await ask(Lines, `${path}/log?start=${start}&limit=${PAGE}`, { refused })
    if (start === 0 && lines.length === 1 && lines[0]?.t === NOTHING) break
    log.push(...lines.slice(0, PAGE).map(({ t }) => cutLine(t)))
    if (log.length > LOG_LINES) log.splice(0, log.length - LOG_LINES)
    if (lines.length < PAGE) break
  }
  return { status, exit_status, log }
}

const Listed = z.array(z.object({ upid: z.string().max(500) }))
/** More tasks of one kind than a container has in a day. */
const MOST_TASKS = 50

/** The tasks that are looked for: of one type, for one container, by one user or token, since a time in seconds since 1970. */
export interface TasksOf {
  type: 'vzsnapshot' | 'vzdelsnapshot' | 'vzrollback' | 'vzstart'
  vmid: string
  user: string
  since: number
}

/** Returns the ids of such tasks, running ones too, in the order in which they began. */
export async function findTasks({ ask }: ApiRequests, node: string, of: TasksOf): Promise<string[]> {
  const { type, vmid, user, since } = of
  const query = new URLSearchParams({
    vmid,
    typefilter: type,
    since: String(since),
    // Without it, only ended tasks are listed.
    source: 'all',
    limit: String(MOST_TASKS),
  })
  const listed = await ask(Listed, `/nodes/${node}/tasks?${query}`)
  const found = listed.flatMap(({ upid }) => {
    const parts = UPID.exec(upid)?.groups
    const began = Number.parseInt(parts?.time ?? '', 16)
    const isOne = parts?.node === node && parts.type === type && parts.id === vmid && parts.user === user
    return isOne && began >= since ? [{ upid, began }] : []
  })
  const ids = found.sort((one, other) => one.began - other.began).map(({ upid }) => upid)
  return [...new Set(ids)].slice(-MOST_TASKS)
}
