import { describe, expect, test } from 'vitest'
import { changesOf } from '../../../functions/managers/managed-lines.ts'
import { hashOf, NOTHING, pacmanWith, REPLACES, SHELLS, UPGRADES, URIS } from './pacman-stand-in.ts'

const PAC = 'change\tupgrade\trig-pac\tx86_64\t1.0-1\t2.0-1\trepo\t0\t333\t1572864\trig-pac'
const PLAN = hashOf('upgrade rig-pac:x86_64 1.0-1 2.0-1')

describe.each(SHELLS)('in %s', (shell) => {
  test('more repositories than are read are told as such, and nothing is computed or changed without their lists', async () => {
    const { ask, read, write } = await pacmanWith(shell)
    const many = (count: number) =>
      `${Array.from({ length: count - 2 }, (_, n) => `[r${n}]\nServer = file:///srv/r${n}\n`).join('')}`
    const [own, lists] = [
      await read('pacman.conf'),
      'for n in $(seq 0 300); do echo "$n" >"$FOLDER/server/r$n.db"; done; ',
    ]
    await write({ 'pacman.conf': own + many(200) })
    const enough = await ask(`${lists}pacman_refresh; pacman_changes all keep every`)
    await write({ 'pacman.conf': own + many(201), calls: '' })

    const refreshed = await ask('pacman_refresh')
    const changes = await ask('pacman_changes all keep every; pacman_left')
    const run = await ask(`hash=${PLAN}; pacman_run all keep every`)

    expect(enough.lines.slice(200)).toEqual(['lists\t200', 'code\t0', PAC, 'code\t0'])
    expect(refreshed.lines.slice(199)).toEqual(['repository\tr197\tfile:///srv/r197', 'crowded', 'lists\t0', 'code\t1'])
    expect(changes.lines).toEqual(['crowded', 'code\t1', 'code\t1'])
    expect(run).toMatchObject({
      status: 75,
      lines: ['ops-panel: more repositories are configured than this panel reads.'],
    })
    expect(await read('calls')).toBe('')
  })

  test('a refresh writes a copy, and pacman’s own lists stay', async () => {
    const { ask, read, has, write, age } = await pacmanWith(shell)
    await write({ 'data/sync/repo.db': 'own repo', 'data/sync/extra.db': 'own extra' })
    await age('data/sync/repo.db', -60)
    await age('data/sync/extra.db', -60)

    const { lines } = await ask('pacman_refresh')

    expect(lines).toEqual([
      'repository\trepo\tfile:///srv/repo',
      'repository\textra\tfile:///srv/extra',
      'lists\t2',
      'code\t0',
    ])
    expect(await read('copy/sync/repo.db')).toBe('newer repo')
    expect(await read('data/sync/repo.db')).toBe('own repo')
    expect(has('data/db.lck')).toBe(false)
  })

  test('a repository that fails is named with pacman’s code, and the lists of the others do not go ahead of its own', async () => {
    const { ask, read, write, remove } = await pacmanWith(shell)
    await ask('pacman_refresh')
    await write({ 'server/repo.db': 'newest repo' })
    await remove('server/extra.db')

    const { lines } = await ask('pacman_refresh')

    expect(lines.slice(2)).toEqual([
      "failed\t1\textra\tfailed retrieving file 'extra.db' from disk : Could not open file /srv/extra/extra.db; failed to synchronize all databases (download library error)",
      'lists\t2',
      'code\t1',
    ])
    expect(await read('copy/sync/repo.db')).toBe('newer repo')
  })

  test('an upgrade, an installation, and a removal are told as pacman is about to make them', async () => {
    const { ask, has, write, read } = await pacmanWith(shell)
    await write({ simulation: REPLACES })

    const { lines } = await ask('pacman_changes all remove every')

    expect(lines).toEqual([
      'change\tinstall\trig-new\tany\t-\t1:2.0-1\trepo\t0\t345\t0\trig-new',
      'change\tremove\trig-old\tany\t1.0-1\t-\t-\t0\t0\t-5001708\trig-old',
      PAC,
      'change\tinstall\trig-v1\tany\t-\t1-1\textra\t0\t336\t0\trig-v1',
      'code\t0',
    ])
    expect(has('downloaded')).toBe(false)
    const simulation = (await read('calls')).split('\n').find((call) => call.startsWith('-Su '))
    expect(simulation).toMatch(/^-Su --noconfirm --ask 69 /)
  })

  test('what would remove a package is no upgrade without removals, and pacman makes nothing less', async () => {
    const { ask, write } = await pacmanWith(shell)
    await write({ simulation: REPLACES })

    expect((await ask('pacman_changes all keep every')).lines).toEqual([
      'problem\tthis upgrade removes: rig-old (pacman makes it whole or not at all)',
      'code\t0',
    ])
    expect((await ask('pacman_left')).lines).toEqual([
      'left\tkept_back_remove\trig-pac\tx86_64\t1.0-1\t2.0-1\trepo\t0',
      'code\t0',
    ])
  })

  test('a package that HoldPkg names is not removed', async () => {
    const { ask, write, read } = await pacmanWith(shell)
    await write({ simulation: REPLACES, 'pacman.conf': `${await read('pacman.conf')}`.replace('= pacman', '= rig-o*') })

    expect((await ask('pacman_changes all remove every')).lines).toEqual([
      'problem\tthis upgrade removes rig-old, which HoldPkg of pacman.conf protects',
      'code\t0',
    ])
  })

  test('an upgrade that pacman refuses is told with its reasons, and keeps everything back', async () => {
    const { ask, write } = await pacmanWith(shell)
    await write({
      simulation:
        ':: Starting full system upgrade...\n:: a-2 and b-1 are in conflict. Remove b? [y/N] \n:: a-2 and b-1 are in conflict\n',
      errors:
        'error: unresolvable package conflicts detected\nerror: failed to prepare transaction (conflicting dependencies)\n',
      newer: 'rig-pac 1.0-1 -> 2.0-1\nrig-old 1.0-1 -> 1.1-1 [ignored]\n',
      'pacman.conf': '[options]\nIgnorePkg = rig-o*\nIgnoreGroup = rig\n[repo]\n',
    })

    expect((await ask('pacman_changes all keep every')).lines).toEqual([
      'problem\tunresolvable package conflicts detected',
      'problem\tfailed to prepare transaction (conflicting dependencies)',
      'problem\ta-2 and b-1 are in conflict',
      'code\t0',
    ])
    expect((await ask('pacman_left')).lines).toEqual([
      'left\tkept_back_dependencies\trig-pac\tany\t1.0-1\t2.0-1\t-\t0',
      'left\theld\trig-old\tany\t1.0-1\t1.1-1\t-\t0',
      'hold\trig-o*',
      'hold\trig',
      'code\t0',
    ])
  })

  test.each(['security keep every', 'all keep these rig-pac', 'all remove without rig-pac'])(
    'a partial upgrade (%s) is not made',
    async (selection) => {
      const { ask, read } = await pacmanWith(shell)

      expect((await ask(`pacman_changes ${selection}`)).lines).toEqual(['unsupported'])
      expect((await ask(`managed_run ${PLAN} ${selection}`)).status).toBe(75)
      expect(await read('calls')).toBe('')
    },
  )

  test('without an update nothing is told, and a simulation that breaks off is no answer', async () => {
    const { ask, write } = await pacmanWith(shell)
    await write({ simulation: NOTHING, errors: '', simulated: '0', newer: '' })
    expect((await ask('pacman_changes all keep every')).lines).toEqual(['code\t0'])
    expect((await ask('pacman_left')).lines).toEqual(['code\t0'])

    await write({ simulation: ':: Starting full system upgrade...\n' })
    expect((await ask('pacman_changes all keep every')).lines).toEqual(['code\t70'])
    await write({ simulated: '137' })
    expect((await ask('pacman_changes all keep every')).lines).toEqual(['code\t137'])
    // The simulation must end at its download.
    await write({ simulation: UPGRADES, simulated: '0' })
    expect((await ask('pacman_changes all keep every')).lines).toEqual(['code\t70'])
  })

  test('a list that pacman cannot read is not an empty one', async () => {
    const { ask, write } = await pacmanWith(shell)
    const errors = 'error: repo database is inconsistent: filename of package rig-pac is illegal\n'
    await write({ simulation: NOTHING, errors, simulated: '0' })

    expect((await ask('pacman_changes all keep every')).lines).toEqual([
      'problem\trepo database is inconsistent: filename of package rig-pac is illegal',
      'code\t0',
    ])

    await write({ gone: errors, ends: '0' })
    expect((await ask('managed_upgrade')).status).toBe(1)
  })

  test.each([
    ['a name with a space', UPGRADES.replace('repo/rig-pac ', 'repo/rig pac')],
    ['a command as a version', UPGRADES.replace('2.0-1 ', '$(id)-1')],
    ['a version that no list has', UPGRADES.replace('2.0-1 ', '9.0-1 ')],
    ['an installed version that is not there', UPGRADES.replace('1.0-1 ', '0.9-1 ')],
    ['a path as a name', REPLACES.replace('rig-old  ', '../rig-old')],
    ['a row too few', UPGRADES.replace('(1)', '(2)')],
    ['a row too many', UPGRADES.replace('(1)', '(0)')],
    ['a number of rows that does not end', UPGRADES.replace('(1)', `(${'9'.repeat(100)})`)],
  ])('%s makes the whole answer a problem', async (_, simulation) => {
    const { ask, write } = await pacmanWith(shell)
    await write({ simulation })

    expect((await ask('pacman_changes all remove every')).lines).toEqual([
      'problem\tthe name or the version of a package cannot be read',
      'code\t0',
    ])
  })

  test('broken dependencies and what an interrupted run has left are told', async () => {
    const { ask, write, age } = await pacmanWith(shell)
    await write({
      verified: `error: missing 'libx>=2' dependency for 'rig-pac'
error: 'a' conflicts with 'b'
error: 'rig-keep-2.0-1': description file is missing
error: duplicated database entry 'rig-con'
error: local database is inconsistent: version mismatch on package rig-con
warning: something else
`,
      'data/db.lck': '',
    })
    await age('data/db.lck', -10)

    const { lines } = await ask('pacman_verify')

    expect(lines.slice(0, 5)).toEqual([
      'broken\trig-pac\tmissing libx>=2',
      'broken\ta\tin conflict with b',
      'unfinished\trig-keep-2.0-1\tdescription file is missing',
      'unfinished\trig-con\tinstalled twice',
      'unfinished\t-\tlocal database is inconsistent: version mismatch on package rig-con',
    ])
    expect(lines[5]).toMatch(/^unfinished\t-\tan interrupted run has left the lock .*db\.lck/)
    expect(lines.slice(6)).toEqual(['code\t0'])
  })
})

const HOSTILE = [
  '$(touch "$FOLDER/owned")',
  '`touch "$FOLDER/owned"`',
  ';touch "$FOLDER/owned";',
  "'",
  '|',
  '\t',
  '\u001b[2J',
  '\\n',
  '--',
  '../..',
  'é',
  'MiB',
  ' 1.00 MiB',
  '[removal]',
  '%s',
  '9'.repeat(400),
  'a'.repeat(5_000),
]

test.each(HOSTILE.map((word) => [word.slice(0, 30), word]))(
  '%j in any place of pacman’s table is a problem, or part of a readable answer',
  async (_, word) => {
    const { ask, write, has } = await pacmanWith()
    for (const place of ['repo/', 'rig-pac', '1.0-1', '2.0-1', '1.50', 'Package (1)'])
      for (const text of [word, `${place}${word}`]) {
        await write({ simulation: UPGRADES.replace(place, () => text), uris: URIS.replaceAll(place, () => text) })

        const { lines } = await ask('pacman_changes all keep every')

        const told = await changesOf(lines.map((line) => line.replaceAll('\t', '|')))
        expect({ text, code: told?.code }).toEqual({ text, code: 0 })
      }
    expect(has('owned')).toBe(false)
  },
)

test('a table of more packages than any system has is a problem, and takes no time', async () => {
  const { ask, write } = await pacmanWith()
  const rows = Array.from({ length: 30_000 }, (_, at) => `repo/many${at}  1-1  2-1  0.00 MiB  0.00 MiB`)
  await write({
    simulation: `\nPackage (30000)  Old Version\n\n${rows.join('\n')}\n\n:: Proceed with installation? [Y/n] \n`,
  })
  const began = Date.now()

  const { lines } = await ask('pacman_changes all keep every')

  expect(lines).toEqual(['problem\tthe name or the version of a package cannot be read', 'code\t0'])
  expect(Date.now() - began).toBeLessThan(10_000)
})
