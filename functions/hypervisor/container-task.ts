import * as z from 'zod'

export const ContainerAction = z.enum(['start', 'stop', 'shutdown', 'reboot'])
export type ContainerAction = z.infer<typeof ContainerAction>

/** What has become of an action: `exit_status` is `OK`, or why not; null while it runs. */
export const ContainerTask = z.object({
  status: z.enum(['running', 'stopped']),
  exit_status: z.string().nullable(),
  log: z.array(z.string()),
})
export type ContainerTask = z.infer<typeof ContainerTask>

/** More lines than a start or a stop ever has. */
export const LOG_LINES = 1_000

/** The lines at the end of a text. */
export function lastLines(text: string): string[] {
  const lines = text.split(/\r?\n/)
  if (lines.at(-1) === '') lines.pop()
  return lines.slice(-LOG_LINES)
}
