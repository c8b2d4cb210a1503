import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { STEPS, UPGRADE } from '../../../functions/updates/apt.ts'
import { programs, shell } from '../programs.ts'

/** Runs the steps with an apt-get that refreshes and upgrades as these scripts do. */
async function upgraded({ update = '', upgrade = 'echo upgraded', sudo = '' }) {
  const { env } = await programs({ 'apt-get': `case "$*" in *update) ${update} ;; *full-upgrade) ${upgrade} ;; esac` })
  return shell(env, STEPS, sudo)
}

const say = (text: string) => `cat >&2 <<'END'\n${text}\nEND\n`
const UNREACHABLE = 'W: Failed to fetch http://u:secret@m/debian/dists/stable/InRelease  Could not connect'
const IGNORED = 'W: Some index files failed to download. They have been ignored, or old ones used instead.'
const PARTLY = 'Not every repository could be refreshed: '
const WARNED = 'Upgraded, with warnings: these repositories could not be refreshed: '

test.each([
  ['ends with 0', 0, UNREACHABLE, 'http://m/debian stable'],
  ['ends with 100', 100, `E: The repository 'http://m/debian x Release' is not signed.`, 'http://m/debian x'],
  ['has no suite', 100, `E: Failed to fetch file:/srv/rig/main/./Packages  not found`, 'file:/srv/rig/main'],
])(
  'a refresh that fails for one repository and %s keeps no update back, and ends with 75',
  async (_, code, told, name) => {
    for (const sudo of ['', 'sudo -n']) {
      const { status, lines } = await upgraded({ update: `${say(`${told}\n${IGNORED}`)}exit ${code}`, sudo })

      expect(status).toBe(75)
      expect(lines.slice(-3)).toEqual([PARTLY + name, 'upgraded', WARNED + name])
      expect(lines.slice(0, 2)).toEqual([told, IGNORED])
    }
  },
)

test.each([
  ['the lock is held', 100, 'E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7 (apt-get)'],
  ['the folder is not writable', 100, 'E: List directory /var/lib/apt/lists/partial is missing. - Acquire (13: x)'],
  ['a hook fails', 100, `E: Problem executing scripts APT::Update::Pre-Invoke 'curl http://m/debian'`],
  ['sudo refuses', 1, 'sudo: a password is required'],
  ['it is killed', 137, UNREACHABLE],
])('where %s the steps end with the code, and nothing is upgraded', async (_, code, told) => {
  expect(await upgraded({ update: `${say(told)}exit ${code}` })).toMatchObject({ status: code, lines: [told] })
})

test('a notice of apt about settings is no warning of the upgrade', async () => {
  const told = 'W: http://m/dists/x/InRelease: Key is stored in legacy trusted.gpg keyring (/etc/apt/trusted.gpg)'

  expect(await upgraded({ update: say(told) })).toMatchObject({ status: 0, lines: [told, 'upgraded'] })
})

test('an upgrade that fails keeps its code, also after a partial refresh', async () => {
  expect(await upgraded({ update: say(UNREACHABLE), upgrade: 'echo E; exit 100' })).toMatchObject({
    status: 100,
    lines: [UNREACHABLE, `${PARTLY}http://m/debian stable`, 'E'],
  })
})

test('the output of the refresh comes live, and a process that it leaves behind delays the upgrade by a second', async () => {
  const { status, lines, pieces, ms } = await upgraded({
    update: `printf 'begun '; sleep 0.5; echo ended; (trap '' HUP; sleep 20) &`,
  })

  expect([status, lines]).toEqual([0, ['begun ended', 'upgraded']])
  expect(pieces[0]?.text).toBe('begun ')
  expect(ms).toBeLessThan(10_000)
})

test('a flood of hostile lines names at most fifty repositories, each cut', async () => {
  const { status, lines } = await upgraded({
    update: `perl -e 'print STDERR "E: Failed to fetch http://m$_/", "x" x 5000, "\\n" for 1 .. 2000'`,
  })

  expect(status).toBe(75)
  const names = lines.at(-1)?.slice(WARNED.length).split(', ') ?? []
  expect(names).toHaveLength(50)
  for (const name of names) expect(name.length).toBeLessThanOrEqual(300)
})

/** Runs UPGRADE with a script in place of the steps or of the container tool. */
async function all(pct: string, scope: 'container' | 'all', ...ids: string[]) {
  const { folder, env } = await programs({})
  await writeFile(join(folder, 'pct'), pct)
  const ended = await shell(env, `exec 9>"$FOLDER/notes"\n${UPGRADE}`, 'STEPS', `sh ${folder}/pct`, scope, ...ids)
  return { ...ended, notes: (await readFile(join(folder, 'notes'), 'utf8')).split('\n').slice(0, -1) }
}

test('an upgrade with warnings is a success of the host, and of a container alone or among all', async () => {
  const { env } = await programs({})
  expect(await shell(env, UPGRADE, 'exit 75', '', 'host')).toMatchObject({ status: 0 })
  expect(await shell(env, UPGRADE, 'exit 100', '', 'host')).toMatchObject({ status: 100 })
  expect(await all('exit 75', 'container', '101')).toMatchObject({ status: 0, notes: [] })

  const pct = `case "$2 $3" in 'exec 101') echo '102 warned 0'; exit 75 ;; 'exec 103') exit 100 ;; esac`
  const { status, lines, notes } = await all(pct, 'all', '101', '102', '103')

  expect([status, notes]).toEqual([0, ['101 warned 0', '102 done 0', '103 failed 100']])
  expect(lines.filter((line) => line.startsWith('SKIP'))).toEqual(['SKIP LXC 103'])
})
