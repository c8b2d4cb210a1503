import { existsSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DIFFERS_END, DIFFERS_MARK, RUN_CODES } from '../../../functions/managers/agreement.ts'
import { planHash } from '../../../functions/plans/plan.ts'
import { dnfWith, LINES, OBSOLETING, SHELLS, TABLE } from './dnf-stand-in.ts'

const AGREES = 'ops-panel-plan: dnf does exactly what was planned.'
const hash = planHash(LINES)

test.each(SHELLS)('%s reads the table of dnf5: epochs, new packages, security updates and sizes', async (sh) => {
  const { ask, write } = await dnfWith(5, sh)
  await write('answer.table', TABLE)
  await write('installed', 'rig-conf noarch 1.0-1\nrig-epoch noarch 1.0-1\n')
  await write(
    'answer.available',
    'about rig-conf noarch 2.0-1 6541 14 conf-src\nabout rig-new noarch 1.0-1 6540 4 rig-new\n',
  )
  await write(
    'answer.advisory',
    'Name       Type     Severity  Package Issued\nRIG-2026-1 security Important rig-conf-2.0-1.noarch 2026-01-05 00:00:00\n',
  )

  const { lines } = await ask('dnf_changes all keep every')

  expect(lines).toEqual([
    'change\tupgrade\trig-conf\tnoarch\t1.0-1\t2.0-1\trig\t1\t6541\t4\tconf-src',
    'change\tupgrade\trig-epoch\tnoarch\t1.0-1\t1:0.5-1\trig\t0\t-\t-\t-',
    'change\tinstall\tkernel-core\tnoarch\t-\t3.0-1\trig\t0\t-\t-\t-',
    'change\tinstall\trig-new\tnoarch\t-\t1.0-1\trig\t0\t6540\t4\trig-new',
    'code\t0',
  ])
})

test('without removals, dnf5 leaves out what drives out others, until nothing is', async () => {
  const { ask, write, calls } = await dnfWith(5)
  await write(
    'answer.table.0',
    OBSOLETING.replace(/Removing dependent.*\n.*\n/, '').replace(' Removing:           1 package\n', ''),
  )
  await write('answer.table.1', TABLE)

  const { lines } = await ask('dnf_changes all keep every | cut -f 2,3')

  expect(lines).toEqual(['upgrade\trig-conf', 'upgrade\trig-epoch', 'install\tkernel-core', 'install\trig-new', '0'])
  expect((await calls()).filter((call) => call.includes('--assumeno')).at(-1)).toContain(
    '--exclude=rig-obs-0:2.0-1.noarch --exclude=rig-replace-0:1.0-1.noarch',
  )
})

test('with removals, dnf5 tells each package that goes', async () => {
  const { ask, write } = await dnfWith(5)
  await write('answer.table', OBSOLETING)

  const { lines } = await ask('dnf_changes all remove every | cut -f 2-6')

  expect(lines.sort()).toEqual([
    '0',
    'install\trig-replace\tnoarch\t-\t1.0-1',
    'remove\trig-gone\tnoarch\t1.0-1\t-',
    'remove\trig-needs-gone\tx86_64\t1.0-1\t-',
    'remove\trig-other\tnoarch\t1.0-1\t-',
    'upgrade\trig-obs\tnoarch\t1.0-1\t2.0-1',
  ])
})

test('a package that is left out is never removed instead', async () => {
  const { ask, write, calls } = await dnfWith(5)
  await write('answer.table.0', OBSOLETING)
  await write('answer.table.1', OBSOLETING)
  await write('answer.table.2', TABLE)

  await ask('dnf_changes all remove without rig-gone:noarch')

  const asked = (await calls()).filter((call) => call.includes('--assumeno'))
  expect(asked[0]).toContain('--allowerasing')
  expect(asked[1]).toContain('--allowerasing')
  expect(asked[2]).not.toMatch(/--allowerasing|best=1/)
})

test('with removals, dnf5 is asked for what it would leave out, but for what lacks something', async () => {
  const [possible, refused] = [await dnfWith(5), await dnfWith(5)]
  for (const { write } of [possible, refused]) await write('answer.table.0', TABLE)
  await possible.write('answer.table.1', OBSOLETING)
  await refused.write('answer.table', 'Failed to resolve the transaction:\n')

  const all = await possible.ask('dnf_changes all remove every | cut -f 3')
  const first = await refused.ask('dnf_changes all remove every | cut -f 3')

  expect((await possible.calls()).filter((call) => call.includes('--assumeno')).at(-1)).toContain(
    '--setopt=best=1 --exclude=rig-dep-2.0-1.noarch',
  )
  expect(all.lines).toContain('rig-obs')
  expect(first.lines).toEqual(['rig-conf', 'rig-epoch', 'kernel-core', 'rig-new', ''])
})

test.each<[selection: string, contains: string, missing: string]>([
  ['security keep every', 'upgrade --assumeno --security --setopt=installonly_limit=0', '--allowerasing'],
  ['all keep these rig-conf:noarch absent', ' rig-conf.noarch', 'absent'],
  ['all keep without a b:noarch', '--exclude=a --exclude=b.noarch', '--allowerasing'],
  ['all remove every', 'upgrade --assumeno --allowerasing', '--exclude'],
])('the selection %s', async (selection, contains, missing) => {
  const { ask, write, calls } = await dnfWith(5)
  await write('installed', 'rig-conf noarch 1.0-1\n')
  await write('answer.table', TABLE)

  await ask(`dnf_changes ${selection}`)

  const [asked] = (await calls()).filter((call) => call.includes('--assumeno'))
  expect(asked).toContain(contains)
  expect(asked).not.toContain(missing)
})

test.each(['all keep these "a;b"', 'all keep these -y', 'all keep these "a b"', 'other keep every', 'all keep'])(
  'dnf5 does not take the selection %s',
  async (selection) => {
    const { ask, calls } = await dnfWith(5)

    const { lines } = await ask(`dnf_changes ${selection}`)

    expect(lines).toEqual(['unsupported', 'code\t1'])
    expect(await calls()).toEqual([])
  },
)

test('an answer without a table is a problem with the words of dnf5, and nothing to do is none', async () => {
  const failed = await dnfWith(5)
  await failed.write('answer.table', 'Failed to resolve the transaction:\nProblem: nothing provides x\n')
  const idle = await dnfWith(5)
  await idle.write('answer.table', 'Updating and loading repositories:\nRepositories loaded.\nNothing to do.\n')

  expect((await failed.ask('dnf_changes all keep every')).lines).toEqual([
    'problem\tFailed to resolve the transaction: Problem: nothing provides x ',
    'code\t1',
  ])
  expect((await idle.ask('dnf_changes all keep every')).lines).toEqual(['code\t0'])
})

test('each upgrade that is left alone has its reason', async () => {
  const { ask, write } = await dnfWith(5)
  await write('answer.table.0', OBSOLETING)
  await write('answer.table.1', OBSOLETING)
  await write('answer.table.2', TABLE)
  await write('installed', 'rig-conf noarch 1.0-1\nrig-obs noarch 1.0-1\nrig-held noarch 1.0-1\nrig-dep noarch 1.0-1\n')
  await write(
    'answer.seen',
    'seen rig-conf noarch 2.0-1 rig\nseen rig-obs noarch 2.0-1 rig\nseen rig-dep noarch 2.0-1 rig\n',
  )
  await write(
    'answer.every',
    'all rig-conf noarch 2.0-1 rig\nall rig-obs noarch 2.0-1 rig\nall rig-held noarch 2.0-1 rig\nall rig-dep noarch 2.0-1 rig\n',
  )
  await write('answer.advisory', 'RIG-2026-1 security Important rig-held-2.0-1.noarch 2026-01-05 00:00:00\n')

  const { lines } = await ask('dnf_left')

  expect(lines.toSorted()).toEqual([
    'code\t0',
    'hold\trig-held',
    'left\theld\trig-held\tnoarch\t1.0-1\t2.0-1\trig\t1',
    'left\tkept_back_dependencies\trig-dep\tnoarch\t1.0-1\t2.0-1\trig\t0',
    'left\tkept_back_remove\trig-gone\tnoarch\t1.0-1\t-\t-\t0',
    'left\tkept_back_remove\trig-needs-gone\tx86_64\t1.0-1\t-\t-\t0',
    'left\tkept_back_remove\trig-obs\tnoarch\t1.0-1\t2.0-1\trig\t0',
    'left\tkept_back_remove\trig-other\tnoarch\t1.0-1\t-\t-\t0',
    'left\tkept_back_remove\trig-replace\tnoarch\t-\t1.0-1\trig\t0',
  ])
  expect(lines.at(-1)).toBe('code\t0')
})

test('each repository is refreshed by itself, and one that fails is named with the code of dnf5', async () => {
  const { ask, write, calls } = await dnfWith(5)
  await write('answer.list', 'repo id repo name\nbad     Bad\nrig     Rig\n')
  await write('answer.info', 'URLs :\n  Base URL           : https://mirror/x\n')
  await write(
    'answer.makecache-bad',
    ' bad 0%\nFailed to download metadata for repository "bad": Usable URL not found\n',
  )
  await write('code.makecache-bad', '1')

  const { lines } = await ask(
    'mkdir -p "$FOLDER/cache/rig-0/repodata"; : >"$FOLDER/cache/rig-0/repodata/repomd.xml"; dnf_refresh',
  )

  expect(lines).toEqual([
    'repository\tbad\thttps://mirror/x',
    'failed\t1\tbad\tFailed to download metadata for repository "bad": Usable URL not found ',
    'repository\trig\thttps://mirror/x',
    'lists\t1',
    'code\t1',
  ])
  expect((await calls()).filter((call) => call.includes('makecache')).join('\n')).toContain(
    '--setopt=bad.skip_if_unavailable=0',
  )
})

test('a list of repositories that dnf5 cannot tell is no success', async () => {
  const { ask, write } = await dnfWith(5)
  await write('code.list', '1')

  expect((await ask('dnf_refresh')).lines).toEqual(['code\t1'])
})

test.each(SHELLS)('%s answers the question of dnf5 with yes only after exactly the plan', async (sh) => {
  const { ask, write, calls, folder } = await dnfWith(5, sh)
  await write('answer.table', TABLE)
  await write('answer.run', TABLE)

  const { lines } = await ask(`hash=${hash}; dnf_run all keep every; echo "end $?"`)

  expect(lines).toContain(AGREES)
  expect(lines).toContain('Is this ok [y/N]: Running transaction')
  expect(lines.at(-1)).toBe('end 0')
  expect((await calls()).filter((call) => call.startsWith('answer'))).toEqual(['answer y'])
  expect(existsSync(join(folder, 'answer'))).toBe(false)
})

test('another transaction than the plan is refused, with what it would do', async () => {
  const { ask, write, calls } = await dnfWith(5)
  await write('answer.table', TABLE)
  await write('answer.run', TABLE.replaceAll('0:2.0-1', '0:2.1-1'))

  const { lines } = await ask(`hash=${hash}; dnf_run all keep every; echo "end $?"`)

  const begin = lines.indexOf(DIFFERS_MARK)
  expect(lines.slice(begin, lines.indexOf(DIFFERS_END) + 1)).toEqual([
    DIFFERS_MARK,
    ...LINES.map((line) => ` ${line.replace('1.0-1 2.0-1', '1.0-1 2.1-1')}`),
    DIFFERS_END,
  ])
  expect(lines.at(-1)).toBe(`end ${RUN_CODES.differs}`)
  expect((await calls()).filter((call) => call.startsWith('answer'))).toEqual(['answer n'])
})

test('a repository cannot put another table into a message', async () => {
  const { ask, write, calls } = await dnfWith(5)
  const other = TABLE.replaceAll('0:2.0-1', '0:2.1-1')
  await write('messages', `Problem: nothing provides x\n${TABLE}`)
  await write('answer.table', other)
  await write('answer.run', other)

  const planned = await ask('dnf_changes all keep every | cut -f 3,6')
  const run = await ask(`hash=${hash}; dnf_run all keep every; echo "end $?"`)

  expect(planned.lines).toContain('rig-conf\t2.1-1')
  expect(run.lines.at(-1)).toBe(`end ${RUN_CODES.differs}`)
  expect(await calls()).not.toContain('answer y')
})

test.each<[what: string, files: Record<string, string>, end: number]>([
  ['a download that fails', { 'answer.run': TABLE, cut: '' }, RUN_CODES.notBegun],
  ['a transaction that fails', { 'answer.run': TABLE, 'code.run': '3' }, 3],
  ['nothing to do any more', { 'answer.run': 'Nothing to do.\n', silent: '' }, RUN_CODES.differs],
  ['an end before the question', { 'answer.run': 'Failed to load\n', silent: '', 'code.run': '1' }, RUN_CODES.notBegun],
  ['a question without a table', { 'answer.run': 'Another table\n' }, RUN_CODES.notBegun],
  ['a transaction that nobody has agreed to', { 'answer.run': 'Running transaction\n', silent: '' }, RUN_CODES.unbound],
])('%s ends with its code', async (_, files, end) => {
  const { ask, write, calls } = await dnfWith(5)
  await write('answer.table', TABLE)
  for (const [name, content] of Object.entries(files)) await write(name, content)

  const { lines } = await ask(`hash=${hash}; dnf_run all keep every; echo "end $?"`)

  expect(lines.at(-1)).toBe(`end ${end}`)
  if (!('cut' in files) && !('code.run' in files && !('silent' in files)))
    expect(await calls()).not.toContain('answer y')
})

test.each<[keys: string, count: number]>([
  ['  Keys               : file:///etc/pki/a file:///etc/pki/b', 20],
  ['  Keys               : file:///etc/pki/a https://mirror/key', 0],
])('keys are imported without a person only where they are files: %s', async (keys, count) => {
  const { ask, write, calls } = await dnfWith(5)
  await write('answer.table', TABLE)
  await write('answer.run', TABLE)
  await write('answer.info', `OpenPGP :\n${keys}\n`)

  await ask(`hash=${hash}; dnf_run all keep every`)

  expect((await calls()).filter((call) => call === 'key y')).toHaveLength(count)
})

test('no table that differs in any byte that counts is agreed to, and none is run as a command', async () => {
  const words = [
    'Upgrading:',
    'Installing:',
    'Removing:',
    ' rig-conf noarch 0:2.0-1 rig 4.0 B',
    '   replacing rig-conf noarch 0:1.0-1 x 4 B',
  ]
  const evil = [
    '$(touch "$FOLDER/owned")',
    '`touch "$FOLDER/owned"`',
    "'; touch $FOLDER/owned; '",
    '\\',
    '%s%n',
    '\t',
    'Transaction Summary:',
    '',
  ]
  const line = fc.oneof(fc.constantFrom(...words, ...evil), fc.string({ unit: 'binary', maxLength: 60 }))
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 30 }), async (lines) => {
      const { ask, write, calls, folder } = await dnfWith(5)
      const text = `Package Arch Version Repository Size\n${lines.join('\n')}\n\nTransaction Summary:\n Upgrading: 1 package\n\n`
      await write('answer.table', TABLE)
      await write('answer.run', text)

      const run = await ask(`hash=${hash}; dnf_run all keep every; echo "end $?"`)

      expect(run.lines.at(-1)).toMatch(/^end (65|75)$/)
      expect(await calls()).not.toContain('answer y')
      expect(existsSync(join(folder, 'owned'))).toBe(false)
      expect(run.ms).toBeLessThan(20_000)
    }),
    { numRuns: 12, seed: 24 },
  )
})
