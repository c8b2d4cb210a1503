import { Failure } from '../../runtime/errors.ts'
import { type Command, type ExecOptions, type Host, readLines, SshError, succeeded } from '../../ssh/ssh.ts'

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

/** The container tool takes a second on a busy host; a person waits for the answer. */
const STATE_MS = 10_000

/** Returns the container tool's state of a container; undefined without a usable answer. */
export async function stateOfContainer(
  host: Pick<Host, 'exec'>,
  id: string,
  timeoutMs = STATE_MS,
): Promise<'running' | 'stopped' | 'missing' | undefined> {
  try {
    const command = [CONTAINER_TOOL, 'status', id] as const
    const { code, stdout, stderr } = await host.exec(command, { rights: 'command', verb: ['status', id], timeoutMs })
    const told = /^status: (running|stopped)\s*$/.exec(stdout)?.[1]
    if (code === 0) return told === 'running' || told === 'stopped' ? told : undefined
    return /does not exist|Parameter verification failed/.test(stderr) ? 'missing' : undefined
  } catch (error) {
    if (error instanceof SshError || error instanceof Failure) return undefined
    throw error
  }
}
