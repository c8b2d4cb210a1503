import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const SCRIPT = fileURLToPath(new URL('rig.sh', import.meta.url))
/** The largest output of a command on the host, such as the file of a job. */
const MOST_OUTPUT = 64 * 1024 * 1024
/** A reset takes two seconds, or a minute on a busy machine. */
const RIG_MS = 120_000
const run = promisify(execFile)

/** The port of this worker's rig: run.sh starts one for each worker, on consecutive ports. */
const PORT = Number(process.env.RIG_PORT ?? 2222) + Number(process.env.VITEST_POOL_ID ?? 1) - 1
/** The environment that makes rig.sh act on this worker's rig. */
export const RIG_ENVIRONMENT = { ...process.env, RIG_PORT: String(PORT) }

/** Where the rig's sshd listens. */
export const SSH_HOST = `127.0.0.1:${PORT}`

/** The rig's accounts and their passwords; `rig.sh users` explains each account. */
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
  /** Not part of the rig: `narrowAccount` makes it. */
  narrow: 'Narrow-pw-1',
} as const

export type Account = keyof typeof PASSWORDS

/** Runs `rig.sh` and returns its stdout without the line end. Rejects when it fails. */
export async function rig(...words: string[]): Promise<string> {
  const { stdout } = await run('bash', [SCRIPT, ...words], {
    timeout: RIG_MS,
    maxBuffer: MOST_OUTPUT,
    env: RIG_ENVIRONMENT,
  })
  return stdout.trimEnd()
}

/** Resets the host with these lines at the top of its sshd configuration; `rig('reset')` removes them. */
export async function resetWithSshd(...lines: string[]): Promise<void> {
  await run('bash', [SCRIPT, 'reset'], { timeout: RIG_MS, env: { ...RIG_ENVIRONMENT, RIG_SSHD: lines.join('\n') } })
}

/** A second host, with Debian 13, beside this worker's own. */
export interface OtherRig {
  /** Where its sshd listens. */
  sshHost: string
  /** As `rig`, for this host. */
  rig(...words: string[]): Promise<string>
}

/** Starts a Debian 13 host, which run.sh takes down at the latest. The first build of its base takes minutes. */
export async function debian13(): Promise<OtherRig> {
  const port = 10_000 + PORT
  const env = { ...RIG_ENVIRONMENT, RIG_PORT: String(port), RIG_SUITE: 'trixie' }
  const other = async (...words: string[]) => {
    const { stdout } = await run('bash', [SCRIPT, ...words], { timeout: 300_000, maxBuffer: MOST_OUTPUT, env })
    return stdout.trimEnd()
  }
  await other('reset')
  return { sshHost: `127.0.0.1:${port}`, rig: other }
}

/** A host with its own rig, and how a service reaches it. */
export interface DebianHost {
  rig: typeof rig
  env: Record<string, string>
  down?: () => Promise<unknown>
}

/** Starts of new hosts: this worker's own with Debian 12, and one with Debian 13 beside it. */
export const DEBIANS: [string, () => Promise<DebianHost>][] = [
  [
    'Debian 12',
    async () => {
      await rig('reset')
      return { rig, env: {} }
    },
  ],
  [
    'Debian 13',
    async () => {
      const other = await debian13()
      return { rig: other.rig, env: { PANEL_SSH_HOST: other.sshHost }, down: () => other.rig('down') }
    },
  ],
]

export type Place = 'host' | '101' | '102'

/** Runs a shell script as root on the host or in a container, without ssh. */
export function inside(place: Place, script: string): Promise<string> {
  return rig('in', place, 'sh', '-c', script)
}

/** Gives accounts of the host random passwords, long enough to search for in logs, until the next reset. */
export async function newPasswords<account extends Account>(...accounts: account[]): Promise<(of: account) => string> {
  const passwords = new Map(accounts.map((account) => [account, randomBytes(18).toString('base64url')]))
  const lines = [...passwords].map((pair) => pair.join(':')).join('\n')
  await inside('host', `printf '%s\\n' '${lines}' | chpasswd`)
  return (account) => passwords.get(account) ?? ''
}

/** Returns the fingerprint of the host's key as its console shows it: `SHA256:…`. */
export async function hostFingerprint(): Promise<string> {
  return (await inside('host', 'ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub')).split(' ')[1] ?? ''
}

/** Changes the account's start-up files so that they claim that it is root and in group sudo. */
export async function forgeAdministrator(name: string): Promise<void> {
  const id = `case $1 in -unz) printf "${name}\\0" ;; -uz) printf "0\\0" ;; *) printf "root\\0sudo\\0" ;; esac`
  await inside(
    'host',
    `cd ~${name}; mkdir bin; printf '%s\\n' '#!/bin/sh' '${id}' >bin/id; chmod 755 bin/id; sed -i '1i PATH=~/bin:$PATH' .bashrc`,
  )
}

/** Returns dpkg's status of a package there, as `install ok installed 2.0`; empty when dpkg does not know it. */
export function dpkgStatus(place: Place, name: string): Promise<string> {
  return inside(place, `dpkg-query -W -f '\${Status} \${Version}' ${name} 2>/dev/null || true`)
}
