import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ALLOW, CLEAN, HOLD, UNHOLD } from '../../../functions/checks/remedy-scripts.ts'
import { programs, shell } from '../programs.ts'

const changed = (repository: string) =>
  `E: Repository '${repository} InRelease' changed its 'Codename' value from 'one' to 'two'`

/** Runs ALLOW with an apt-get that refuses these repositories until a change is allowed, and then says `then`. */
async function allowed(
  { refused = [], then = '', code = 100 }: { refused?: string[]; then?: string; code?: number },
  ...approved: string[]
) {
  const told = refused.map((repository) => changed(repository)).join('\n')
  const { folder, env } = await programs({
    'apt-get': `echo "$*" >>"$FOLDER/asked"
      case "$*" in
        *--allow-releaseinfo-change*) ${then} ;;
        *) cat "$FOLDER/told" >&2; [ ! -s "$FOLDER/told" ] || exit ${code} ;;
      esac`,
  })
  await writeFile(join(folder, 'told'), told === '' ? '' : `${told}\n`)
  const { status, lines } = await shell(env, ALLOW, '', ...approved)
  const asked = (await readFile(join(folder, 'asked'), 'utf8')).split('\n').slice(0, -1)
  return { status, lines, accepts: asked.some((line) => line.includes('--allow-releaseinfo-change')) }
}

test('a changed repository is accepted when it is approved with its suite, not with another one', async () => {
  const refused = ['http://m/debian stable']
  const { status, lines, accepts } = await allowed({ refused }, 'http://m/debian stable')

  expect([status, lines.at(-1), accepts]).toEqual([0, 'The change was accepted.', true])
  for (const other of ['http://m/debian', 'http://m/debian testing'])
    expect(await allowed({ refused }, other)).toMatchObject({ status: 3, accepts: false })
})

test('the words of an operator do not hide that a repository has changed', async () => {
  const hiding = `http://evil/apt stable InRelease' changed its 'Origin' value from 'Evil uses weak' to 'Debian`
  const { status, lines, accepts } = await allowed(
    { refused: ['http://m/debian stable', hiding] },
    'http://m/debian stable',
  )

  expect([status, accepts]).toEqual([3, false])
  expect(lines).toContain('http://evil/apt stable')
})

test('a change that comes between the two refreshes is told, because apt has accepted it', async () => {
  const then = `echo "N: Repository 'http://evil/apt stable InRelease' changed its 'Label' value from 'a' to 'b'"; exit 0`

  const { status, lines } = await allowed({ refused: ['http://m/debian stable'], then }, 'http://m/debian stable')

  expect(status).toBe(3)
  expect(lines.at(-1)).toBe('http://evil/apt stable')
})

test('nothing is accepted when another repository has changed too, and the script names it', async () => {
  const refused = ['http://m/debian stable', 'http://evil/debian stable', 'file:/srv/main ./']
  const { status, lines, accepts } = await allowed({ refused }, 'http://m/debian stable', 'file:/srv/main')

  expect([status, accepts]).toEqual([3, false])
  expect(lines.slice(-3)).toEqual([
    'These repositories have changed too, and nobody has accepted that:',
    'http://evil/debian stable',
    'Nothing was accepted.',
  ])
})

test('a changed name cannot imitate an approved repository', async () => {
  const lying = `http://evil/debian stable InRelease' changed its 'Label' value from 'x' to 'http://m/debian stable`
  expect(await allowed({ refused: [lying] }, 'http://m/debian stable')).toMatchObject({ status: 3, accepts: false })
})

test('without a changed repository nothing is accepted; the failure of a refresh is the script’s', async () => {
  expect(await allowed({}, 'http://m/debian stable')).toMatchObject({ status: 0, accepts: false })
  expect(await allowed({ refused: ['http://m/debian stable'], code: 1 }, 'http://m/debian stable')).toMatchObject({
    status: 1,
    accepts: false,
  })
})

test.each([
  ['another repository fails', `echo 'E: Failed to fetch http://other/x/Packages' >&2; exit 100`, 0],
  ['it is still refused', `echo "${changed('http://m/debian stable')}" >&2; exit 100`, 100],
  ['the lock is held', `echo 'E: Could not get lock /var/lib/apt/lists/lock' >&2; exit 100`, 100],
])('where %s after the acceptance, the code says whether the change is accepted', async (_, then, code) => {
  expect(await allowed({ refused: ['http://m/debian stable'], then }, 'http://m/debian stable')).toMatchObject({
    status: code,
    accepts: true,
  })
})

/** Runs UNHOLD with an apt-mark of these held packages, and an apt-get that runs its hook as apt does. */
async function lifted(
  { held, sudo = '', stuck = false }: { held: string[]; sudo?: string; stuck?: boolean },
  ...asked: string[]
) {
  const { folder, env } = await programs({
    'apt-mark': `case $1 in
        showhold) cat "$FOLDER/held" ;;
        unhold) shift; echo "unhold $*"; ${stuck ? ':' : 'for name; do grep -vxF -e "$name" "$FOLDER/held" >"$FOLDER/new"; mv "$FOLDER/new" "$FOLDER/held"; done'} ;;
      esac`,
    'apt-get': `for each; do
        case $each in APT::Update::Pre-Invoke::=*) sh -c "\${each#*::=}" ;; esac
      done
      echo "E: Problem executing scripts" >&2; exit 100`,
  })
  await writeFile(join(folder, 'held'), held.map((name) => `${name}\n`).join(''))
  const { status, lines } = await shell(env, UNHOLD, sudo, ...asked)
  return { status, lines, left: (await readFile(join(folder, 'held'), 'utf8')).split('\n').slice(0, -1) }
}

test.each(['', 'sudo -n'])('with sudo %j the hold of the named packages is lifted, and no other', async (sudo) => {
  expect(await lifted({ held: ['curl', 'libc6', 'libc6:i386', 'g++'], sudo }, 'libc6', 'g++', 'absent')).toEqual({
    status: 0,
    lines: ['unhold libc6 libc6:i386 g++'],
    left: ['curl'],
  })
})

test('no text that apt-mark or the caller gives becomes part of a command', async () => {
  const hostile = ['curl; touch owned', '$(id)', '-x', 'A', `a'b`]

  expect(await lifted({ held: [...hostile, 'curl'], sudo: 'sudo -n' }, ...hostile, 'curl')).toMatchObject({
    lines: ['unhold curl'],
    left: hostile,
  })
})

test('the result is about what is held afterwards', async () => {
  expect(await lifted({ held: ['curl'], stuck: true }, 'curl')).toMatchObject({
    status: 1,
    lines: ['unhold curl', 'Still held: curl '],
  })
  expect(await lifted({ held: [] }, 'curl')).toMatchObject({ status: 0, lines: ['None of these packages is held.'] })
})

test.each([HOLD, UNHOLD])('on a system without apt, no hold is set or lifted, and nothing says so', async (script) => {
  const { env } = await programs({})
  const { status, lines } = await shell(env, `PATH=/nowhere\n${script}`, '', 'curl')

  expect({ status, lines }).toEqual({ status: 1, lines: ['Only the holds of apt can be changed.'] })
})

/** Runs HOLD on a system with these installed packages, whose apt-mark names no native architecture. */
async function heldWith({ installed, held = [], sudo = '', stuck = false }: Holding, ...asked: string[]) {
  const { folder, env } = await programs({
    dpkg: '[ "$1" = --print-architecture ] && echo amd64; exit 0',
    'dpkg-query': 'cat "$FOLDER/installed"',
    'apt-mark': `case $1 in
        showhold) sed s/:amd64$// "$FOLDER/held" ;;
        hold) shift; echo "hold $*"; ${stuck ? ':' : 'for name; do echo "$name" >>"$FOLDER/held"; done'} ;;
      esac`,
    'apt-get': `for each; do
        case $each in APT::Update::Pre-Invoke::=*) sh -c "\${each#*::=}" ;; esac
      done
      echo "E: Problem executing scripts" >&2; exit 100`,
  })
  await writeFile(join(folder, 'installed'), installed.map((line) => `${line}\n`).join(''))
  await writeFile(join(folder, 'held'), held.map((name) => `${name}\n`).join(''))
  const { status, lines } = await shell(env, HOLD, sudo, ...asked)
  return { status, lines }
}

interface Holding {
  installed: string[]
  held?: string[]
  sudo?: string
  stuck?: boolean
}

const INSTALLED = ['curl', 'libc6:amd64', 'libc6:i386', 'g++'].map((name) => `installed ${name}`)

test.each(['', 'sudo -n'])(
  'with sudo %j installed packages are held, for each architecture or for one',
  async (sudo) => {
    const installed = [...INSTALLED, 'config-files gone']
    expect(await heldWith({ installed, sudo }, 'libc6', 'curl:amd64')).toEqual({
      status: 0,
      lines: ['hold curl libc6 libc6:i386'],
    })
    expect(await heldWith({ installed, sudo }, 'libc6:i386')).toEqual({ status: 0, lines: ['hold libc6:i386'] })
    expect(await heldWith({ installed, sudo }, 'g++', 'gone', 'absent')).toEqual({
      status: 1,
      lines: ['Not installed: gone absent ', 'hold g++'],
    })
  },
)

test('what is held already is not held again, and what cannot be held is told', async () => {
  expect(await heldWith({ installed: INSTALLED, held: ['libc6', 'curl'] }, 'libc6:amd64', 'curl')).toEqual({
    status: 0,
    lines: ['These packages are held already.'],
  })
  expect(await heldWith({ installed: INSTALLED, stuck: true }, 'curl')).toEqual({
    status: 1,
    lines: ['hold curl', 'Not held: curl '],
  })
})

test('no name that dpkg gives becomes part of a command, nor one that the caller gives', async () => {
  const hostile = ['curl;touch owned', '$(id)', '-x', `a'b`]
  const installed = [...hostile.map((name) => `installed ${name}`), ...INSTALLED]

  const { lines } = await heldWith({ installed, sudo: 'sudo -n' }, ...hostile, 'curl')

  expect(lines.at(-1)).toBe('hold curl')
})

test('the cache is cleaned, and the free space before and after is told', async () => {
  const { env } = await programs({
    df: `kib=5120; [ ! -e "$FOLDER/clean" ] || kib=6758
      echo 'Filesystem 1024-blocks Used Available Capacity Mounted on'; echo "/dev/x 9000 1 $kib 1% /"`,
    'apt-get': `[ "$*" = clean ] && : >"$FOLDER/clean"`,
  })

  expect(await shell(env, CLEAN, 'sudo -n')).toMatchObject({
    status: 0,
    lines: ['Free space before: 5.0 MiB', 'Free space after: 6.5 MiB'],
  })
})
