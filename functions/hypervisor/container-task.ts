import * as z from 'zod'

export const ContainerAction = z.enum(['start', 'stop', 'shutdown', 'reboot'])
export type ContainerAction = z.infer<typeof ContainerAction>

/** The id of a started action: a hypervisor task's UPID, or a job id. */
export const TaskId = z.string().meta({
  id: 'TaskId',
  description: 'The UPID of the hypervisor’s task, or the id of the job, that an action on a container has started.',
  examples: ['UPID:pve1:0002C5B1:01A3F2C4:65E1B2C3:vzstart:101:root@pam!panel:'],
})

/** The result of an action. `exit_status` is `OK` or the reason of the failure, and null while the action runs. */
export const ContainerTask = z.object({
  status: z.enum(['running', 'stopped']),
  exit_status: z.string().nullable(),
  log: z.array(z.string()),
})
export type ContainerTask = z.infer<typeof ContainerTask>

/** More lines than a start or a stop ever logs. */
export const LOG_LINES = 1_000

/** Longest log line, in characters. */
const LINE = 4_096

/** Cuts a line of a log to a readable length. */
export function cutLine(line: string): string {
  return line.length > LINE ? `${line.slice(0, LINE)}…` : line
}

/** Returns the last lines of a text. The time does not depend on the number of lines before them. */
export function lastLines(text: string): string[] {
  const lines: string[] = []
  let end = text.endsWith('\n') ? text.length - 1 : text.length
  while (end >= 0 && lines.length < LOG_LINES && text !== '') {
    const before = end === 0 ? -1 : text.lastIndexOf('\n', end - 1)
    const line = text.slice(before + 1, end)
    lines.push(cutLine(line.endsWith('\r') ? line.slice(0, -1) : line))
    end = before
  }
  return lines.reverse()
}
