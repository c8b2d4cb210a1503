import { collect, type Output } from './channel.ts'
import { script } from './command.ts'
import { IDENTIFY } from './identity-script.ts'
import { type SshConnection, SshError } from './ssh-connection.ts'

/** Who an account is on the host; null when its shell runs no commands. */
export type Identity = { uid: number; groups: string[] } | null

/** The login's own shell may start slowly, but a person is waiting. */
export const IDENTIFY_MS = 10_000

/**
 * Asks the account of a connection who it is. Null as well for one that may sign in but run nothing, or whose start-up
 * files never come to an end.
 */
export async function askIdentity(connection: SshConnection): Promise<Identity> {
  try {
    const channel = await connection.open(script(IDENTIFY, 'ops-panel-identify'))
    channel.end()
    return parseIdentity(await collect(channel, IDENTIFY_MS))
  } catch (error) {
    if (error instanceof SshError) return null
    throw error
  }
}

/** Reads what the script printed last. */
export function parseIdentity({ code, stdout }: Output): Identity {
  const [uid = '', groups = ''] = stdout.trimEnd().split('\n').slice(-2)
  return code === 0 && /^\d+$/.test(uid) ? { uid: Number(uid), groups: groups.split(' ') } : null
}
