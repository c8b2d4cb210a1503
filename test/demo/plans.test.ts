import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import type { DemoHostOptions } from '../../demo/host.ts'
import { BASE, CONTAINERD, CURL, GIT, LIBCURL, LIBSSL, NGINX, OPENSSL, TZDATA } from '../../demo/packages.ts'
import { ALPINE, ARCH, container, type Place } from '../../demo/place.ts'
import { HOLD, UNHOLD } from '../../functions/checks/remedy-scripts.ts'
import { DIFFERS_END, DIFFERS_MARK, RUN_CODES } from '../../functions/managers/agreement.ts'
import { planCommand, plannedCommand, type Selection } from '../../functions/plans/plan-command.ts'
import { type Elevation, script } from '../../ssh/command.ts'
import { startDemo } from '../runtime/demo.ts'
import { connect, run } from './client.ts'

const BRINGING = { ...BASE, brings: [{ ...LIBSSL, name: 'libnew1' }] }
const PHASED = { ...TZDATA, kept: 'phased' } as const
const UPGRADE_OPENSSL = 'upgrade openssl:amd64 3.0.15-1~deb12u1 3.0.17-1~deb12u2'
const UPGRADE_TZDATA = 'upgrade tzdata:all 2024a-0+deb12u1 2025b-0+deb12u1'

/** Starts a host whose container 201 is this one; the commands are those of the service. */
async function start(place: Partial<Place>, options: DemoHostOptions = {}, username?: string) {
  const one = container('201', 'one', place)
  const demo = await startDemo({ containers: [one], ...options })
  const account =
    username === undefined ? demo.service : { username, password: demo.users.get(username)?.password ?? '' }
  const client = await connect({ port: demo.port, ...account })
  const whole = (more: Partial<Selection>): Selection => ({
    ...{ only: 'all', packages: null, exclude: [], allow_remove: false },
    ...more,
  })
  const plan = (more: Partial<Selection> = {}, where = '201', mode: Elevation = 'root') =>
    run(client, planCommand(where, whole(more), mode))
  const planned = (lines: readonly string[], more: Partial<Selection> = {}, where = '201', mode: Elevation = 'root') =>
    run(client, plannedCommand(where, { hash: hashOf(lines), take: [], selection: whole(more) }, mode))
  return { demo, one, plan, planned }
}

/** The hash of a plan with these lines, which the caller has sorted. */
function hashOf(lines: readonly string[]): string {
  return createHash('sha256')
    .update(lines.map((line) => `${line}\n`).join(''))
    .digest('hex')
}

/** The lines of one section. */
function section(text: string, name: string): string[] {
  const [, lines = ''] = new RegExp(`^${name}\n((?: .*\n)*)\n`, 'm').exec(text) ?? []
  return lines.split('\n').flatMap((line) => (line === '' ? [] : [line.slice(1)]))
}

/** The names of the packages that a plan changes. */
const namesOf = (text: string) =>
  section(text, 'planned').flatMap((line) => /^(?:Inst|Remv) (\S+)/.exec(line)?.[1] ?? [])

test('a plan has the sections of the script, and changes nothing', async () => {
  const { demo, plan } = await start({ upgradable: [BRINGING, OPENSSL], unfinished: ['git-lfs'] })

  const { code, stdout } = await plan()

  expect(code).toBe(0)
  expect(stdout.startsWith('manager apt-get\n')).toBe(true)
  expect(stdout.endsWith('\nend\n')).toBe(true)
  expect(section(stdout, 'unfinished')).toEqual(['half-configured ok git-lfs'])
  expect(section(stdout, 'planned')).toEqual([
    'Inst base-files [12.4+deb12u8] (12.4+deb12u11 Debian:12/stable [amd64])',
    'Inst openssl [3.0.15-1~deb12u1] (3.0.17-1~deb12u2 Debian-Security:12/stable-security [amd64])',
    'Inst libnew1 (3.0.17-1~deb12u2 Debian-Security:12/stable-security [amd64])',
    'code 0',
  ])
  expect(section(stdout, 'offered')).toContain('libnew1 amd64 3.0.17-1~deb12u2 2026000 7914 openssl ')
  expect(section(stdout, 'installed')).toContain('openssl amd64 5580 openssl 3.0.15-1~deb12u1')
  expect(section(stdout, 'disk').map((line) => line.replace(/ \d+ 4096 \d+ \d+$/, ''))).toEqual([
    ...['/', '/usr', '/var', '/boot', 'archives'],
  ])
  expect(stdout).toContain('\nnative amd64\n')
  expect([section(stdout, 'wanted'), section(stdout, 'cached')]).toEqual([[], []])
  expect(demo.upgradable('201')).toHaveLength(2)
})

test.each<[Partial<Selection>, string[]]>([
  [{}, []],
  [{ exclude: ['openssl'] }, []],
  [
    { packages: ['tzdata', 'openssl:amd64', 'git', 'absent'] },
    ['openssl:amd64=3.0.17-1~deb12u2', 'tzdata=2025b-0+deb12u1'],
  ],
  [{ only: 'security' }, ['openssl:amd64=3.0.17-1~deb12u2']],
  [{ only: 'security', exclude: ['openssl'] }, []],
])('a plan of %j names what was asked for, with its version, also what cannot come', async (selection, wanted) => {
  const { one, plan } = await start({ upgradable: [OPENSSL, PHASED, ...GIT] })
  one.held = ['git', 'git-man']

  expect(section((await plan(selection)).stdout, 'wanted')).toEqual(wanted)
})

test('a plan names the archives in the cache of apt', async () => {
  const { plan } = await start({ upgradable: [OPENSSL], cached: 412_000_000 })

  expect(section((await plan()).stdout, 'cached')).toEqual([expect.stringMatching(/^\S+_\S+_\w+\.deb 412000000$/)])
})

const MIXED = [OPENSSL, LIBCURL, CURL, CONTAINERD, PHASED, ...GIT]

test.each<[string, Partial<Selection>, string[]]>([
  ['everything', {}, ['openssl', 'libcurl4', 'curl', 'git', 'git-man']],
  [
    'everything with removals',
    { allow_remove: true },
    ['docker.io', 'runc', 'openssl', 'libcurl4', 'curl', 'containerd', 'git', 'git-man', 'containerd-shim'],
  ],
  ['security alone', { only: 'security' }, ['openssl', 'git', 'git-man']],
  ['one package', { packages: ['openssl'] }, ['openssl']],
  ['a package and what it needs', { packages: ['curl'] }, ['libcurl4', 'curl']],
  ['a package with its architecture', { packages: ['openssl:amd64', 'git-man:amd64'] }, ['openssl']],
  ['all but one', { exclude: ['openssl'] }, ['libcurl4', 'curl', 'git', 'git-man']],
  ['all but one that another needs', { exclude: ['libcurl4'] }, ['openssl', 'git', 'git-man']],
  [
    'no removal of an excluded package',
    { exclude: ['runc', 'git'], allow_remove: true },
    ['openssl', 'libcurl4', 'curl', 'git-man'],
  ],
  ['a security fix among these', { only: 'security', packages: ['curl', 'git-man'] }, ['git-man']],
  ['a phased package that was asked for', { packages: ['tzdata'] }, []],
])('a selection takes %s', async (_title, selection, names) => {
  const { plan } = await start({ upgradable: MIXED })

  expect(namesOf((await plan(selection)).stdout)).toEqual(names)
})

test('a security fix takes what it needs from another repository, and stays when that is held', async () => {
  const { one, plan } = await start({ upgradable: [{ ...OPENSSL, needs: ['base-files'] }, BASE, NGINX] })
  const security = async () => namesOf((await plan({ only: 'security' })).stdout)

  expect(await security()).toEqual(['openssl', 'base-files'])
  one.held = ['base-files']
  expect(await security()).toEqual([])
})

test('the run of a plan makes exactly its changes, with the usual output and without a refresh', async () => {
  const { demo, planned } = await start({ upgradable: [OPENSSL, TZDATA, CURL] })

  const { code, stdout } = await planned([UPGRADE_OPENSSL, UPGRADE_TZDATA], { packages: ['tzdata', 'openssl'] })

  expect(code).toBe(0)
  expect(stdout).toContain('2 upgraded, 0 newly installed, 0 to remove and 1 not upgraded.\n')
  expect(stdout).toContain('Unpacking openssl (3.0.17-1~deb12u2) over (3.0.15-1~deb12u1) ...\r\n')
  expect(stdout).not.toContain('InRelease')
  expect(stdout).not.toContain(DIFFERS_MARK)
  expect(demo.upgradable('201')).toEqual(['curl'])
})

test('the lines of the hash cover new and removed packages', async () => {
  const { demo, planned } = await start({ upgradable: [CONTAINERD] })
  const lines = [
    'install containerd-shim:amd64 - 2.1.5-1',
    'remove docker.io:amd64 20.10.24+dfsg1-1+deb12u1 -',
    'remove runc:amd64 1.1.5+ds1-1+deb12u1 -',
    'upgrade containerd:amd64 1.6.20~ds1-1+deb12u1 2.1.5-1',
  ]

  const { code, stdout } = await planned(lines, { allow_remove: true })

  expect(code).toBe(0)
  expect(stdout).toContain('Removing docker.io (20.10.24+dfsg1-1+deb12u1) ...\r\n')
  expect(demo.upgradable('201')).toEqual([])
})

test('a plan that differs changes nothing, and the output tells what apt was about to do', async () => {
  const { demo, planned } = await start({ upgradable: [OPENSSL, TZDATA] })

  const { code, stdout } = await planned([UPGRADE_OPENSSL])

  expect(code).toBe(RUN_CODES.differs)
  expect(stdout).toContain('Fetched ')
  expect(stdout).not.toContain('Unpacking')
  expect(stdout.slice(stdout.indexOf(DIFFERS_MARK))).toBe(
    `${DIFFERS_MARK}\n ${UPGRADE_OPENSSL}\n ${UPGRADE_TZDATA}\n${DIFFERS_END}\n`,
  )
  expect(demo.upgradable('201')).toEqual(['openssl', 'tzdata'])
})

test('a plan differs where nothing is left to do', async () => {
  const { planned } = await start({})

  const { code, stdout } = await planned([UPGRADE_OPENSSL])

  expect(code).toBe(RUN_CODES.differs)
  expect(stdout).toContain(`${DIFFERS_MARK}\n${DIFFERS_END}\n`)
})

test.each([
  ['when the timer of its target refreshes the lists', 0, false],
  ['at a refresh after the first plan', 3_600_000, true],
])('a newer version is published %s, and the plan is refused', async (_title, afterMs, refreshed) => {
  const newer = { of: OPENSSL, version: '3.0.18-1', afterMs }
  const { demo, plan, planned } = await start({ upgradable: [OPENSSL], newer })
  const client = await connect({ port: demo.port, ...demo.service })
  const refresh = () => run(client, ['/usr/sbin/pct', 'exec', '201', '--', 'apt-get', 'update'])

  await refresh()
  const { stdout } = await plan()
  if (refreshed) await refresh()
  const before = await planned([UPGRADE_OPENSSL])

  expect(stdout).toContain('(3.0.17-1~deb12u2 ')
  expect(before.code).toBe(RUN_CODES.differs)
  expect(before.stdout).toContain(' upgrade openssl:amd64 3.0.15-1~deb12u1 3.0.18-1\n')
  expect((await planned(['upgrade openssl:amd64 3.0.15-1~deb12u1 3.0.18-1'])).code).toBe(0)
})

test('a hold makes a plan differ, and lasts until it is lifted', async () => {
  const { demo, one, planned } = await start({ upgradable: [OPENSSL, BRINGING] })
  const client = await connect({ port: demo.port, ...demo.service })
  const mark = (text: string, ...names: string[]) =>
    run(client, ['/usr/sbin/pct', 'exec', '201', '--', ...script(text, 'ops-panel-remedy', '', ...names)])

  const missing = await mark(HOLD, 'libnew1')
  const held = await mark(HOLD, 'openssl:amd64')
  const again = await mark(HOLD, 'openssl')

  expect(missing).toMatchObject({ code: 1, stdout: 'Not installed: libnew1 \n' })
  expect(held).toMatchObject({ code: 0, stdout: 'openssl set on hold.\n' })
  expect(again).toMatchObject({ code: 0, stdout: 'These packages are held already.\n' })
  expect((await planned([UPGRADE_OPENSSL], { packages: ['openssl'] })).code).toBe(RUN_CODES.differs)
  expect((await mark(UNHOLD, 'openssl')).code).toBe(0)
  expect(one.held).toEqual([])
  expect((await planned([UPGRADE_OPENSSL], { packages: ['openssl'] })).code).toBe(0)
})

test('a newer version that appears after the run upgrades what the run has installed', async () => {
  const { plan, planned } = await start({
    upgradable: [OPENSSL],
    newer: { of: OPENSSL, version: '3.0.18-1', afterMs: 3_600_000 },
  })

  await plan()
  expect((await planned([UPGRADE_OPENSSL])).code).toBe(0)
  const { code } = await planned(['upgrade openssl:amd64 3.0.17-1~deb12u2 3.0.18-1'])

  expect(code).toBe(RUN_CODES.differs)
})

test('an account with a sudo rule makes and runs plans of the host and of a container', async () => {
  const users = { rule: { password: 'pw', uid: 1103, groups: ['rule'], sudo: 'rule' as const } }
  const host = { upgradable: [OPENSSL] }
  const { demo, plan, planned } = await start({ upgradable: [TZDATA] }, { users, host }, 'rule')

  expect(namesOf((await plan({}, 'host', 'rule')).stdout)).toEqual(['openssl'])
  expect(namesOf((await plan({}, '201', 'rule')).stdout)).toEqual(['tzdata'])
  expect((await planned([UPGRADE_OPENSSL], {}, 'host', 'rule')).code).toBe(0)
  expect((await planned([UPGRADE_TZDATA], {}, '201', 'rule')).code).toBe(0)
  expect([demo.upgradable('host'), demo.upgradable('201')]).toEqual([[], []])
})

test('without rights, the run of a plan fails as apt-get does, and nothing differs', async () => {
  const { demo, planned } = await start({}, { host: { upgradable: [OPENSSL] } }, 'guest')

  const { code, stdout, stderr } = await planned([UPGRADE_OPENSSL], {}, 'host')

  expect(code).toBe(100)
  expect(stderr + stdout).toContain('Permission denied')
  expect(stdout).not.toContain(DIFFERS_MARK)
  expect(demo.upgradable('host')).toEqual(['openssl'])
})

test('a plan of a place without apt names the manager alone, and unmet dependencies end a plan with 100', async () => {
  const alpine = await start({ os: ALPINE })
  const broken = await start({ upgradable: [OPENSSL], broken: { name: 'nginx', needs: LIBSSL } })

  expect((await alpine.plan()).stdout).toBe('manager apk\n')
  expect(section((await broken.plan()).stdout, 'planned')).toEqual(['code 100'])
  expect((await broken.planned([UPGRADE_OPENSSL])).code).toBe(100)
})

test.each([
  ['apk', ALPINE, '(1/1) Upgrading openssl'],
  ['pacman', ARCH, 'upgrading openssl...'],
] as const)('a place with %s runs exactly its plan, and another one changes nothing', async (manager, os, said) => {
  const { demo, plan, planned } = await start({ os, upgradable: [OPENSSL] })
  const line = UPGRADE_OPENSSL.replace(':amd64', ':x86_64')

  const { stdout } = await plan({ manager })
  const bad = await planned([line.replace('3.0.17', '3.0.18')], { manager })

  expect(section(stdout, 'planned')).toEqual([expect.stringContaining('change|upgrade|openssl|x86_64|'), 'code|0'])
  expect([bad.code, demo.upgradable('201')]).toEqual([65, ['openssl']])
  const good = await planned([line], { manager })
  expect([good.code, demo.upgradable('201')]).toEqual([0, []])
  expect(good.stdout).toContain(said)
})
