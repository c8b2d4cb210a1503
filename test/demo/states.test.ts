import { beforeEach, expect, test } from 'vitest'
import { createPanel, type Panel } from '../../client/index.ts'
import { fleet, fleetHost } from '../../demo/fleet.ts'
import { BASE, CONTAINERD, LIBSSL, NGINX, NGINX_COMMON, OPENSSL, TZDATA } from '../../demo/packages.ts'
import { ALPINE, ARCH, BUSTER, container, NIXOS, type Place } from '../../demo/place.ts'
import { startDemo } from '../runtime/demo.ts'
import { startService } from '../serve/service.ts'

const MIB = 2 ** 20
const THIRD = 'http://packages.example/x'
const PHASED = { ...TZDATA, kept: 'phased' } as const
const WAITING = { ...BASE, kept: 'dependencies' } as const
const BRINGING = { ...NGINX, brings: [{ ...LIBSSL, name: 'libnew1' }] }
const CHANGED = { ...NGINX_COMMON, changedFile: { file: '/etc/nginx/nginx.conf', diff: '' } }

/** Each state of a container, with the state and the findings that the service's check gives. */
const STATES: readonly [string, Partial<Place>, string, string[]][] = [
  ['nothing to upgrade', {}, 'up_to_date', []],
  ['upgrades', { upgradable: [OPENSSL, LIBSSL] }, 'ready', []],
  ['a hold', { upgradable: [OPENSSL], held: ['openssl'] }, 'up_to_date', ['held']],
  ['a phased update', { upgradable: [PHASED] }, 'up_to_date', ['phased']],
  ['an update without its dependencies', { upgradable: [WAITING] }, 'up_to_date', ['kept_back_dependencies']],
  ['an update that removes', { upgradable: [CONTAINERD] }, 'ready', ['kept_back_remove']],
  ['an update that brings a package', { upgradable: [BRINGING] }, 'ready', ['kept_back_install']],
  ['a silent repository', { silent: THIRD }, 'attention', ['repository_unreachable', 'lists_stale']],
  ['a changed repository', { changed: THIRD }, 'attention', ['repository_changed', 'lists_stale']],
  ['an unsigned repository', { unsigned: THIRD }, 'attention', ['repository_unsigned', 'lists_stale']],
  ['an expired repository', { expired: THIRD }, 'attention', ['repository_expired', 'lists_stale']],
  ['an edited configuration file', { upgradable: [CHANGED] }, 'attention', ['conffile_changed']],
  [
    'too little space',
    { upgradable: [OPENSSL], disk: { size: 900 * MIB, free: MIB }, cached: 300 * MIB },
    'blocked',
    ['disk_low'],
  ],
  ['an interrupted dpkg', { unfinished: ['git-lfs'] }, 'attention', ['dpkg_interrupted']],
  ['an unmet dependency', { broken: { name: 'nginx', needs: LIBSSL } }, 'blocked', ['dependencies_broken']],
  ['a read-only system', { readOnly: true }, 'blocked', ['root_read_only', 'lists_stale']],
  ['a lock of the hypervisor', { lockedFor: 'backup' }, 'attention', ['container_locked']],
  ['no power', { running: false }, 'stopped', ['container_stopped']],
  ['a template', { running: false, template: true }, 'stopped', ['container_template']],
  ['an old distribution', { os: BUSTER }, 'attention', ['end_of_life']],
  ['unattended-upgrades', { upgraders: ['unattended'] }, 'up_to_date', ['other_upgrader']],
  ['a line of cron', { upgraders: ['cron apt 3 /etc/crontab'] }, 'up_to_date', ['other_upgrader']],
  ['no known manager', { os: NIXOS }, 'unsupported', ['manager_missing']],
  ['apk', { os: ALPINE }, 'up_to_date', []],
  ['updates of apk', { os: ALPINE, upgradable: [OPENSSL] }, 'ready', ['security_unknown']],
  ['updates of pacman', { os: ARCH, upgradable: [OPENSSL] }, 'ready', ['security_unknown']],
  [
    'an outdated service',
    { services: [{ name: 'ssh', file: '/usr/lib/libssl.so.3', from: 'libssl3' }] },
    'up_to_date',
    ['services_outdated'],
  ],
]

const numbered = () => STATES.map(([name, more], n) => [name, container(String(200 + n), `state-${n}`, more)] as const)

let places: ReadonlyMap<string, Place>
let panel: Panel

/** Starts the service with these containers and signs an administrator in. */
async function start(containers: Place[], options: Parameters<typeof startDemo>[0] = {}): Promise<Panel> {
  const demo = await startDemo({ containers, ...options })
  const { url } = await startService(demo)
  const made = createPanel({ url, WebSocket: false })
  await made.signIn('demo', 'demo')
  return made
}

async function ended(id: string, on = panel) {
  const read = () => on.api('GET /api/updates/jobs/{id}', { params: { id } })
  await expect.poll(async () => (await read()).status).not.toMatch(/running|queued/)
  return read()
}

const check = async (target: string, on = panel) =>
  ended((await on.api('POST /api/updates/checks', { body: { target } })).job_id, on)
const read = (target: string) => panel.api('GET /api/updates/checks/{target}', { params: { target } })
const remedy = async (
  target: string,
  action:
    | 'allow_release_change'
    | 'lift_hold'
    | 'clean_cache'
    | 'repair_dpkg'
    | 'start_container'
    | 'disable_auto_upgrades',
) => ended((await panel.api('POST /api/updates/remedies', { body: { target, action } })).job_id)
const upgrade = async (target: string) => ended((await panel.api('POST /api/updates/run', { body: { target } })).job_id)

/** Returns the target of a state. */
function targetOf(state: string): string {
  const place = places.get(state)
  if (!place) throw new Error(`no state ${state}`)
  return `lxc:${place.id}`
}

beforeEach(async () => {
  const made = numbered()
  places = new Map(made)
  panel = await start(made.map(([, place]) => place))
})

test('a check of all finds in each container what its state says', async () => {
  await check('all')
  const { checks } = await panel.api('GET /api/updates/checks')

  const found = STATES.map(([name]) => {
    const one = checks.find(({ target }) => target === targetOf(name))
    return [name, one?.state, one?.findings.map(({ code }) => code)]
  })
  expect(found).toEqual(STATES.map(([name, , state, codes]) => [name, state, codes]))
})

test('a restart of an outdated service gives it another main process, and the check that follows finds none', async () => {
  const target = targetOf('an outdated service')
  await check(target)
  const { services } = await read(target)
  expect(services).toMatchObject([{ name: 'ssh', package: 'libssl3', restart: 'service' }])

  const started = await panel.api('POST /api/updates/restarts', { body: { target, services: ['ssh'] } })
  const { status, exit_code, output } = await ended(started.job_id)
  await check(target)

  expect({ status, exit_code }).toEqual({ status: 'success', exit_code: 0 })
  expect(output).toMatch(/^ssh: main PID 412 -> \d+, active\n$/)
  expect((await read(target)).services).toEqual([])
})

test('an upgrade leaves services on replaced files, a container that starts again has none, and dbus is never offered', async () => {
  const loads = ['ssh', 'dbus'].map((name) => ({ name, file: '/usr/lib/libssl.so.3', from: 'libssl3' }))
  const web = container('101', 'web', { upgradable: [LIBSSL], loads })
  const on = await start([web])
  const services = async () =>
    (await on.api('GET /api/updates/checks/{target}', { params: { target: 'lxc:101' } })).services
  await check('lxc:101', on)
  expect(await services()).toEqual([])

  await ended((await on.api('POST /api/updates/run', { body: { target: 'lxc:101' } })).job_id, on)
  await check('lxc:101', on)
  expect(await services()).toMatchObject([
    { name: 'dbus', restart: 'container', why: expect.stringContaining('D-Bus') },
    { name: 'ssh', restart: 'service', why: null },
  ])
  const refused = on.api('POST /api/updates/restarts', { body: { target: 'lxc:101', services: ['dbus'] } })
  await expect(refused).rejects.toMatchObject({ code: 'service_protected' })

  const params = { vmid: 101, action: 'reboot' } as const
  await on.api('POST /api/hypervisor/containers/{vmid}/{action}', { params })
  await expect.poll(() => web.services).toBeUndefined()
  await check('lxc:101', on)
  expect(await services()).toEqual([])
})

test('a check tells sizes, source packages, and what a removal would let through', async () => {
  await check(targetOf('upgrades'))
  await check(targetOf('an update that removes'))

  expect(await read(targetOf('upgrades'))).toMatchObject({
    os: { codename: 'bookworm' },
    counts: { upgrade: 2, security: 2 },
    download_bytes: 3_456_000,
    disk_bytes: 24_600,
    packages: [
      { name: 'openssl', size: 1_430_000, source: 'openssl' },
      { name: 'libssl3', size: 2_026_000, source: 'openssl' },
    ],
  })
  const { counts, packages } = await read(targetOf('an update that removes'))
  expect(counts).toMatchObject({ upgrade: 0, install: 0, remove: 0, kept_back: 1 })
  expect(packages.map(({ name, action, reason }) => `${action} ${name} ${reason}`).sort()).toEqual([
    'install containerd-shim kept_back_remove',
    'remove docker.io kept_back_remove',
    'remove runc kept_back_remove',
    'upgrade containerd kept_back_remove',
  ])
})

test.each([
  ['a changed repository', 'allow_release_change', 'up_to_date'],
  ['a hold', 'lift_hold', 'ready'],
  ['too little space', 'clean_cache', 'ready'],
  ['an interrupted dpkg', 'repair_dpkg', 'up_to_date'],
  ['an unmet dependency', 'repair_dpkg', 'up_to_date'],
  ['no power', 'start_container', 'up_to_date'],
  ['unattended-upgrades', 'disable_auto_upgrades', 'up_to_date'],
] as const)('the remedy of %s works: %s', async (state, action, after) => {
  const target = targetOf(state)
  await check(target)

  expect(await remedy(target, action)).toMatchObject({ status: 'success', exit_code: 0 })
  await check(target)

  expect(await read(target)).toMatchObject({ state: after, findings: [] })
})

test('an upgrade with a silent repository ends with a warning that names it', async () => {
  const job = await upgrade(targetOf('a silent repository'))

  expect(job).toMatchObject({ status: 'success', exit_code: 0, warnings: [expect.stringContaining(`${THIRD} stable`)] })
  expect(job.output).toContain('Upgraded, with warnings: these repositories could not be refreshed: ')
})

test('a full upgrade takes what a removal lets through, and leaves held and phased packages', async () => {
  const all = [CONTAINERD, OPENSSL, PHASED, WAITING, LIBSSL]
  const place = places.get('an update that removes')
  if (place) Object.assign(place, { upgradable: all, held: ['libssl3'] })

  const { output } = await upgrade(targetOf('an update that removes'))

  expect(output).toContain('2 upgraded, 1 newly installed, 2 to remove and 3 not upgraded.')
  expect(place?.upgradable).toEqual([PHASED, WAITING, LIBSSL])
})

test('the changelog of an offered version has the entry of that version alone, and there is none without apt', async () => {
  const { version: to, old: from } = LIBSSL
  const query = { target: targetOf('upgrades'), package: 'libssl3', from, to }

  const told = await panel.api('GET /api/updates/changelog', { query })

  expect(told).toMatchObject({ source: 'repository', entries: [{ version: to, urgency: 'high' }] })
  expect(told.entries[0]?.text).toContain('CVE-')
  const another = panel.api('GET /api/updates/changelog', { query: { ...query, target: targetOf('apk') } })
  await expect(another).rejects.toMatchObject({ code: 'changelog_missing' })
})

test('a delay of each container counts once for every six of them', async () => {
  const slow = await start(
    Array.from({ length: 12 }, (_, n) => container(String(300 + n), `slow-${n}`)),
    { delayMs: 300 },
  )
  const began = performance.now()

  await check('all', slow)

  // Two rounds of six; one after another they would take 3.6 s.
  const took = performance.now() - began
  expect(took).toBeGreaterThan(600)
  expect(took).toBeLessThan(3_000)
})

test('the demonstration has a container in every state group, and one with the longest name', async () => {
  const demo = await start(fleet(), { host: fleetHost() })
  await check('all', demo)

  const { checks } = await demo.api('GET /api/updates/checks')
  const states = new Set(checks.map(({ state }) => state))
  expect([...states].sort()).toEqual(['attention', 'blocked', 'ready', 'stopped', 'unsupported', 'up_to_date'])
  expect(Math.max(...checks.map(({ name }) => name.length))).toBe(63)
  expect(checks[0]).toMatchObject({ target: 'host', state: 'attention', reboot: { required: true } })
})
