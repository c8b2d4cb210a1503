import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const SCRIPT = fileURLToPath(new URL('rig.sh', import.meta.url))
const run = promisify(execFile)

/** Where the rig's sshd listens. */
export const SSH_HOST = `127.0.0.1:${process.env.RIG_PORT ?? 2222}`

/** The rig's accounts and their passwords (`rig.sh users` says what is odd about each). */
export const PASSWORDS = {
  root: 'Root-pw-1',
  alice: 'Alice-pw-1',
  bob: 'Bob-pw-1',
  ops: 'Ops-pw-1',
  zoe: 'pä ss"$`\\w',
  shut: 'Shut-pw-1',
  locked: 'Locked-pw-1',
  expired: 'Expired-pw-1',
  mustchange: 'Must-pw-1',
} as const

export type Account = keyof typeof PASSWORDS

/** Runs `rig.sh`; its stdout, without the line end. Rejects when it fails. */
export async function rig(...words: string[]): Promise<string> {
  const { stdout } = await run('bash', [SCRIPT, ...words], { timeout: 60_000 })
  return stdout.trimEnd()
}

export type Place = 'host' | '101' | '102'

/** Runs a shell script as root on the host or in a container, past ssh. */
export function inside(place: Place, script: string): Promise<string> {
  return rig('in', place, 'sh', '-c', script)
}

/** What dpkg says of a package there, as `install ok installed 2.0`; empty when it has never heard of it. */
export function dpkgStatus(place: Place, name: string): Promise<string> {
  return inside(place, `dpkg-query -W -f '\${Status} \${Version}' ${name} 2>/dev/null || true`)
}
