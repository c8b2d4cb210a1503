import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { LOOK, REBOOT } from '../../../functions/restarts/reboot-script.ts'
import { HOST_HELPER } from '../../../ssh/command.ts'
import { temporaryFolder } from '../../db/folder.ts'

const BOOT = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim()
const NOW = () => Math.floor(Date.now() / 1_000)

interface Programs {
  systemctl?: string
  pct?: string
  sleep?: string
  sudo?: string
  helper?: string
}

/**
 * Runs `REBOOT` here with stand-ins: whatever it does, no program of this machine is called that could reboot it. Each
 * stand-in writes its words into `calls`.
 */
async function reboot(
  args: { sudo?: string; name?: string; boot?: string; until?: number } = {},
  programs: Programs = {},
) {
  const folder = await temporaryFolder()
  const bin = join(folder, 'bin')
  await mkdir(bin)
  const put = async (name: string, body: string) => {
    await writeFile(join(bin, name), `#!/bin/sh\necho ${name} "$@" >>${folder}/calls\n${body}\n`)
    await chmod(join(bin, name), 0o755)
  }
  await put('systemctl', programs.systemctl ?? 'exit 0')
  await put(
    'pct',
    programs.pct ?? 'printf "VMID Status Lock Name\\n101 running  web\\n102 stopped  db\\n103 running backup old\\n"',
  )
  await put('sleep', programs.sleep ?? 'exit 0')
  await put('helper', programs.helper ?? 'exit 0')
  await put(
    'sudo',
    programs.sudo ?? 'while case $1 in -*) ;; *) false ;; esac; do [ "$1" != -l ] || exit 0; shift; done; exec "$@"',
  )
  const text = REBOOT.replaceAll('/usr/bin/systemctl', join(bin, 'systemctl'))
    .replaceAll('/usr/sbin/pct', join(bin, 'pct'))
    .replaceAll(HOST_HELPER, join(bin, 'helper'))
  expect(text).not.toContain('/usr/sbin/')
  expect(text.match(/\/usr\/bin\//)).toBeNull()
  const { sudo = '', name = hostname(), boot = BOOT, until = NOW() + 60 } = args
  const child = spawn(
    'sh',
    [
      '-c',
      `exec 9>"$NOTES"; ${text}`,
      'reboot',
      sudo.replace('HELPER', join(bin, 'helper')),
      name,
      boot,
      String(until),
    ],
    {
      env: { PATH: `${bin}:${process.env.PATH}`, NOTES: join(folder, 'notes') },
    },
  )
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (output += bytes))
  const [code] = await once(child, 'close')
  const read = async (file: string) =>
    (await readFile(join(folder, file), 'utf8').catch(() => '')).split('\n').slice(0, -1)
  return { code, output, notes: await read('notes'), calls: await read('calls') }
}

test('it notes the running containers and the time, asks systemctl, and waits for 15 minutes to be ended', async () => {
  const { code, output, notes, calls } = await reboot()

  expect(notes).toEqual(['ran 101 web', 'ran 103 old', expect.stringMatching(/^asked \d+$/)])
  expect(Math.abs(Number(notes[2]?.slice(6)) - NOW())).toBeLessThan(30)
  expect(calls).toEqual(['pct list', 'systemctl reboot', 'sleep 900'])
  expect(output).toBe('The host is asked to reboot.\n')
  expect(code).toBe(70)
})

test.each([
  ['another boot', { boot: '00000000-0000-4000-8000-000000000000' }, 0],
  ['another name', { name: `${hostname()}x` }, 65],
  ['a time that has passed', { until: NOW() - 1 }, 75],
])('%s: nothing is done', async (_, args, expected) => {
  const { code, notes, calls } = await reboot(args)

  expect([code, notes, calls]).toEqual([expected, [], []])
})

test('a rule is asked first, and one that lacks systemctl is told with its line', async () => {
  const sudo = 'case " $* " in *" -l "*) exit 1 ;; esac; exit 99'

  const { code, output, notes, calls } = await reboot({ sudo: 'sudo -n' }, { sudo })

  expect(code).toBe(77)
  expect(output).toMatch(
    /^The sudo rule does not allow this\. It lacks a program: \S+ ALL=\(root\) NOPASSWD: \S+\/systemctl\n$/,
  )
  expect(notes).toEqual([])
  expect(calls).toEqual([expect.stringMatching(/^sudo -n -l \S+\/systemctl reboot$/)])
})

test('a rule puts sudo before both programs, and the host helper has a verb for both', async () => {
  const byRule = await reboot({ sudo: 'sudo -n' })
  const byHelper = await reboot({ sudo: 'sudo -n -- HELPER' })

  expect([byRule.code, byHelper.code]).toEqual([70, 70])
  expect(byRule.calls.filter((call) => !call.startsWith('sudo'))).toEqual(['pct list', 'systemctl reboot', 'sleep 900'])
  expect(byRule.calls.filter((call) => call.startsWith('sudo'))).toHaveLength(3)
  expect(byHelper.calls.filter((call) => !call.startsWith('sudo'))).toEqual([
    'helper list',
    'helper reboot-host',
    'sleep 900',
  ])
})

test('containers that cannot be listed do not keep the host from its reboot', async () => {
  const { code, output, notes } = await reboot({}, { pct: 'echo "ipcc_send_rec failed" >&2; exit 255' })

  expect(code).toBe(70)
  expect(notes).toEqual(['unlisted', expect.stringMatching(/^asked /)])
  expect(output).toContain('The containers that run cannot be listed.\n')
})

test('names of containers that are no names are replaced by the number', async () => {
  const pct = `printf '101 running  $(id)\\n102 running  a"b\\n-5 running x\\n1034567890123 running  long\\n'`

  const { notes } = await reboot({}, { pct })

  expect(notes.slice(0, -1)).toEqual(['ran 101 101', 'ran 102 102', 'ran 103456789 long'])
})

test.each([
  [
    'refuses',
    'case $1 in reboot) echo "Access denied" >&2; exit 1 ;; *) echo running ;; esac',
    71,
    ['systemctl reboot', 'systemctl is-system-running'],
  ],
  ['is ended by the reboot itself', 'kill -TERM $$', 70, ['systemctl reboot', 'sleep 900']],
  [
    'gets no answer because the system goes down',
    'case $1 in reboot) echo "Connection timed out" >&2; exit 1 ;; *) echo stopping; exit 1 ;; esac',
    70,
    ['systemctl reboot', 'systemctl is-system-running', 'sleep 900'],
  ],
])('a systemctl that %s', async (_, systemctl, expected, calls) => {
  const found = await reboot({}, { systemctl })

  expect(found.code).toBe(expected)
  expect(found.calls.filter((call) => !call.startsWith('pct'))).toEqual(calls)
  expect(found.output).toContain(expected === 71 ? 'Access denied\n' : 'asked to reboot')
})

/** Runs `LOOK` here, with another file for vzdump's lock. */
async function look(lock: string, env: Record<string, string> = {}) {
  const child = spawn('sh', ['-c', LOOK.replaceAll('/run/vzdump.lock', lock)], {
    env: { PATH: process.env.PATH ?? '', ...env },
  })
  let text = ''
  child.stdout.on('data', (bytes) => (text += bytes))
  await once(child, 'close')
  return text.trimEnd().split('\n')
}

test('the look tells the host’s name, boot and time, whoever asks', async () => {
  const lines = await look('/nonexistent')

  expect(lines).toEqual([
    'ops-panel boot',
    hostname(),
    BOOT,
    expect.stringMatching(/^\d{10}$/),
    'free',
    expect.any(String),
    'end',
  ])
})

test.each([
  ['goes down', 'stopping', 'inactive', 'stopping'],
  ['has started its guests', 'degraded', 'active', 'active'],
  ['still starts them', 'starting', 'activating', 'activating'],
])('the look tells that the host %s', async (_, system, guests, told) => {
  const folder = await temporaryFolder()
  const body = `case $1 in is-system-running) echo ${system}; exit 1 ;; *) echo ${guests} ;; esac`
  await writeFile(join(folder, 'systemctl'), `#!/bin/sh\n${body}\n`)
  await chmod(join(folder, 'systemctl'), 0o755)

  expect((await look('/nonexistent', { PATH: `${folder}:${process.env.PATH}` })).slice(-2)).toEqual([told, 'end'])
})

test('a backup runs while its lock is held, in whatever language, and not while the file is only there', async () => {
  const lock = join(await temporaryFolder(), 'vzdump.lock')
  await writeFile(lock, '')
  expect((await look(lock))[4]).toBe('free')
  const holder = spawn('flock', [lock, 'sleep', '60'], { stdio: 'ignore', detached: true })
  const kill = () => process.kill(-(holder.pid ?? 0), 'SIGKILL')
  onTestFinished(() => {
    if (holder.exitCode === null && holder.signalCode === null) kill()
  })
  await expect.poll(async () => (await look(lock, { LC_ALL: 'fr_FR.UTF-8' }))[4]).toBe('backup')
  // A shared lock is a lock too, and one of another file is none.
  expect((await look(`${lock}.other`))[4]).toBe('free')
  kill()
  await once(holder, 'close')

  await expect.poll(async () => (await look(lock))[4]).toBe('free')
})
