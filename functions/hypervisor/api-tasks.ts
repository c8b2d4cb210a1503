import * as z from 'zod'
import { Failure } from '../../runtime/errors.ts'
import { type ApiRequests, unreadable } from './api-requests.ts'
import { type ContainerAction, type ContainerTask, cutLine, LOG_LINES } from './container-task.ts'

/** `UPID:<node>:<pid>:<start>:<time>:<type>:<id>:<user>:`, as the hypervisor names its tasks. */
const UPID =
  /^UPID:([A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?):[0-9A-Fa-f]{8}:[0-9A-Fa-f]{8,9}:[0-9A-Fa-f]{8}:\w{1,64}:[\w.@-]{0,64}:[^:\s/\\\p{Cc}]{1,200}:$/u

/** Starting or stopping a container writes some ten lines. */
const MOST_LINES = 10_000
/** Most lines that the hypervisor gives at once, unless it is asked for more. */
const PAGE = 500

/** The node of a task of the hypervisor; undefined for what does not name one. */
export function nodeOfTask(task: string): string | undefined {
  return UPID.exec(task)?.[1]
}

/** Has a container do something; the task that does it. */
export function act({ ask }: ApiRequests, node: string, vmid: number, action: ContainerAction): Promise<string> {
  const task = z.string().regex(UPID, 'un numéro de tâche (UPID)')
  return ask(task, `/nodes/${node}/lxc/${vmid}/status/${action}`, { method: 'POST' })
}

const Status = z.object({ status: z.enum(['running', 'stopped']), exitstatus: z.string().nullish() })
const Lines = z.array(z.object({ n: z.number().nullish(), t: z.string() }))
/** What stands in place of a log in which nothing is. */
const NOTHING = 'no content'

/** How far a task is, with the last lines of its log. `job_missing` when there is no such task. */
export async function readTask({ ask }: ApiRequests, node: string, task: string): Promise<ContainerTask> {
  const path = `/nodes/${node}/tasks/${encodeURIComponent(task)}`
  const refused = (reason: string) =>
    /no such task|unable to open file/i.test(reason) ? new Failure('job_missing') : undefined
  const { status, exitstatus } = await ask(Status, `${path}/status`, { refused })
  const log: string[] = []
  for (let start = 0; ; start += PAGE) {
    if (start > MOST_LINES) throw unreadable(`le journal de la tâche dépasse ${MOST_LINES} lignes`)
    const lines = await ask(Lines, `${path}/log?start=${start}&limit=${PAGE}`, { refused })
    if (start === 0 && lines.length === 1 && lines[0]?.t === NOTHING) break
    log.push(...lines.slice(0, PAGE).map(({ t }) => cutLine(t)))
    if (log.length > LOG_LINES) log.splice(0, log.length - LOG_LINES)
    if (lines.length < PAGE) break
  }
  return { status, exit_status: status === 'stopped' ? (exitstatus ?? null) : null, log }
}
