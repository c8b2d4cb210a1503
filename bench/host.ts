import { execFile, spawn } from 'node:child_process'
import { promisify } from 'node:util'

/** The real host that `run.sh` has started, and its accounts. */
export const RIG = variable('BENCH_RIG')
export const SSH_PORT = Number(variable('RIG_PORT'))
export const ROOT = { username: 'root', password: 'Root-pw-1' }
export const ORDINARY = { username: 'bob', password: 'Bob-pw-1' }
export const ADMINISTRATOR = { username: 'alice', password: 'Alice-pw-1' }

const run = promisify(execFile)

/** Runs a command of the rig; returns its stdout. */
export async function rig(...words: string[]): Promise<string> {
  return (await run('bash', [RIG, ...words])).stdout
}

/** Runs a command as root on the host without ssh; returns its stdout. */
export function onHost(...command: string[]): Promise<string> {
  return rig('in', 'host', ...command)
}

/** The run time of OpenSSH's client in milliseconds, output included. */
export function ssh(
  { username, password }: { username: string; password: string },
  command: string,
  flags: readonly string[] = [],
): Promise<number> {
  const options = ['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'LogLevel=ERROR']
  const started = performance.now()
  const child = spawn(
    'sshpass',
    [
      '-e',
      'ssh',
      ...flags,
      ...options.flatMap((option) => ['-o', option]),
      '-p',
      `${SSH_PORT}`,
      `${username}@127.0.0.1`,
      command,
    ],
    { stdio: ['ignore', 'ignore', 'inherit'], env: { PATH: process.env.PATH ?? '', SSHPASS: password } },
  )
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => {
      if (code === 0) resolve(performance.now() - started)
      else reject(new Error(`ssh ended with code ${code}`))
    })
  })
}

/**
 * Runs a function while the jobs' folder is on a local file system, as on every real host. The rig's own root is
 * an overlay without change notifications: tail polls it every 10 ms.
 */
export async function withLocalFolder<result>(work: () => Promise<result>): Promise<result> {
  await onHost('mount', '-t', 'tmpfs', '-o', 'mode=1777', 'bench', '/var/tmp')
  try {
    return await work()
  } finally {
    await onHost('umount', '-l', '/var/tmp')
  }
}

/** There is no default host: it might be somebody else's. */
function variable(name: string): string {
  const value = process.env[name]
  if (!value) throw new Error(`${name} is not set: start the bench with npm run bench`)
  return value
}
