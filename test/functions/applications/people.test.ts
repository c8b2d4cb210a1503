import { describe, expect, test } from 'vitest'
import { peopleReport } from '../../../functions/applications/people.ts'
import { shells } from '../protection/look.ts'
import { stacks } from './compose-stand-in.ts'

/** The output of flatpak 1.14 without a terminal. */
const FLATPAK = `case "$*" in
  'list --system --columns=ref,version,active')
    printf 'org.gnome.Maps/x86_64/stable\\t48.1\\t0a1b2c3d4e5f\\norg.freedesktop.Platform/x86_64/24.08\\tfreedesktop-sdk-24.08.20\\t111111111111\\norg.example.Plain/x86_64/stable\\t\\t222222222222\\n' ;;
  'remote-ls --system --updates --columns=ref,version,commit')
    printf 'app/org.gnome.Maps/x86_64/stable\\t48.2\\tffffffffffff\\napp/org.example.Plain/x86_64/stable\\t\\t333333333333\\n' ;;
  *) echo "error: Unknown option" >&2; exit 1 ;;
esac`
/** The output of snap 2.66. */
const SNAP = `case "$*" in
  'list --unicode=never --color=never')
    cat <<'X'
Name      Version        Rev    Tracking       Publisher    Notes
core22    20250612       2045   latest/stable  canonical**  base
firefox   140.0.1-1      6436   latest/stable  mozilla**    held
X
    ;;
  'refresh --list --unicode=never --color=never')
    cat <<'X'
Name     Version    Rev   Size   Publisher  Notes
firefox  141.0-2    6565  256MB  mozilla**  -
X
    ;;
  *) echo 'error: unknown flag' >&2; exit 1 ;;
esac`
const UP_TO_DATE = SNAP.replace(/cat <<'X'\nName {5}Version {4}[\s\S]*?X\n/, `echo 'All snaps up to date.' >&2\n`)

const people = (programs: Record<string, string>, shell = 'sh') =>
  stacks({ containers: [], images: {}, tags: {}, registry: {}, configs: {} }, { programs, shell })

describe('a look', () => {
  test.for(shells)('lists what flatpak and snap have, and what is newer, in %s', async (shell) => {
    const host = await people({ flatpak: FLATPAK, snap: SNAP }, shell)

    const report = peopleReport(await host.people())

    expect(report?.problems).toEqual([])
    expect(report?.applications.map(({ id, name, version, available }) => [id, name, version, available])).toEqual([
      ['flatpak:org.gnome.Maps/x86_64/stable', 'org.gnome.Maps', '48.1 (0a1b2c3d4e5f)', '48.2 (ffffffffffff)'],
      [
        'flatpak:org.freedesktop.Platform/x86_64/24.08',
        'org.freedesktop.Platform',
        'freedesktop-sdk-24.08.20 (111111111111)',
        null,
      ],
      ['flatpak:org.example.Plain/x86_64/stable', 'org.example.Plain', '222222222222', '333333333333'],
      ['snap:core22', 'core22', '20250612 (2045)', null],
      ['snap:firefox', 'firefox', '140.0.1-1 (6436)', '141.0-2 (6565)'],
    ])
    expect(report?.applications.every(({ updatable, source }) => !updatable && source === null)).toBe(true)
    expect(await host.leftBehind()).toEqual([])
  })

  test('understands that all snaps are up to date, which is said on stderr', async () => {
    const host = await people({ snap: UP_TO_DATE })

    const report = peopleReport(await host.people())

    expect(report?.problems).toEqual([])
    expect(report?.applications.map(({ available }) => available)).toEqual([null, null])
  })

  test('has nothing where neither is installed, and makes no folder', async () => {
    const host = await people({})

    expect(await host.people()).toEqual(['code|0'])
    expect(peopleReport(['code|0'])).toEqual({ applications: [], problems: [] })
  })

  test.each<[string, Record<string, string>, string, string]>([
    [
      'a remote that cannot be reached',
      {
        flatpak: FLATPAK.replace(
          /printf 'app[^;]*;;/,
          `echo 'error: Unable to load summary from remote flathub: https://me:secret@x|y' >&2; exit 1 ;;`,
        ),
      },
      'flatpak',
      'error: Unable to load summary from remote flathub: https://x/y',
    ],
    [
      'a snapd that does not run',
      { snap: `echo 'error: cannot communicate with server: connection refused' >&2; exit 1` },
      'snap',
      'error: cannot communicate with server: connection refused',
    ],
    [
      'other columns of flatpak',
      { flatpak: FLATPAK.replaceAll('\\t48', ' 48') },
      'flatpak',
      'some of its lines cannot be read',
    ],
    ['other columns of snap', { snap: SNAP.replaceAll('Name ', 'Nom  ') }, 'snap', 'some of its lines cannot be read'],
    [
      'a line of snap without a column',
      { snap: SNAP.replace('latest/stable  mozilla** ', '') },
      'snap',
      'some of its lines cannot be read',
    ],
  ])('tells of %s, which is not up to date', async (_, programs, kind, message) => {
    const host = await people(programs)

    const report = peopleReport(await host.people())

    expect(report?.problems).toContainEqual({ kind, name: null, message })
  })

  test('takes control characters and separators from what a program prints', async () => {
    const host = await people({ snap: SNAP.replace('140.0.1-1 ', '1\u001b[31m|2   ') })

    const report = peopleReport(await host.people())

    expect(report?.applications[1]?.version).toBe('1[31m/2 (6436)')
  })
})

test.each<[string, string[]]>([
  ['that has failed', ['code|1']],
  ['without its end', ['snap|a|1|2']],
  ['with another word', ['deb|a|1|2', 'code|0']],
  ['with a field too many', ['snap|a|1|2|3', 'code|0']],
  ['with an empty field', ['snap|a||2', 'code|0']],
  ['with a name that is none', ['snap|-a|1|2', 'code|0']],
  ['with a problem of another program', ['problem|apt|x', 'code|0']],
  ['that is too long', [...Array.from({ length: 5_000 }, (_, at) => `snap|a${at}|1|2`), 'code|0']],
])('an answer %s cannot be read', (_, lines) => {
  expect(peopleReport(lines)).toBeUndefined()
})

test('what is newer of something that is not in the list is a problem, and no application', () => {
  expect(peopleReport(['snap_newer|a|1|2', 'code|0'])).toEqual({
    applications: [],
    problems: [{ kind: 'snap', name: 'a', message: 'it was not in the list of what is installed' }],
  })
})
