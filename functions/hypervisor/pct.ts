import { type Command, type ExecOptions, type Host, readLines, succeeded } from '../../ssh/ssh.ts'

/** The path on the host of the container tool, which lists containers and runs commands in them. */
export const CONTAINER_TOOL = '/usr/sbin/pct'

export interface Container {
  vmid: number
  name: string
  status: string
  /** The operation that holds the container's lock, if any. */
  lock?: string
}

/** Wraps a command to run inside a container. */
export function inContainer(id: string, command: Command): Command {
  return [CONTAINER_TOOL, 'exec', id, '--', ...command]
}

/**
 * Lists the containers of the host. Rejects with an SshError when the listing fails, and with AnswerTooLong when it is
 * too long.
 */
export async function listContainers(
  host: Pick<Host, 'exec'>,
  options: Pick<ExecOptions, 'timeoutMs' | 'user'> = {},
): Promise<Container[]> {
  return parseContainers(
    succeeded(await host.exec([CONTAINER_TOOL, 'list'], { rights: 'command', verb: ['list'], ...options })),
  )
}

/** Parses `pct list`, whose columns are `VMID Status Lock Name`, the lock often blank. Rejects like `readLines`. */
export function parseContainers(text: string): Promise<Container[]> {
  return readLines(text, (line) => {
    const fields = line.trim().split(/\s+/)
    const [vmid = '', status, lock] = fields
    if (status === undefined || !/^[+-]?\d+$/.test(vmid) || line.trimStart().startsWith('VMID')) return undefined
    const name = fields.length >= 3 ? (fields.at(-1) ?? vmid) : vmid
    return { vmid: Number(vmid), name, status, ...(lock !== undefined && fields.length >= 4 && { lock }) }
  })
}
