import { beforeEach, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { DEFAULT_PROTECTION } from '../../functions/protection/protection.ts'
import { checkingAs, endAutomaticChecks } from './checking.ts'
import { type Caller, signIn } from './client.ts'
import { alike, hashes, jobDetail, keepHostFile, steps, upTo } from './copies.ts'
import { installPanel, makePackage, offerPackage, standInForSystemd } from './installed-panel.ts'
import { startJob } from './job.ts'
import { NO_TEXT, replacePostinst, slowPostinst } from './postinst.ts'
import { jobFolders, jobProcesses } from './remains.ts'
import { followOn } from './resuming.ts'
import { dpkgStatus, inside, type Place, rig } from './rig.ts'
import { startService } from './service.ts'

const LINES = 40
const FORMER = '0.1.9'
const NEWER = '0.2.9'

const Health = z.looseObject({ version: z.string(), boot_id: z.string() })
const health = async ({ url }: { url: string }) => Health.parse(await (await fetch(`${url}/api/health`)).json())

/** Upgrades a target while a client follows, and expects that the record is whole and the client lost nothing. */
async function upgradeWhole(bob: Caller, place: Place) {
  await replacePostinst(place, slowPostinst({ lines: LINES, seconds: 0.1, bytes: NO_TEXT }))
  const id = await startJob(bob, place === 'host' ? place : `lxc:${place}`)
  const kept = await keepHostFile(id)
  const live = followOn(bob, id)

  expect(await live.ended).toMatchObject({ type: 'update_done', data: { job_id: id } })
  const four = await hashes(bob, id, { hostFile: await kept(), live: live.output() })
  expect(four).toEqual(alike(four.host))
  expect(steps(live.output())).toEqual(upTo(LINES))
  expect(await jobDetail(bob, id)).toMatchObject({
    status: 'success',
    exit_code: 0,
    output_size: Buffer.byteLength(live.output()),
  })
  await expect.poll(jobFolders, { timeout: 10_000 }).toBe('')
  await expect.poll(jobProcesses, { timeout: 10_000 }).toEqual([])
  return { id, live }
}

beforeEach(async () => {
  await rig('reset')
})

test('an upgrade of the host’s SSH server that ends every connection is followed to its end, with the whole record', async () => {
  await standInForSystemd('host')
  // A restart of this unit ends the listener and all sessions; the rig's process 1 starts the new sshd.
  await inside(
    'host',
    `printf '%s\\n' '[Service]' 'ExecStart=/bin/sh -c "pkill sshd; exec sleep infinity"' >/etc/systemd/system/ssh.service`,
  )
  await repackSshServer()
  const service = await startService()
  const started = await health(service)
  const bob = await signIn(service, 'bob')
  const sshd = () => inside('host', 'cat /run/sshd.pid')
  const former = await sshd()

  const check = await checkingAs(bob).check('host')
  expect(check.findings).toContainEqual(
    expect.objectContaining({ code: 'self_impact', severity: 'warning', packages: ['openssh-server'] }),
  )
  const { live } = await upgradeWhole(bob, 'host')

  expect(live.output()).toContain('Setting up openssh-server')
  expect(await dpkgStatus('host', 'openssh-server')).toContain('+rig1')
  expect(await sshd()).not.toBe(former)
  // The service stayed up, and reaches the host again by itself.
  expect(live.connections()).toBe(1)
  expect((await health(service)).boot_id).toBe(started.boot_id)
  expect((await checkingAs(bob).check('host')).findings.map(({ code }) => code)).not.toContain('self_impact')
  await service.stop()
})

describe.each<Place>(['host', '101'])('the panel is installed on %s', (place) => {
  test('an upgrade of its own package by itself is followed to its end, by the new version', async () => {
    if (place !== 'host') await rig('net', place, 'host')
    await standInForSystemd(place)
    const former = await makePackage(place, FORMER)
    const newer = await makePackage(place, NEWER)
    const panel = await installPanel(place, former)
    await endAutomaticChecks(await signIn({ url: panel.url }, 'alice'))
    const bob = await signIn({ url: panel.url }, 'bob')
    const before = await health(panel)
    await offerPackage(place, newer)
    const target = place === 'host' ? 'host' : `lxc:${place}`
    const check = checkingAs(bob)

    const { findings } = await check.check(target)
    expect(findings).toContainEqual(
      expect.objectContaining({
        code: 'application_update',
        message: expect.stringContaining(`${NEWER} (${FORMER} installée)`),
      }),
    )
    const impact = findings.find(({ code }) => code === 'self_impact')
    expect(impact).toMatchObject({ severity: 'warning', packages: ['ops-panel'] })
    expect(impact?.message).toContain(place === 'host' ? 'sur cet hôte' : 'dans ce conteneur')
    const { live } = await upgradeWhole(bob, place)

    expect(live.output()).toContain('Setting up ops-panel')
    expect(await dpkgStatus(place, 'ops-panel')).toBe(`install ok installed ${NEWER}`)
    const after = await health(panel)
    expect(after.boot_id).not.toBe(before.boot_id)
    expect([before.version, after.version]).toEqual([FORMER, NEWER])
    // The service that started the job did not end it.
    expect(live.connections()).toBeGreaterThan(1)
    expect((await check.check(target)).findings.map(({ code }) => code)).not.toContain('application_update')
  })
})

test('a new version of the panel that does not start is rolled back with its container, and the former one has the whole record', async () => {
  await rig('net', '101', 'host')
  await standInForSystemd('101')
  const former = await makePackage('101', FORMER)
  const newer = await makePackage('101', NEWER, { starts: false })
  const panel = await installPanel('101', former)
  const alice = await signIn({ url: panel.url }, 'alice')
  await endAutomaticChecks(alice)
  await offerPackage('101', newer)
  await checkingAs(alice).check('lxc:101')
  const before = await health(panel)

  const made = await alice.post('/api/updates/plans', { target: 'lxc:101', packages: ['ops-panel'] })
  expect(made.status).toBe(201)
  const { findings, id: plan } = z
    .looseObject({ id: z.string(), findings: z.array(z.looseObject({ code: z.string() })) })
    .parse(made.body)
  expect(findings).toContainEqual(
    expect.objectContaining({
      code: 'self_impact',
      packages: ['ops-panel'],
      message: expect.stringContaining('ramène aussi les données du panneau'),
    }),
  )
  const protection = { ...DEFAULT_PROTECTION, before: 'snapshot', on_failure: 'rollback', settle_seconds: 5 }
  const run = await alice.post('/api/updates/run', { target: 'lxc:101', plan, protection })
  expect(run.status).toBe(202)
  const { job_id } = z.looseObject({ job_id: z.string() }).parse(run.body)
  const kept = await keepHostFile(job_id)
  const live = followOn(alice, job_id)

  expect(await live.ended).toMatchObject({ type: 'update_done' })
  const record = await alice.get(`/api/updates/jobs/${job_id}`)
  expect(record.body).toMatchObject({ outcome: 'rolled_back', phase: 'done', status: 'success' })
  const four = await hashes(alice, job_id, { hostFile: await kept(), live: live.output() })
  expect(four).toEqual(alike(four.host))
  expect(live.output()).toContain('Setting up ops-panel')
  expect(await dpkgStatus('101', 'ops-panel')).toBe(`install ok installed ${FORMER}`)
  const after = await health(panel)
  expect(after.version).toBe(FORMER)
  expect(after.boot_id).not.toBe(before.boot_id)
  await expect.poll(jobFolders, { timeout: 10_000 }).toBe('')
})

/** Lets the host's repository offer Debian's own package of the SSH server under a higher version. */
async function repackSshServer(): Promise<void> {
  await inside(
    'host',
    `set -e
    tree=/var/tmp/repack
    mkdir -p "$tree/DEBIAN"
    dpkg -L openssh-server | while read -r path; do
      [ -d "$path" ] || cp -a --parents "$path" "$tree"
    done
    for file in conffiles config postinst postrm preinst prerm templates triggers; do
      [ ! -e "/var/lib/dpkg/info/openssh-server.$file" ] || cp -p "/var/lib/dpkg/info/openssh-server.$file" "$tree/DEBIAN/$file"
    done
    dpkg-query -s openssh-server | sed -e '/^Status: /d' -e '/^Conffiles:/,/^[^ ]/{/^Conffiles:/d;/^ /d}' \\
      -e 's/^Version: .*/&+rig1/' >"$tree/DEBIAN/control"
    dpkg-deb --root-owner-group -Znone -b "$tree" /srv/rig/openssh-server.deb >&2`,
  )
  await offerPackage('host', '/srv/rig/openssh-server.deb')
}
