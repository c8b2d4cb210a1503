import { beforeEach, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { auditEntries } from './audit.ts'
import { signIn } from './client.ts'
import { runCheck, startFollowed, startJob } from './job.ts'
import { resetNarrow } from './narrow.ts'
import { bootId, rebootingAs, rebootsAsked } from './rebooting.ts'
import { jobFolders, jobProcesses } from './remains.ts'
import { followOn } from './resuming.ts'
import { type Account, inside, rig } from './rig.ts'
import { startService } from './service.ts'

const Host = z.looseObject({ boot_id: z.string(), reboot_required: z.boolean(), reboot_reasons: z.array(z.string()) })
const PATIENCE = { timeout: 20_000, interval: 50 }

/** A service on another machine, and an administrator of the host. */
async function elsewhere(as: Account = 'root') {
  const service = await startService({ as })
  const admin = await signIn(service, 'alice')
  const host = async () => Host.parse((await admin.get('/api/hypervisor/host')).body)
  return { service, admin, host, ...rebootingAs(admin) }
}

/** Runs a command on the host in the background for so many seconds. */
const onHost = (seconds: number, command: string) =>
  inside('host', `setsid timeout ${seconds} ${command} </dev/null >/dev/null 2>&1 & sleep 0.3`)

/** Somebody else reads the package lists, so a check waits: for 30 seconds at most. */
const holdLists = () => rig('lock', '28', 'host', 'lists')
const releaseLists = () => inside('host', 'pkill -f "[h]old-lock" || true')

beforeEach(() => rig('reset'))

describe.each<[Account, string, string]>([
  ['root', 'is root', '1'],
  ['alice', 'has sudo with a password', '1 hard'],
  ['ops', 'has a sudo rule for single commands', '2'],
  ['narrow', 'has the host helper alone', '1'],
])('the service account %s, which %s', (account, _, how) => {
  test('reboots the host, and the job ends when another boot has its containers again', async () => {
    if (account === 'narrow') await resetNarrow()
    await rig('reboots', ...how.split(' '))
    if (account === 'ops')
      await inside('host', `echo 'ops ALL=(root) NOPASSWD: /usr/bin/systemctl reboot' >/etc/sudoers.d/reboot`)
    await inside('host', 'touch /run/reboot-required; echo dbus >/run/reboot-required.pkgs')
    const { service, admin, host, begin, ended, output } = await elsewhere(account)
    const before = await bootId()
    expect(await host()).toMatchObject({ boot_id: before, reboot_required: true, reboot_reasons: ['dbus'] })

    const id = await begin()
    const live = followOn(admin, id)

    expect(await live.ended).toMatchObject({ type: 'update_done', data: { job_id: id } })
    const job = await ended(id)
    const after = await bootId()
    expect(job).toMatchObject({ kind: 'reboot', target: 'host', status: 'success', exit_code: 0, warnings: [] })
    expect(after).not.toBe(before)
    expect(await host()).toMatchObject({ boot_id: after, reboot_required: false, reboot_reasons: [] })
    expect(live.connections()).toBe(1)
    expect(live.output()).toBe(await output(id))
    expect(live.output()).toContain('The host is asked to reboot.\n')
    expect(live.output()).toContain(`L’hôte a redémarré : ${before} → ${after}.\n`)
    expect(live.output()).toMatch(/Conteneurs de nouveau en marche : 2 sur 2\.$/)
    expect(await rebootsAsked()).toHaveLength(1)
    expect(await auditEntries(admin, 'action=host_reboot')).toMatchObject([
      { username: 'alice', target: 'host', details: { job_id: id, boot_id: before } },
    ])
    await expect.poll(jobFolders, PATIENCE).toBe('')
    await expect.poll(jobProcesses, PATIENCE).toEqual([])
    await service.stop()
  })
})

test('a rule that lacks systemctl is told with its line, and nothing happens', async () => {
  await rig('reboots', '1')
  const { service, begin, ended } = await elsewhere('ops')

  const job = await ended(await begin())

  expect(job).toMatchObject({ status: 'error', error_code: 'systemctl_not_allowed' })
  expect(job.output).toContain('ops ALL=(root) NOPASSWD: /usr/bin/systemctl\n')
  expect(await rebootsAsked()).toEqual([])
  await service.stop()
})

test('a container that does not start with the host is named, and one that was stopped is not', async () => {
  await rig('reboots', '1')
  await rig('onboot', '102', 'off')
  await inside('host', 'pct start 103 && pct stop 101')
  const { service, begin, ended } = await elsewhere()

  const job = await ended(await begin())

  expect(job).toMatchObject({
    status: 'success',
    warnings: [
      'Le conteneur 102 (db) tournait avant le redémarrage et ne tourne plus.',
      'Le conteneur 103 (old-backup) tournait avant le redémarrage et ne tourne plus.',
    ],
  })
  expect(job.output).toContain('Conteneurs de nouveau en marche : 0 sur 2.\nLe conteneur 102 (db)')
  await service.stop()
})

test('an open port is no proof: the same boot is waited out, and another one ends the job', async () => {
  await rig('reboots', '1', 'same', 'hard')
  const { service, begin, ended, record } = await elsewhere()
  const before = await bootId()
  const sshd = () => inside('host', 'cat /run/sshd.pid 2>/dev/null || true')
  const former = await sshd()

  const id = await begin()
  await expect.poll(sshd, PATIENCE).not.toMatch(new RegExp(`^(${former})?$`))
  await expect.poll(() => service.log().split('the host is not reached').length, PATIENCE).toBeGreaterThan(1)
  await expect.poll(() => inside('host', 'pct list | grep -c " running " || true'), PATIENCE).toBe('2')
  await new Promise((resolve) => setTimeout(resolve, 6_000))
  expect(await record(id)).toMatchObject({ status: 'running' })
  expect(await bootId()).toBe(before)
  await rig('reboots', '1', 'hard')
  await rig('reboots', 'now')

  expect(await ended(id)).toMatchObject({ status: 'success', warnings: [] })
  expect(await bootId()).not.toBe(before)
  await service.stop()
})

test('a reboot that never comes is told after its time, and other jobs go on', async () => {
  await rig('reboots', '1', 'never')
  const { service, admin, begin, ended } = await elsewhere()
  const before = await bootId()

  const id = await begin()
  await expect.poll(rebootsAsked, PATIENCE).toHaveLength(1)
  const waiting = await startJob(admin, 'lxc:101')
  // The script waits for 15 minutes in this one program.
  await expect.poll(() => inside('host', 'pgrep -cfx "sleep 900" || true'), PATIENCE).toBe('1')
  await inside('host', 'pkill -fx "sleep 900"')

  const job = await ended(id)
  expect(job).toMatchObject({ status: 'error', error_code: 'reboot_missing', exit_code: 70 })
  expect(job.output).toMatch(/The host is asked to reboot\.\n(Terminated\n)?L’hôte n’a pas redémarré en 15 minutes/)
  expect(await bootId()).toBe(before)
  expect(await followOn(admin, waiting).ended).toMatchObject({ type: 'update_done' })
  await service.stop()
})

test('a host that refuses says why, and nothing is waited for', async () => {
  await rig('reboots', '1', 'refused')
  const { service, begin, ended } = await elsewhere()

  const job = await ended(await begin())

  expect(job).toMatchObject({ status: 'error', error_code: 'reboot_refused' })
  expect(job.output).toContain('Call to Reboot failed: Access denied\n')
  await service.stop()
})

test('the figures of the host give the same reasons as its check: packages, and a newer kernel of the running flavour', async () => {
  const { service, admin, host } = await elsewhere('ops')
  const Check = z.looseObject({ reboot: z.object({ required: z.boolean(), reasons: z.array(z.string()) }) })
  const agreed = async () => {
    await runCheck(admin, 'host')
    const { reboot } = Check.parse((await admin.get('/api/updates/checks/host')).body)
    const { reboot_required, reboot_reasons } = await host()
    expect(reboot).toEqual({ required: reboot_required, reasons: reboot_reasons })
    return reboot_reasons
  }
  const running = await inside('host', 'uname -r')
  const newer = running.replace(/^\d+/, (major) => String(Number(major) + 1))
  expect(await agreed()).toEqual([])

  await inside('host', `touch /boot/vmlinuz-${running} /boot/vmlinuz-${newer}-other /boot/vmlinuz-1.2.3`)
  expect(await agreed()).toEqual([])
  await inside('host', `touch /boot/vmlinuz-${newer} /run/reboot-required; echo dbus >/run/reboot-required.pkgs`)
  expect(await agreed()).toEqual(['dbus', `noyau ${newer} installé, ${running} en service`])
  await service.stop()
})

test('only an administrator who names the host may, and not while a job or a backup runs', async () => {
  await rig('reboots', '1')
  const { service, admin, ask, begin, ended } = await elsewhere()
  const bob = await signIn(service, 'bob')

  expect(await rebootingAs(bob).ask()).toMatchObject({ status: 403 })
  for (const name of ['', 'PVE', 'pve ', 'pve\n', '127.0.0.1'])
    expect(await ask(name)).toMatchObject({ status: 422, body: { code: 'confirm_invalid' } })

  await rig('slow', '100', '50')
  const job = await startFollowed(bob, 'lxc:101')
  await job.until(({ output }) => output().includes('rig-slow: step 5 '))
  expect(await ask()).toMatchObject({ status: 409, body: { code: 'jobs_running', job_id: job.id } })
  await job.closed

  await rig('vzdump-running', '60')
  expect(await ask()).toMatchObject({ status: 409, body: { code: 'backup_running' } })
  await rig('vzdump-running', 'off')
  await expect.poll(() => inside('host', 'pgrep -c vzdump || true'), PATIENCE).toBe('0')
  // The lock alone, and the task of a backup without it.
  await onHost(4, 'flock /run/vzdump.lock sleep 60')
  expect(await ask()).toMatchObject({ status: 409, body: { code: 'backup_running' } })
  await expect.poll(() => inside('host', 'flock -n /run/vzdump.lock true && echo free || true'), PATIENCE).toBe('free')
  await onHost(4, `perl -e '$0 = "task UPID:pve:0001F9A3:0072AC5D:67890ABC:vzdump:103:root@pam:"; sleep 60'`)
  expect(await ask()).toMatchObject({ status: 409, body: { code: 'backup_running' } })
  await expect.poll(() => inside('host', 'pgrep -cf "^task UPID" || true'), PATIENCE).toBe('0')
  expect(await rebootsAsked()).toEqual([])
  expect((await admin.get('/api/updates/history?kind=reboot')).body).toBeNull()

  // The file of the lock stays, and a process of a container, or of an account, passes for no backup.
  expect(await inside('host', 'ls /run/vzdump.lock')).toBe('/run/vzdump.lock')
  await inside('101', `cp /bin/sleep /tmp/vzdump; setsid /tmp/vzdump 300 </dev/null >/dev/null 2>&1 &`)
  await inside('host', `cp /bin/sleep /tmp/vzdump; su bob -c 'setsid /tmp/vzdump 300 </dev/null >/dev/null 2>&1 &'`)
  expect(await ended(await begin())).toMatchObject({ status: 'success' })
  await service.stop()
})

test('a check that runs is waited for, a backup that begins meanwhile forbids the reboot, and later jobs wait', async () => {
  await rig('reboots', '1')
  const { service, admin, begin, ended, record } = await elsewhere()
  const check = z.looseObject({ job_id: z.string() })
  await holdLists()
  const running = check.parse((await admin.post('/api/updates/checks', { target: 'host' })).body).job_id

  const id = await begin()
  await rig('vzdump-running', '60')

  await expect
    .poll(async () => (await record(id)).output)
    .toContain(`En attente de la fin de la tâche ${running} (host)`)
  const late = await startJob(admin, 'lxc:101')
  await expect.poll(async () => (await record(late)).output).toBe(`En attente de la fin de la tâche ${id} (host)…\n`)
  await releaseLists()
  expect(await ended(id)).toMatchObject({ status: 'error', error_code: 'backup_running' })
  expect(await record(running)).toMatchObject({ status: 'success' })
  expect(await rebootsAsked()).toEqual([])
  expect(await ended(late)).toMatchObject({ status: 'success' })
  await service.stop()
})

test('a reboot that is cancelled before it is asked for does not happen, and later it says that it does', async () => {
  await rig('reboots', '1', 'never')
  const { service, admin, begin, ended } = await elsewhere()
  await holdLists()
  await admin.post('/api/updates/checks', { target: 'host' })

  const early = await begin()
  expect(await admin.post(`/api/updates/jobs/${early}/cancel`, {})).toMatchObject({ status: 202 })
  expect(await ended(early)).toMatchObject({ status: 'error', error_code: 'cancelled' })
  await releaseLists()
  expect(await rebootsAsked()).toEqual([])

  const late = await begin()
  await expect.poll(rebootsAsked, PATIENCE).toHaveLength(1)
  expect(await admin.post(`/api/updates/jobs/${late}/cancel`, {})).toMatchObject({ status: 202 })
  const job = await ended(late)
  expect(job).toMatchObject({ status: 'error', error_code: 'cancelled' })
  expect(job.output).toContain('Le redémarrage était déjà demandé à l’hôte : il a lieu quand même.\nAnnulé par alice')
  await service.stop()
})
