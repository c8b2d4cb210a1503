import { spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LIST_UPGRADABLE, parseUpgradable, STEPS, sudoFor, UPGRADE, upgrade } from '../../../functions/updates/apt.ts'
import { temporaryFolder } from '../../db/folder.ts'

test('apt runs in English, with its output in one command', () => {
  expect(LIST_UPGRADABLE).toEqual(['env', 'LC_ALL=C', 'apt', 'list', '--upgradable'])
})

test('an upgradable package has its new and its installed version', async () => {
  const text = [
    'Listing...',
    'librig2/stable,stable-security 1:2.0~rc1-1+deb12u3 amd64 [upgradable from: 1.4.2-1+b1]',
    'g++/stable 4:12.2.0-3 amd64 [upgradable from: 4:12.2.0-2]',
    '',
  ].join('\n')

  expect(await parseUpgradable(text)).toEqual([
    { name: 'librig2', version: '1:2.0~rc1-1+deb12u3', old_version: '1.4.2-1+b1' },
    { name: 'g++', version: '4:12.2.0-3', old_version: '4:12.2.0-2' },
  ])
})

test.each([
  ['a line without the marker', 'bash/stable 5.2 amd64 [installed]'],
  ['a marker in another language', 'bash/stable 5.2 amd64 [pouvant être mis à jour depuis : 5.1]'],
  ['a marker in other letters', 'bash/stable 5.2 amd64 [Upgradable from: 5.1]'],
  ['a warning', 'WARNING: apt does not have a stable CLI interface.'],
  ['a blank line', ''],
])('%s is ignored', async (_, line) => {
  expect(await parseUpgradable(`${line}\nbash/stable 5.2 amd64 [upgradable from: 5.1]\n`)).toEqual([
    { name: 'bash', version: '5.2', old_version: '5.1' },
  ])
})

test('output without a package line is an empty list', async () => {
  expect(await parseUpgradable('')).toEqual([])
  expect(await parseUpgradable('Listing... Done\n')).toEqual([])
})

test('the name ends at the first slash', async () => {
  expect(await parseUpgradable('a/b/c 2 amd64 [upgradable from: 1]')).toEqual([
    { name: 'a', version: '2', old_version: '1' },
  ])
})

test('the version is the second field, after any number of spaces', async () => {
  expect(await parseUpgradable('bash/stable \t 5.2   amd64   [upgradable from: 5.1]')).toEqual([
    { name: 'bash', version: '5.2', old_version: '5.1' },
  ])
})

test.each([
  ['spaces', '[upgradable from: 5.1]  '],
  ['a carriage return', '[upgradable from: 5.1]\r'],
  ['a space inside', '[upgradable from: 5.1 ]'],
  ['nothing', '[upgradable from: 5.1'],
  ['several brackets', '[upgradable from: 5.1] ]]'],
])('the installed version follows the marker, before a bracket and %s', async (_, end) => {
  expect(await parseUpgradable(`bash/stable 5.2 amd64 ${end}`)).toEqual([
    { name: 'bash', version: '5.2', old_version: '5.1' },
  ])
})

/** Runs a script as the host would. `sudo` precedes each program, so `echo` shows what would run. */
function shell(text: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync('sh', ['-c', text, 'name', ...args], {
    encoding: 'utf8',
    maxBuffer: 16 * 1024 * 1024,
  })
  return { status, lines: stdout.split('\n').slice(0, -1), stderr }
}

const OPTIONS =
  '-o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold -o DPkg::Lock::Timeout=120 ' +
  '-o Dpkg::Use-Pty=0 -o APT::Color=0 -o APT::Update::Error-Mode=any'

test('the two steps are update, and full-upgrade without a question', () => {
  expect(shell(STEPS, 'echo')).toEqual({
    status: 0,
    lines: [`apt-get ${OPTIONS} update`, `apt-get -y ${OPTIONS} full-upgrade`],
    stderr: '',
  })
})

test('a failed update is not followed by an upgrade', () => {
  expect(shell(STEPS.replace('$sudo apt-get "$@" update', 'false'), 'echo')).toEqual({
    status: 1,
    lines: [],
    stderr: '',
  })
})

test('the steps run non-interactively and in English', () => {
  const environment = shell(STEPS.replace('$sudo apt-get "$@" update', 'env'), 'true').lines

  expect(environment).toEqual(
    expect.arrayContaining([
      'LC_ALL=C',
      'DEBIAN_FRONTEND=noninteractive',
      'APT_LISTCHANGES_FRONTEND=none',
      'NEEDRESTART_MODE=l',
    ]),
  )
})

test('the host’s steps run there, with sudo where needed, and enter no container', () => {
  expect(shell(UPGRADE, 'echo "steps <$1>"', 'sudo -n', 'host').lines).toEqual(['steps <sudo -n>'])
  expect(shell(UPGRADE, 'echo "steps <$1>"', '', 'host').lines).toEqual(['steps <>'])
})

test('a container’s steps run inside it, without sudo there, and their failure is the job’s', () => {
  expect(shell(UPGRADE, 'STEPS', 'echo', 'container', '101').lines).toEqual([
    '/usr/sbin/pct exec 101 -- sh -c STEPS ops-panel-apt ',
  ])
  expect(shell(UPGRADE, 'STEPS', 'false', 'container', '101')).toEqual({ status: 1, lines: [], stderr: '' })
})

test('over all containers each is announced and entered in turn', () => {
  expect(shell(UPGRADE, 'STEPS', 'echo', 'all', '101', '102')).toEqual({
    status: 0,
    lines: [
      '=== LXC 101 ===',
      '/usr/sbin/pct exec 101 -- sh -c STEPS ops-panel-apt ',
      '=== LXC 102 ===',
      '/usr/sbin/pct exec 102 -- sh -c STEPS ops-panel-apt ',
    ],
    stderr: '',
  })
})

test.each([
  ['host', [], ['sudo -n -- /usr/sbin/ops-panel-host upgrade host']],
  ['container', ['101'], ['sudo -n -- /usr/sbin/ops-panel-host upgrade 101']],
  [
    'all',
    ['101', `1'; id`],
    [
      '=== LXC 101 ===',
      'sudo -n -- /usr/sbin/ops-panel-host upgrade 101',
      `=== LXC 1'; id ===`,
      `sudo -n -- /usr/sbin/ops-panel-host upgrade 1'; id`,
    ],
  ],
])('the helper contains the steps, so only its verb is requested: %s', (scope, ids, lines) => {
  const sudo = `echo ${sudoFor('helper')}`

  expect(shell(UPGRADE, 'echo STEPS', sudo, scope, ...ids)).toEqual({ status: 0, lines, stderr: '' })
})

test('an upgrade of all reports a container that fails, and continues', () => {
  expect(shell(UPGRADE, 'STEPS', 'false', 'all', '101', '102')).toEqual({
    status: 0,
    lines: ['=== LXC 101 ===', 'SKIP LXC 101', '=== LXC 102 ===', 'SKIP LXC 102'],
    stderr: '',
  })
})

test('a leftover process of one container says nothing in the place of the next, and delays no other', async () => {
  const { lines, notes } = await noted(
    `case "$2 $3" in
      'exec 101') (trap '' HUP; while sleep 0.01; do echo forged; done) & echo first ;;
      'exec 102') sleep 0.1; echo second ;;
    esac`,
    '101',
    '102',
  )

  expect(lines.filter((line) => line !== 'forged')).toEqual(['=== LXC 101 ===', 'first', '=== LXC 102 ===', 'second'])
  expect(lines.slice(lines.indexOf('=== LXC 102 ==='))).toEqual(['=== LXC 102 ===', 'second'])
  expect(notes).toEqual(['101 done 0', '102 done 0'])
})

test('of several containers each has 4 MiB for what it prints; the rest is counted', async () => {
  const { lines, notes } = await noted(
    `case "$2 $3" in 'exec 101') head -c 5000000 /dev/zero | tr '\\000' x; exit 3 ;; 'exec 102') echo second ;; esac`,
    '101',
    '102',
  )

  const [first, flood = '', ...rest] = lines
  expect([first, flood.length]).toEqual(['=== LXC 101 ===', 4 * 1024 * 1024])
  expect(rest).toEqual([
    `[… ${5_000_000 - 4 * 1024 * 1024} octets omis : la sortie de ce conteneur dépasse 4 Mio …]`,
    'SKIP LXC 101',
    '=== LXC 102 ===',
    'second',
  ])
  expect(notes).toEqual(['101 failed 3', '102 done 0'])
})

/** Runs an upgrade of all containers with a script as pct; returns its notes and its lines. */
async function noted(pct: string, ...ids: string[]) {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'pct'), pct)
  const { lines } = shell(`exec 9>"${folder}/notes"\n${UPGRADE}`, 'STEPS', `sh ${folder}/pct`, 'all', ...ids)
  return { lines, notes: (await readFile(join(folder, 'notes'), 'utf8')).split('\n').slice(0, -1) }
}

test('an upgrade of all notes how each container ended: done, failed, or skipped because it was not running', async () => {
  const { lines, notes } = await noted(
    `case "$2 $3" in
      'exec 102') exit 100 ;;
      'exec '10[3-5]) echo "container '$3' not running!" >&2; exit 255 ;;
      'status '10[3-5]) echo 'status: stopped' ;;
      status*) echo 'status: running' ;;
      'config 104') printf 'hostname: x\\ntemplate: 1\\n' ;;
      'config 105') printf 'lock: create\\nhostname: x\\n' ;;
    esac`,
    '101',
    '102',
    '103',
    '104',
    '105',
  )

  expect(notes).toEqual(['101 done 0', '102 failed 100', '103 stopped 255', '104 template 255', '105 locked 255'])
  expect(lines.filter((line) => line.startsWith('SKIP'))).toHaveLength(4)
})

test('a container that fails and then stops has failed; so has one that was just started and fails', async () => {
  const { notes } = await noted(
    `case "$2 $3" in
      exec*) : >"$0.$3"; exit 1 ;;
      'status 101') if [ -e "$0.101" ]; then echo 'status: stopped'; else echo 'status: running'; fi ;;
      'status 102') if [ -e "$0.102" ]; then echo 'status: running'; else echo 'status: stopped'; fi ;;
    esac`,
    '101',
    '102',
  )

  expect(notes).toEqual(['101 failed 1', '102 failed 1'])
})

test('nothing that runs in a container or on the host can write notes', async () => {
  const { lines, notes } = await noted(
    `{ echo 101 done 0 >&9; } 2>/dev/null || echo 'no descriptor'; [ "$2" != exec ] || exit 1`,
    '101',
  )

  expect(lines).toEqual(['=== LXC 101 ===', 'no descriptor', 'SKIP LXC 101'])
  expect(notes).toEqual(['101 failed 1'])
  expect(shell(`exec 9>&1\n${UPGRADE}`, 'echo forged >&9', '', 'host').lines).toEqual([])
})

test('an upgrade of no containers does nothing, and the host is never touched', () => {
  expect(shell(UPGRADE, 'echo touched', 'echo', 'all')).toEqual({ status: 0, lines: [], stderr: '' })
})

test.each([`1'; echo owned`, '$(echo owned)', '`echo owned`', '1\necho owned', '* ; echo owned', '-1 && echo owned'])(
  'the id %j stays one word',
  (id) => {
    const { lines } = shell(UPGRADE, 'STEPS', 'printf <%s>\\n', 'container', id)
    expect(lines.join('\n')).toBe(
      ['/usr/sbin/pct', 'exec', id, '--', 'sh', '-c', 'STEPS', 'ops-panel-apt', '']
        .map((word) => `<${word}>`)
        .join('\n'),
    )
  },
)

test('a job’s command passes script, elevation and ids as separate arguments', () => {
  const start = ['sh', '-c', UPGRADE, 'ops-panel-upgrade', STEPS]

  expect(upgrade({ scope: 'host' }, 'sudo -n')).toEqual([...start, 'sudo -n', 'host'])
  expect(upgrade({ scope: 'container', id: `1'` }, '')).toEqual([...start, '', 'container', `1'`])
  expect(upgrade({ scope: 'all', ids: ['101', '102'] }, '')).toEqual([...start, '', 'all', '101', '102'])
})

test('a hostile line of a million spaces is refused with the whole list', async () => {
  const line = `x/stable 2 amd64 [upgradable from: 1${' '.repeat(1_000_000)}x`

  await expect(parseUpgradable(line)).rejects.toThrow('une ligne de 4096 caractères')
})
