import type { Command } from '../../runtime/command.ts'
import type { ExecOptions, Host } from '../../runtime/host.ts'
import { readLines } from '../../runtime/list-lines.ts'
import { succeeded } from './command-failure.ts'

/** The path on the host of what lists containers and runs commands in them. */
export const CONTAINER_TOOL = '/usr/sbin/pct'

export interface Container {
  vmid: number
  name: string
  status: string
  /** What the container is locked for, if it is. */
  lock?: string
}

/** A command as it is run inside a container. */
export function inContainer(id: string, command: Command): Command {
  return [CONTAINER_TOOL, 'exec', id, '--', ...command]
}

/** The containers of the host. Rejects with an SshError when the listing fails, an AnswerTooLong when it is none. */
export async function listContainers(
  host: Host,
  options: Pick<ExecOptions, 'timeoutMs' | 'user'> = {},
): Promise<Container[]> {
  return parseContainers(
    succeeded(await host.exec([CONTAINER_TOOL, 'list'], { rights: 'command', verb: ['list'], ...options })),
  )
}

/** Reads `pct list`, whose columns are `VMID Status Lock Name`, the lock often blank. Rejects like `readLines`. */
export function parseContainers(text: string): Promise<Container[]> {
  return readLines(text, (line) => {
    const fields = line.trim().split(/\s+/)
    const [vmid = '', status, lock] = fields
    if (status === undefined || !/^[+-]?\d+$/.test(vmid) || line.trimStart().startsWith('VMID')) return undefined
    const name = fields.length >= 3 ? (fields.at(-1) ?? vmid) : vmid
    return { vmid: Number(vmid), name, status, ...(lock !== undefined && fields.length >= 4 && { lock }) }
  })
}
