import { execFileSync } from 'node:child_process'
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { MANUAL } from '../../../functions/checks/remedy-scripts.ts'
import { UPGRADERS } from '../../../functions/checks/upgraders-script.ts'
import { programs, shell } from '../programs.ts'

const SECTION = `section() { echo "$1"; sed 's/^/ /'; }`

interface Place {
  /** Files by their path. */
  files?: Record<string, string | Buffer>
  /** apt's values of `APT::Periodic::Unattended-Upgrade` and `APT::Periodic::Enable`. */
  interval?: string
  enabled?: string
  /** The text of the stand-in for systemctl; without it systemd does not run. */
  systemctl?: string
  isInstalled?: boolean
}

/** A folder that the scripts take for the root of a system, and the programs of that system. */
async function placeOf({ files = {}, interval, enabled, systemctl, isInstalled = true }: Place) {
  const values = [interval !== undefined && `interval='${interval}'`, enabled !== undefined && `enabled='${enabled}'`]
  const { folder, env } = await programs({
    'apt-config': `cat <<'V'\n${values.filter(Boolean).join('\n')}\nV`,
    ...(isInstalled && { 'unattended-upgrade': 'exit 0' }),
    ...(systemctl !== undefined && { systemctl }),
  })
  const root = join(folder, 'root')
  await mkdir(join(root, 'etc/cron.d'), { recursive: true })
  if (systemctl !== undefined) await mkdir(join(root, 'run/systemd/system'), { recursive: true })
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
  const rooted = (text: string) => text.replaceAll(/(?<=[ =(])\/(?=etc|var|run)/g, `${root}/`)
  return { root, env, rooted }
}

/** The lines that the script tells of such a system. */
async function told(place: Place | Awaited<ReturnType<typeof placeOf>>): Promise<string[]> {
  const { root, env, rooted } = 'rooted' in place ? place : await placeOf(place)
  const { status, lines } = await shell(env, `${SECTION}\n${rooted(UPGRADERS)}`)
  expect([status, lines[0]]).toEqual([0, 'upgraders'])
  return lines.slice(1).map((line) => line.slice(1).replaceAll(root, ''))
}

const COMPAT = { 'etc/cron.daily/apt-compat': '#!/bin/sh\n' }

/** A system without systemd, whose cron starts apt's periodic run. */
async function withCompat(more: Place) {
  const place = await placeOf({ ...more, files: COMPAT })
  await chmod(join(place.root, 'etc/cron.daily/apt-compat'), 0o755)
  return place
}

test.each([
  ['1', undefined, ['unattended']],
  ['always', '1', ['unattended']],
  ['12h', undefined, ['unattended']],
  ['0', undefined, []],
  ['0d', undefined, []],
  ['', undefined, []],
  [undefined, undefined, []],
  ['1', '0', []],
])('without systemd, the interval %j with Enable %j is told as %j', async (interval, enabled, expected) => {
  const values = { ...(interval !== undefined && { interval }), ...(enabled !== undefined && { enabled }) }

  expect(await told(await withCompat(values))).toEqual(expected)
})

test('unattended-upgrades counts only where it is installed and something starts it', async () => {
  expect(await told(await withCompat({ interval: '1', isInstalled: false }))).toEqual([])
  expect(await told({ interval: '1', files: COMPAT })).toEqual([])
  expect(await told({ interval: '1' })).toEqual([])
})

test.each([
  ['an enabled timer', '[ "$2 $3" = "is-enabled apt-daily-upgrade.timer" ]', ['unattended']],
  ['a disabled timer that runs until the next start', '[ "$2" = is-active ]', ['unattended']],
  ['a masked timer', 'exit 1', []],
])('with systemd and %s, the answer is %j', async (_, systemctl, expected) => {
  expect(await told({ interval: '1', systemctl, files: COMPAT })).toEqual(expected)
})

test.each([
  ['0 3 * * * root apt-get update && apt-get -y dist-upgrade', 'apt'],
  ['0 3 * * * /usr/bin/apt -y upgrade>/dev/null 2>&1', 'apt'],
  ['@daily root bash -c "apt full-upgrade -y"', 'apt'],
  ['  */5 * * * * root aptitude safe-upgrade', 'apt'],
  ['0 3 * * * root [ -d /srv ] && pct exec 101 -- apt-get upgrade -y', 'apt'],
  ['0 0 * * 0 PATH=/bin /bin/bash -c "$(wget -qLO - https://x/misc/update-lxcs-cron.sh)" >>/var/log/u.log', 'lxcs'],
  ['0 0 * * 0 /usr/local/bin/update-lxcs.sh', 'lxcs'],
  ['0 0 * * 0 root /opt/cron-update-lxcs', 'lxcs'],
  ['0 5 * * * root unattended-upgrade -v', 'unattended'],
])('“%s” is a line of cron that upgrades', async (line, tool) => {
  expect(await told({ files: { 'etc/crontab': `SHELL=/bin/sh\n\n${line}\n` } })).toEqual([
    `cron ${tool} 3 /etc/crontab`,
  ])
})

test.each([
  '#0 3 * * * root apt-get -y upgrade',
  'WHAT=0 3 * * * root apt-get -y upgrade',
  '0 3 * * * root apt-get update',
  '0 3 * * * root apt list --upgradable',
  '0 3 * * * root apt-get -qs dist-upgrade | mail root',
  '0 3 * * * root apt-get --dry-run upgrade',
  '0 3 * * * root apt-get upgrade -d',
  '0 3 * * * root /opt/apt-mirror/upgrade',
  '0 3 * * * root adapt-get upgrade',
  '0 3 * * * root apt-get install upgrade-system',
  '0 3 * * * root unattended-upgrade --dry-run',
  '0 3 * * * root /opt/my-update-lxcs-report',
])('“%s” is not told', async (line) => {
  expect(await told({ files: { 'etc/crontab': `${line}\n` } })).toEqual([])
})

test('files may hold anything: nothing of their text is told, and what is told has a bound', async () => {
  const line = '0 3 * * * root apt-get -y upgrade\n'
  const secret = '* * * * * root TOKEN=hunter2 curl -u me:hunter2 https://x | sh; apt-get -y upgrade\n'
  const place = await placeOf({
    files: {
      'etc/cron.d/many': line.repeat(100_000),
      'etc/cron.d/binary': Buffer.concat([Buffer.from([0, 255, 254, 10, 0]), Buffer.from(line)]),
      'etc/cron.d/one-line': `0 ${'apt '.repeat(15_000)}`,
      'etc/cron.d/not.for.cron': line,
      'etc/cron.d/a\nunattended': line,
      'etc/cron.d/$(touch owned)': line,
      'var/spool/cron/crontabs/root': secret,
    },
  })
  execFileSync('mkfifo', [join(place.root, 'etc/cron.d/pipe')])
  await symlink('/dev/zero', join(place.root, 'etc/cron.d/endless'))

  const lines = await told(place)

  expect(lines).toHaveLength(20)
  expect(lines.slice(0, 3)).toEqual([
    'cron apt 1 /var/spool/cron/crontabs/root',
    'cron apt 2 /etc/cron.d/binary',
    'cron apt 1 /etc/cron.d/many',
  ])
  expect(lines.every((each) => /^cron apt \d+ [/a-z.]+$/.test(each))).toBe(true)
  expect(lines.join()).not.toContain('hunter2')
})

/** Runs MANUAL on a system whose apt-get runs its hook as apt does, and whose apt-config reads only its file. */
async function turnedOff({
  sudo = '',
  hook = true,
  later = false,
}: {
  sudo?: string
  hook?: boolean
  later?: boolean
}) {
  const { folder, env } = await programs({
    'apt-get': hook
      ? `for each; do
           case $each in APT::Update::Pre-Invoke::=*) sh -c "\${each#*::=}" ;; esac
         done
         echo 'E: Problem executing scripts' >&2; exit 100`
      : `echo 'sudo: a password is required' >&2; exit 1`,
    'apt-config': `interval=1
      [ ! -e "$FOLDER/root/etc/apt/apt.conf.d/99ops-panel-no-auto-upgrades" ] || interval=${later ? 1 : 0}
      echo "interval='$interval'"`,
  })
  const root = join(folder, 'root')
  const { status, lines } = await shell(env, MANUAL.replaceAll(/\/etc\/apt/g, `${root}/etc/apt`), sudo)
  const left = execFileSync('sh', [
    '-c',
    `cd '${root}' 2>/dev/null && find etc -type f -printf '%m %p\\n' -exec cat {} +; true`,
  ])
  return { status, lines: lines.map((line) => line.replaceAll(root, '')), left: String(left).split('\n') }
}

const FILE = 'etc/apt/apt.conf.d/99ops-panel-no-auto-upgrades'

test.each(['', 'sudo -n'])(
  'with sudo %j, one file of its own turns unattended-upgrades off, and says so',
  async (sudo) => {
    const { status, lines, left } = await turnedOff({ sudo })

    expect([status, lines]).toEqual([
      0,
      [`unattended-upgrades no longer upgrades by itself. To undo that, remove /${FILE}`],
    ])
    expect(left).toEqual([`644 ${FILE}`, expect.stringMatching(/^\/\/ /), 'APT::Periodic::Unattended-Upgrade "0";', ''])
  },
)

test('where apt reads another file later, or nothing could be written, the job fails and says why', async () => {
  expect(await turnedOff({ later: true })).toMatchObject({
    status: 1,
    lines: [`/${FILE} is there, but apt reads another file after it.`, 'unattended-upgrades still upgrades by itself.'],
  })
  expect(await turnedOff({ sudo: 'sudo -n', hook: false })).toMatchObject({
    status: 1,
    lines: ['sudo: a password is required', 'unattended-upgrades still upgrades by itself.'],
    left: [''],
  })
})
