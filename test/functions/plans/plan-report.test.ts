import { expect, test } from 'vitest'
import { planLines } from '../../../functions/plans/plan.ts'
import { readPlanReport } from '../../../functions/plans/plan-report.ts'
import { ONE, simulation } from './simulated.ts'

const BIG = 'Inst big [1:1.0] (1:2.0 Debian:12.15/oldstable [amd64])'
const NEW = 'Inst fresh (1.0 Debian:12.15/oldstable [all])'
const OFFERED = ['big amd64 1:2.0 4000 900 big', 'fresh all 1.0 1000 30 fresh']
const INSTALLED = ['big amd64 600 big 1:1.0']
const KIB = 1024

const read = async (given: Parameters<typeof simulation>[0]) => {
  const report = await readPlanReport(simulation(given))
  if (!report) throw new Error('the report cannot be read')
  return report
}

test('the sizes of a plan are the sums of those of its changes', async () => {
  const report = await read({
    planned: [BIG, NEW, 'Remv gone [1.0]'],
    offered: OFFERED,
    installed: [...INSTALLED, 'gone amd64 100 gone 1.0'],
  })

  expect(report).toMatchObject({ download_bytes: 5000, disk_bytes: (900 - 600 + 30 - 100) * KIB })
})

test.each([
  ['an offer that the lists do not tell', { offered: OFFERED.slice(1) }],
  ['an offer without an installed size', { offered: ['big amd64 1:2.0 4000 0 big', ...OFFERED.slice(1)] }],
  ['an installed package without a size', { installed: ['big amd64  big 1:1.0'] }],
  ['an installed package that dpkg does not tell', { installed: [] }],
  ['a size that no number holds', { offered: ['big amd64 1:2.0 4000 9e15 big', ...OFFERED.slice(1)] }],
])('the change of the disk is unknown with %s', async (_title, given) => {
  const report = await read({ planned: [BIG, NEW], offered: OFFERED, installed: INSTALLED, ...given })

  expect(report.disk_bytes).toBeNull()
})

test('a new package of a foreign architecture does not count the installed one', async () => {
  const report = await read({
    planned: ['Inst lib [1.0] (2.0 D:1/s [amd64])', 'Inst lib:i386 (2.0 D:1/s [i386])'],
    offered: ['lib amd64 2.0 10 50 lib', 'lib i386 2.0 10 40 lib'],
    installed: ['lib amd64 45 lib 1.0'],
  })

  expect(report.disk_bytes).toBe((50 - 45 + 40) * KIB)
})

test('what is known of an unknown need can forbid a plan', async () => {
  const report = await read({
    planned: [BIG, 'Inst vague [1.0] (2.0 D:1/s [amd64])'],
    offered: OFFERED,
    installed: [...INSTALLED, 'vague amd64 900000 vague 1.0'],
    disk: ['/ 10 1024 1000 1', 'archives 10 1024 1000 1'],
  })

  expect(report).toMatchObject({
    download_bytes: null,
    disk_bytes: null,
    findings: [{ code: 'disk_low', severity: 'blocking' }],
  })
})

test('an archive that apt has already is not downloaded', async () => {
  const given = { planned: [BIG, NEW], offered: OFFERED, installed: INSTALLED }
  const of = async (...cached: string[]) => (await read({ ...given, cached })).download_bytes

  expect(await of('big_1%3a2.0_amd64.deb 4000')).toBe(1000)
  expect(await of('big_1%3a2.0_amd64.deb 4000', 'fresh_1.0_all.deb 1000')).toBe(0)
  expect(await of('big_1%3a2.0_amd64.deb 3999', 'big_1:2.0_amd64.deb 4000', 'fresh_1.0_amd64.deb 1000')).toBe(5000)
})

test('the archives in the cache that a plan does not use are what a cleaning frees', async () => {
  const disk = ['/ 100 1024 1000 1', 'archives 100 1024 1000 1']
  const given = { planned: [BIG], offered: OFFERED, installed: INSTALLED, disk }
  const remedy = async (...cached: string[]) => (await read({ ...given, cached })).findings[0]?.remedy?.action

  expect(await remedy()).toBe('open_terminal')
  expect(await remedy('old_1_all.deb 100000', 'older_1_all.deb 200000')).toBe('clean_cache')
  expect(await remedy('old_1_all.deb 1000')).toBe('open_terminal')
  // After a cleaning it would be downloaded again.
  expect(await remedy('big_1%3a2.0_amd64.deb 4000')).toBe('open_terminal')
  expect(await remedy('old_1_all.deb -300000', 'old_1_all.deb 9e9', 'old_1_all.deb', '300000')).toBe('open_terminal')
})

test.each([
  ['a change without an end', 'Inst app [1.0] (2.0'],
  ['a change without a version', 'Inst app [1.0]'],
  ['a change without a name', 'Inst '],
  ['a removal without a name', 'Remv '],
  ['a removal with the configuration', 'Purg gone [1.0]'],
])('an output with %s is not read', async (_title, line) => {
  expect(await readPlanReport(simulation({ planned: [BIG, line], installed: ['gone amd64 1 gone 1.0'] }))).toBe(
    undefined,
  )
})

test('another build of the same version is an upgrade, as apt tells its hook', async () => {
  const { actions } = await read({ planned: ['Inst same [1.0] (1.0 D:1/s [amd64])'] })

  expect(planLines(actions)).toEqual(['upgrade same:amd64 1.0 1.0'])
})

test.each(['half-installed ok app', 'installed reinstreq app'])(
  'a package that is %s forbids a plan, because apt would install it once more',
  async (line) => {
    const text = simulation({ planned: ['Inst app [1.0] (1.0 D:1/s [amd64])'] })

    const report = await readPlanReport(text.replace('unfinished\n', `unfinished\n ${line}\n`))

    expect(report?.findings).toMatchObject([{ code: 'dpkg_interrupted', severity: 'blocking', packages: ['app'] }])
  },
)

test.each([
  ['amd64', 'amd64'],
  ['i386', 'i386'],
  [undefined, 'i386'],
])('where %s is native, a removal without an architecture is of %s', async (native, arch) => {
  const { actions } = await read({
    ...(native !== undefined && { native }),
    planned: ['Remv lib [1.0]', 'Remv tool [1.0]', 'Remv far:arm64 [1.0]'],
    installed: ['lib i386 1 lib 1.0', 'lib amd64 2 lib 1.0', 'tool all 3 tool 1.0', 'far arm64 4 far 1.0'],
  })

  expect(actions.map((one) => `${one.name}:${one.arch}`)).toEqual([`lib:${arch}`, 'tool:all', 'far:arm64'])
})

test('the packages that were asked for and cannot be had are told once', async () => {
  const wanted = ['big:amd64=1:2.0', 'fresh=1.0', 'stuck:amd64=2.0', 'old=1.0', 'big:i386=1:2.0']
  const given = { planned: [BIG, NEW, 'Inst old [0.9] (0.9.1 D:1/s [all])'], offered: OFFERED, installed: INSTALLED }
  const findings = async (...of: string[]) => (await read({ ...given, wanted: of })).findings

  expect(await findings(...wanted)).toMatchObject([
    { code: 'kept_back_dependencies', severity: 'info', packages: ['stuck', 'old', 'big:i386'], remedy: null },
  ])
  expect(await findings(...wanted.slice(0, 2))).toEqual([])
  expect(await findings()).toEqual([])
  expect(await findings('not a package', '=', 'x'.repeat(10_000))).toEqual([])
  expect((await findings(...Array.from({ length: 5_000 }, (_, n) => `p${n}=1`)))[0]?.packages).toHaveLength(100)
})

test('where apt refuses everything, its reason is told alone', async () => {
  const { findings } = await read({ planned: ['E: Unmet dependencies.'], wanted: ['app:amd64=2.0'], code: 100 })

  expect(findings).toMatchObject([{ code: 'dependencies_broken', severity: 'blocking' }])
})

test('an older output, without the newer sections, is read', async () => {
  expect(await readPlanReport(ONE)).toMatchObject({ download_bytes: 1000, disk_bytes: 4 * KIB, findings: [] })
})
