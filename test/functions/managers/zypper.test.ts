import { describe, expect, test } from 'vitest'
import { hashOf, PATCH_INFO, PATCHES, planned, zypperWith } from './zypper-stand-in.ts'

const UP = {
  a: 'upgrade a:noarch 1.0-1 2.0-1',
  b: 'upgrade b:noarch 1.0-1 2.0-1',
  c: 'upgrade c:noarch 1.0-1 1:2.0-1',
  newdep: 'install newdep:noarch - 1.0-1',
  'lib+x': 'upgrade lib+x:noarch 1.0-1 1.1-1',
  old: 'remove old:noarch 1.0-1 -',
}
type Name = keyof typeof UP
const linesOf = (...names: Name[]) => names.map((name) => UP[name]).sort()

test('tells what an upgrade changes, the security updates, where they come from, and the sizes of all', async () => {
  const { ask, answer } = await zypperWith()
  await answer('list-patches', PATCHES)
  await answer('info', PATCH_INFO)

  const { lines } = await ask('zypper_changes all remove every')

  expect(lines).toEqual([
    'change\tupgrade\ta\tnoarch\t1.0-1\t2.0-1\trig\t0\t-\t-\t-',
    'change\tupgrade\tb\tnoarch\t1.0-1\t2.0-1\trig\t0\t-\t-\t-',
    'change\tupgrade\tc\tnoarch\t1.0-1\t1:2.0-1\trig\t1\t-\t-\t-',
    'change\tupgrade\tlib+x\tnoarch\t1.0-1\t1.1-1\trig\t0\t-\t-\t-',
    'change\tinstall\tnewdep\tnoarch\t-\t1.0-1\t-\t0\t-\t-\t-',
    'change\tremove\told\tnoarch\t1.0-1\t-\t-\t0\t-\t-\t-',
    'total\t6000\t-6',
    'code\t0',
  ])
})

test.each<[selection: string, names: Name[]]>([
  ['all keep every', ['a', 'c', 'newdep', 'lib+x']],
  ['all remove every', ['a', 'b', 'c', 'newdep', 'lib+x', 'old']],
  ['all keep these c', ['c', 'newdep']],
  ['all keep these a:noarch lib+x', ['a', 'lib+x']],
  ['all keep these b', []],
  ['all remove these b', ['b', 'old']],
  ['all keep these absent', []],
  ['all keep without a', ['c', 'newdep', 'lib+x']],
  ['all keep without newdep', ['a', 'lib+x']],
  ['all remove without old', ['a', 'c', 'newdep', 'lib+x']],
  ['security keep every', ['c', 'newdep']],
  ['security keep these a', []],
  ['security keep without newdep', []],
])('the selection %s takes %j', async (selection, names) => {
  const { ask, answer, file } = await zypperWith()
  await answer('list-patches', PATCHES)
  await answer('info', PATCH_INFO)

  const { lines } = await ask(`zypper_changes ${selection}`)

  expect(planned(lines)).toEqual(linesOf(...names))
  expect(lines.at(-1)).toBe('code\t0')
  // A package that is named would be marked as wanted by the user: only a trial may name it.
  expect(
    (await file('calls')).split('\n').filter((call) => / update .* -- ./.test(call) && !/--dry-run -- /.test(call)),
  ).toEqual([])
})

test('does not take a name that no package has', async () => {
  const { ask, file } = await zypperWith()

  const { lines } = await ask(`zypper_changes all keep these 'a;touch "$FOLDER/owned"'`)

  expect(lines).toEqual(['unsupported'])
  expect(await file('calls')).toBe('')
})

test('leaves out what the target has locked, and tells why each upgrade is left alone', async () => {
  const { ask, answer } = await zypperWith()
  const match = (installed: boolean, kind = 'package') =>
    `<match kind="${kind}" name="lib+x" edition="1.0-1" arch="noarch" installed="${installed}" repo="@System"></match>`
  await answer(
    'locks',
    `<?xml version='1.0'?>\n<stream>\n<locks size="1"><lock number="1"><name>lib*</name><type>package</type><matches size="2">${match(false)}\n${match(true)}\n</matches></lock>\n</locks></stream>\n`,
  )
  await answer('list-patches', PATCHES)
  await answer('info', PATCH_INFO)
  const { lines: all } = await ask('zypper_changes all keep every')
  const trial = all.filter((line) => !line.includes('lib+x'))
  await answer(
    'trial',
    `<?xml version='1.0'?>\n<stream>\n<install-summary download-size="0" space-usage-diff="0" packages-to-change="1">\n<to-upgrade>\n<solvable type="package" name="a" edition="2.0-1" arch="noarch" edition-old="1.0-1" arch-old="noarch"/>\n</to-upgrade>\n</install-summary>\n</stream>\n`,
  )

  const { lines } = await ask('zypper_left')

  expect(trial).toHaveLength(5)
  expect(lines).toEqual([
    'hold\tlib+x',
    'left\tkept_back_dependencies\tb\tnoarch\t1.0-1\t2.0-1\trig\t0',
    'left\tkept_back_dependencies\tc\tnoarch\t1.0-1\t1:2.0-1\trig\t1',
    'left\theld\tlib+x\tnoarch\t1.0-1\t1.1-1\trig\t0',
    'code\t0',
  ])
})

test('an upgrade that only a removal lets through is kept back by it, and so is the removal', async () => {
  const { ask } = await zypperWith()

  expect((await ask('zypper_left')).lines).toEqual([
    'left\tkept_back_remove\tb\tnoarch\t1.0-1\t2.0-1\trig\t0',
    'left\tkept_back_remove\told\tnoarch\t1.0-1\t-\t-\t0',
    'code\t0',
  ])
})

describe('the verification', () => {
  test('names unmet dependencies and packages of two versions', async () => {
    const { ask, answer, write, file } = await zypperWith()
    await answer(
      'verify',
      `<?xml version='1.0'?>\n<stream>\n<prompt id="1">\n<description>Problem: nothing provides gone needed by the installed c-1.0-1.noarch\n Solution 1: deinstallation of c-1.0-1.noarch\n</description>\n</prompt>\n</stream>\n`,
      4,
    )
    await write(
      'answer.rpm',
      'Unsatisfied dependencies for c-1.0-1.noarch:\n\tgone is needed by (installed) c-1.0-1.noarch\n',
    )
    await write('installed', `${await file('installed')}a 1.1-1\n`)

    expect((await ask('zypper_verify')).lines).toEqual([
      'broken\tc\tgone is needed by (installed) c-1.0-1.noarch',
      'unfinished\ta\tinstalled in more than one version',
      'code\t0',
    ])
  })

  test('a sound system has neither', async () => {
    const { ask } = await zypperWith()
    expect((await ask('zypper_verify')).lines).toEqual(['code\t0'])
  })

  test('a verification that cannot be read is not a sound system', async () => {
    const { ask, answer } = await zypperWith()
    await answer(
      'verify',
      `<?xml version='1.0'?>\n<stream>\n<install-summary packages-to-change="1">\n</install-summary>\n</stream>\n`,
    )
    expect((await ask('zypper_verify')).lines).toEqual(['code\t1'])
  })

  test('a database that rpm cannot read is not a sound system', async () => {
    const { ask } = await zypperWith()
    expect((await ask('rpm() { return 1; }; limited() { shift; "$@"; }; zypper_verify')).lines).toEqual(['code\t1'])
  })
})

/** Pairs in the order of rpm's own test of its comparison (rpmvercmp.at), and of editions with epoch and release. */
const ORDER: [smaller: string, greater: string][] = [
  ['1.0', '2.0'],
  ['2.0', '2.0.1'],
  ['2.0.1', '2.0.1a'],
  ['5.5p1', '5.5p10'],
  ['10xyz', '10.1xyz'],
  ['xyz10', 'xyz10.1'],
  ['xyz.4', '8'],
  ['1.0a', '1.0aa'],
  ['10a2', '10b2'],
  ['1.0010', '1.11'],
  ['4.999.9', '5.0'],
  ['1.0~rc1', '1.0'],
  ['1.0~rc1', '1.0~rc2'],
  ['1.0~rc1~git123', '1.0~rc1'],
  ['1.0', '1.0^'],
  ['1.0', '1.0^git1'],
  ['1.0^git1', '1.0.1'],
  ['1.0^20160101', '1.0^20160102'],
  ['1.0~rc1^git1', '1.0'],
  ['2.0-1', '1:1.0-1'],
  ['1.0-9', '1.0-10'],
  ['1.0-1.2', '1.0-1.10'],
  ['1.0-150400.3.1', '1.0-150400.3.11'],
  ['a', '1'],
]

test('editions are in the order of rpm', async () => {
  const { ask } = await zypperWith()
  const pairs = [
    ...ORDER,
    ...ORDER.map(([smaller, greater]): [string, string] => [greater, smaller]),
    ['2.0', '2_0'],
    ['1.05', '1.5'],
    ['0:1-1', '1-1'],
  ]

  const { lines } = await ask(
    `zypper_begin; printf '%s\\n' ${pairs.map((pair) => `'${pair.join(' ')}'`).join(' ')} | zypper_awk '{ n = split($0, l, "\\n"); for (i = 1; i < n; i++) { split(l[i], w, " "); print edition(w[1], w[2]) } }'`,
  )

  expect(lines).toEqual([...ORDER.map(() => '-1'), ...ORDER.map(() => '1'), '0', '0', '0'])
})

test('the hash of the lines is that of the plan', async () => {
  const { ask } = await zypperWith()
  const { lines } = await ask('zypper_changes all keep every')
  const { lines: sum } = await ask('zypper_changes all keep every | plan_lines | sha256sum')
  expect(sum).toEqual([`${hashOf(lines)}  -`])
})
