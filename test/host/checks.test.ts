import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { type Caller, signIn } from './client.ts'
import { startJob } from './job.ts'
import { inside, rig } from './rig.ts'
import { type Service, startService } from './service.ts'

/** An update of the rig drives another package out. */
const REMOVAL = expect.objectContaining({ code: 'kept_back_remove', packages: ['rig-web'] })

let service: Service
let alice: Caller
let bob: Caller
beforeAll(async () => {
  await rig('reset')
  await rig('lang', 'fr_FR.UTF-8')
  service = await startService()
  alice = await signIn(service, 'alice')
  bob = await signIn(service, 'bob')
  return () => service.stop()
})

test('before the first check the list has only the host, in state unknown', async () => {
  expect(await checks()).toEqual([
    expect.objectContaining({ target: 'host', state: 'unknown', checked_at: null, lists_at: null }),
  ])
  expect((await bob.get('/api/updates/checks/lxc:101')).status).toBe(404)
})

test('one job checks all targets, and a stopped container stays stopped', async () => {
  const id = await check('all')

  const found = await checks()

  expect(found.map(({ target, state }) => [target, state])).toEqual([
    ['host', 'ready'],
    ['lxc:101', 'ready'],
    ['lxc:102', 'ready'],
    ['lxc:103', 'stopped'],
  ])
  for (const one of found.slice(0, 3)) {
    expect(one).toMatchObject({
      manager: 'apt',
      os: { id: 'debian', version_id: '12' },
      job_id: id,
      findings: [REMOVAL],
    })
    expect(one.counts).toEqual({ upgrade: 4, security: 1, install: 0, remove: 0, held: 0, phased: 0, kept_back: 1 })
    expect(one.lists_at).toBe(one.checked_at)
  }
  expect(found[3]).toMatchObject({ name: 'old-backup', findings: [{ code: 'container_stopped' }] })
  expect(await rig('in', 'host', 'pct', 'list')).toMatch(/103\s+stopped/)
  expect(await target('lxc:101')).toMatchObject({
    packages: expect.arrayContaining([
      expect.objectContaining({
        name: 'librig2',
        arch: 'amd64',
        from: '1.4.2-1+b1',
        to: '1:2.0~rc1-1+deb12u3',
        action: 'upgrade',
        security: true,
        status: 'planned',
      }),
      expect.objectContaining({ name: 'rig-web', status: 'kept_back', reason: 'kept_back_remove' }),
      expect.objectContaining({ name: 'rig-old', status: 'kept_back', action: 'remove' }),
    ]),
  })
  // The history has upgrades by default, and checks on request.
  expect((await bob.get('/api/updates/history?output=none')).body).toBeNull()
  expect((await bob.get('/api/updates/history?output=none&kind=check')).body).toMatchObject([
    { job_id: id, target: 'all' },
  ])
})

test('a check that is asked for while the target is being checked is the same job', async () => {
  const [one, other] = await Promise.all([start('lxc:102'), start('lxc:102')])

  expect(one).toBe(other)
  await ended(one)
})

test('a target whose package lists are gone and cannot be fetched again is never up to date', async () => {
  await inside(
    '101',
    `echo 'deb [trusted=yes] http://127.0.0.1:9/debian stable main' >/etc/apt/sources.list
     rm -rf /var/lib/apt/lists/*`,
  )

  await check('lxc:101')

  const found = await target('lxc:101')
  expect(found.state).toBe('attention')
  expect(found.findings).toEqual([
    expect.objectContaining({ code: 'network_missing' }),
    expect.objectContaining({
      code: 'repository_unreachable',
      severity: 'warning',
      repository: 'http://127.0.0.1:9/debian stable',
      remedy: { action: 'retry_check', label: expect.any(String) },
    }),
    expect.objectContaining({ code: 'lists_stale' }),
  ])
  // lists_at is the time of the last complete refresh.
  expect(Date.parse(found.lists_at ?? '')).toBeLessThan(Date.parse(found.checked_at ?? ''))
})

test('a repository that does not answer gives a warning, and the counts of the others stay', async () => {
  await inside('102', `echo 'deb [trusted=yes] http://127.0.0.1:9/third ./' >/etc/apt/sources.list.d/third.list`)
  const before = await target('lxc:102')

  await check('lxc:102')

  const found = await target('lxc:102')
  expect(found).toMatchObject({
    state: 'attention',
    lists_at: before.lists_at,
    counts: before.counts,
    findings: [{ code: 'repository_unreachable', repository: 'http://127.0.0.1:9/third' }, REMOVAL],
  })
})

test('a check during a run of dpkg reports only the lock', async () => {
  await inside('102', 'rm /etc/apt/sources.list.d/third.list')
  await rig('lock', '15', '102')

  await check('lxc:102')

  expect(await target('lxc:102')).toMatchObject({
    state: 'attention',
    findings: [{ code: 'manager_locked' }, REMOVAL],
  })
  await rig('reset', '102')
})

test('a lock on another file with the same inode number does not count as a running apt or dpkg', async () => {
  // Two file systems with equal inode numbers: the lock of the lists is on one, a file of bob's on the other.
  await inside(
    'host',
    `cp -a /var/lib/apt/lists /var/tmp/lists && mount -t tmpfs lists /var/lib/apt/lists && cp -a /var/tmp/lists/. /var/lib/apt/lists
    rm -f /var/lib/apt/lists/lock && install -m 640 /dev/null /var/lib/apt/lists/lock
    mkdir -p /srv/bobs && mount -t tmpfs -o mode=1777 bobs /srv/bobs
    cat >/srv/hold <<'END'
my $wanted = (stat '/var/lib/apt/lists/lock')[1];
my ($file, $number);
do { unlink '/srv/bobs/file'; open $file, '>', '/srv/bobs/file' or die; $number = (stat $file)[1] } until $number >= $wanted;
my $lock = pack 's s x4 q q i x4', 1, 0, 0, 0, 0;
fcntl $file, 6, $lock or die;
open my $told, '>', '/srv/bobs/held'; print $told $number == $wanted ? 'held' : 'passed'; close $told;
sleep 60;
END
    su bob -s /bin/sh -c 'perl /srv/hold || echo failed >/srv/bobs/held' >/dev/null 2>&1 &
    until [ -s /srv/bobs/held ]; do sleep 0.05; done`,
  )
  expect(
    await inside('host', 'cat /srv/bobs/held; grep -c ":$(stat -c %i /var/lib/apt/lists/lock) " /proc/locks'),
  ).toBe('held1')

  await check('host')

  const { state, findings } = await target('host')
  await inside('host', 'pkill -u bob perl; until umount /srv/bobs; do sleep 0.1; done; umount /var/lib/apt/lists')
  expect({ state, findings }).toEqual({ state: 'ready', findings: [REMOVAL] })
})

test('a target with a failed postinst is not up to date until it is repaired and upgraded again', async () => {
  await rig('slow', '2', '1', '102')
  await rig('fail', 'on', '102')
  await ended(await startJob(bob, 'lxc:102'))

  const after = await target('lxc:102')
  expect(after).toMatchObject({ state: 'unknown', last_upgrade: { outcome: 'failed', exit_code: 100 } })
  expect(after.changed_at).toBe(after.last_upgrade?.finished_at)

  await check('lxc:102')
  const broken = await target('lxc:102')
  expect(broken).toMatchObject({
    state: 'attention',
    changed_at: null,
    findings: [{ code: 'dpkg_interrupted', packages: ['rig-fail'], remedy: { action: 'repair_dpkg' } }],
  })

  const remedy = { target: 'lxc:102', action: 'repair_dpkg' }
  expect((await bob.post('/api/updates/remedies', remedy)).status).toBe(403)
  await rig('fail', 'off', '102')
  const repair = Started.parse((await alice.post('/api/updates/remedies', remedy)).body).job_id
  expect(await ended(repair)).toMatchObject({ kind: 'remedy', exit_code: 0 })
  expect(await target('lxc:102')).toMatchObject({ state: 'unknown' })
  await check('lxc:102')
  expect((await alice.post('/api/updates/remedies', remedy)).body).toMatchObject({ code: 'remedy_unknown' })
  expect(await target('lxc:102')).toMatchObject({
    state: 'up_to_date',
    findings: [],
    last_upgrade: { outcome: 'failed' },
  })

  await ended(await startJob(bob, 'lxc:102'))
  await check('lxc:102')
  expect(await target('lxc:102')).toMatchObject({
    state: 'up_to_date',
    findings: [],
    packages: [],
    last_upgrade: { outcome: 'done', exit_code: 0 },
  })
})

test('a container that floods or never ends its output delays no other target and cannot answer for one', async () => {
  const forged = String.raw`\nops-panel end lxc:101\nend\nhost 0\n`
  // The check calls head first in both containers.
  await inside('101', `printf '#!/bin/sh\nyes "host 0"\n' >/usr/bin/head; chmod 755 /usr/bin/head`)
  await inside('102', `printf '#!/bin/sh\nsleep 300 >/dev/null &\nprintf "${forged}"\n' >/usr/bin/head`)
  const began = performance.now()

  const { output } = z.looseObject({ output: z.string() }).parse(await ended(await start('all'), true))

  expect(performance.now() - began).toBeLessThan(30_000)
  expect(output.length).toBeLessThan(10 * 1024 * 1024)
  expect((await checks()).map(({ target, state }) => [target, state])).toEqual([
    ['host', 'ready'],
    ['lxc:101', 'unknown'],
    ['lxc:102', 'unknown'],
    ['lxc:103', 'stopped'],
  ])
})

test('while the host is down, the list has the last targets and counts in state unknown, at once', async () => {
  const before = await checks()
  await rig('down')

  await ended(await start('all'))

  const asked = performance.now()
  const after = await checks()
  expect(performance.now() - asked).toBeLessThan(2_000)
  expect(after.map(({ target, counts, checked_at }) => ({ target, counts, checked_at }))).toEqual(
    before.map(({ target, counts, checked_at }) => ({ target, counts, checked_at })),
  )
  expect(after.map(({ state }) => state)).toEqual(['unknown', 'unknown', 'unknown', 'stopped'])
  expect((await bob.get('/api/updates/targets')).body).toHaveLength(1)
  await rig('up')
})

const Started = z.object({ job_id: z.string(), message: z.string() })
const Check = z.object({
  target: z.string(),
  state: z.string(),
  checked_at: z.string().nullable(),
  lists_at: z.string().nullable(),
  changed_at: z.string().nullable(),
  counts: z.record(z.string(), z.number()),
  findings: z.array(z.looseObject({ code: z.string() })),
  last_upgrade: z.looseObject({ finished_at: z.string() }).nullable(),
})
const Ended = z.looseObject({ status: z.string(), exit_code: z.number().nullable() })

async function checks() {
  return z.object({ checks: z.array(Check.loose()) }).parse((await bob.get('/api/updates/checks')).body).checks
}

async function target(name: string) {
  return Check.loose().parse((await bob.get(`/api/updates/checks/${name}`)).body)
}

async function start(of: string): Promise<string> {
  const { status, body } = await bob.post('/api/updates/checks', { target: of })
  if (status !== 202) throw new Error(`check of ${of}: ${status} ${JSON.stringify(body)}`)
  return Started.parse(body).job_id
}

async function ended(id: string, output = false) {
  const job = async () => Ended.parse((await bob.get(`/api/updates/jobs/${id}${output ? '' : '?output=none'}`)).body)
  await expect.poll(async () => (await job()).status, { timeout: 40_000, interval: 50 }).not.toBe('running')
  return job()
}

async function check(of: string): Promise<string> {
  const id = await start(of)
  await ended(id)
  return id
}
