import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { HOST_HELPER } from '../../ssh/command.ts'
import { inside, PASSWORDS, rig } from './rig.ts'
import { UNDER_TEST_COMMAND } from './service.ts'

const run = promisify(execFile)

/** Installs the helper as its instructions say, and makes the account `narrow`, which may run only the helper. */
export async function narrowAccount(): Promise<void> {
  await installHelper()
  await inside(
    'host',
    `useradd -m -s /bin/bash narrow && echo 'narrow:${PASSWORDS.narrow}' | chpasswd
    echo 'narrow ALL=(root) NOPASSWD: ${HOST_HELPER}' >/etc/sudoers.d/ops-panel
    chmod 440 /etc/sudoers.d/ops-panel && visudo -cq`,
  )
}

/** Installs the helper that the service's own command prints, changed by a sed expression if one is given. */
export async function installHelper(change = ''): Promise<void> {
  const [program = '', ...words] = UNDER_TEST_COMMAND
  const { stdout } = await run(program, [...words, 'host', 'helper', '--print'])
  // An argument has 128 KiB.
  const text = gzipSync(stdout).toString('base64')
  await inside('host', `echo ${text} | base64 -d | gunzip | sed '${change}' | install -m 755 /dev/stdin ${HOST_HELPER}`)
}

/** Runs a script as the account `narrow`, without ssh; returns its exit code and output. */
export async function asNarrow(script: string): Promise<{ code: number; stdout: string; stderr: string }> {
  const text = Buffer.from(script).toString('base64')
  const told = await inside(
    'host',
    `cd /tmp && echo ${text} | base64 -d >/tmp/script && chmod 644 /tmp/script
    code=0
    setsid -w su narrow -c 'exec bash /tmp/script' </dev/null >/tmp/script.out 2>/tmp/script.err || code=$?
    echo "$code $(base64 -w0 </tmp/script.out).$(base64 -w0 </tmp/script.err)."`,
  )
  const [, code, stdout = '', stderr = ''] = /^(\d+) (.*)\.(.*)\.$/s.exec(told) ?? []
  return { code: Number(code), stdout: decoded(stdout), stderr: decoded(stderr) }
}

function decoded(base64: string): string {
  return Buffer.from(base64, 'base64').toString()
}

/** Resets the host and makes the account `narrow` on it. */
export async function resetNarrow(): Promise<void> {
  await rig('reset')
  await narrowAccount()
}
