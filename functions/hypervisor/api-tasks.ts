import * as z from 'zod'
import { fail } from '../services.ts'
import { type ApiRequests, unreadable } from './api-requests.ts'
import { type ContainerAction, type ContainerTask, cutLine, LOG_LINES } from './container-task.ts'

/** `UPID:<node>:<pid>:<start>:<time>:<type>:<id>:<user>:`, the hypervisor's task id. */
const UPID =
  /^UPID:([A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?):[0-9A-Fa-f]{8}:[0-9A-Fa-f]{8,9}:[0-9A-Fa-f]{8}:\w{1,64}:[\w.@-]{0,64}:[^:\s/\\\p{Cc}]{1,200}:$/u

/** Starting or stopping a container logs about ten lines. */
const MOST_LINES = 10_000
/** Lines that the hypervisor returns by default. */
const PAGE = 500

/** Returns the node of a hypervisor task; undefined for text that is not a task id. */
export function nodeOfTask(task: string): string | undefined {
  return UPID.exec(task)?.[1]
}

/** Starts an action on a container and returns the task's id. */
export function act({ ask }: ApiRequests, node: string, vmid: number, action: ContainerAction): Promise<string> {
  const task = z.string().regex(UPID, 'un numéro de tâche (UPID)')
  return ask(task, `/nodes/${node}/lxc/${vmid}/status/${action}`, { method: 'POST' })
}

const Status = z.object({ status: z.enum(['running', 'stopped']), exitstatus: z.string().nullish() })
const Lines = z.array(z.object({ n: z.number().nullish(), t: z.string() }))
/** The text that the hypervisor sends for an empty log. */
const NOTHING = 'no content'

/** Returns the state of a task with the last lines of its log. Fails with `job_missing` when there is no such task. */
export async function readTask({ ask }: ApiRequests, node: string, task: string): Promise<ContainerTask> {
  const path = `/nodes/${node}/tasks/${encodeURIComponent(task)}`
  const refused = (reason: string) =>
    /no such task|unable to open file/i.test(reason) ? fail('job_missing') : undefined
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
