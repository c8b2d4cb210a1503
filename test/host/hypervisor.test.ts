import { beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { type Caller, signIn } from './client.ts'
import { startJob } from './job.ts'
import { jobFolders } from './remains.ts'
import { type Account, inside, rig } from './rig.ts'
import { newFolder, type Service, startService } from './service.ts'

/** The longest start or stop on a busy machine. */
const PATIENCE = { timeout: 60_000, interval: 200 }

const Started = z.object({ task: z.string().regex(/^\d+-[a-z0-9]{8}$/), message: z.string().min(1) })
const Task = z.object({ status: z.string(), exit_status: z.string().nullable(), log: z.array(z.string()) })
const Listed = z.array(z.looseObject({ vmid: z.number(), status: z.string(), lock: z.string().nullable() }))

async function act(caller: Caller, vmid: number, action: string): Promise<string> {
  const { status, body } = await caller.post(`/api/hypervisor/containers/${vmid}/${action}`, {})
  expect({ status, body }).toMatchObject({ status: 202 })
  return Started.parse(body).task
}

const task = async (caller: Caller, id: string) => Task.parse((await caller.get(`/api/hypervisor/tasks/${id}`)).body)

/** Acts on a container and returns its task at the end. */
async function done(caller: Caller, vmid: number, action: string) {
  const id = await act(caller, vmid, action)
  await expect.poll(async () => (await task(caller, id)).status, PATIENCE).toBe('stopped')
  return task(caller, id)
}

async function listed(caller: Caller, vmid: number) {
  const all = Listed.parse((await caller.get('/api/hypervisor/containers')).body)
  return all.find((one) => one.vmid === vmid)
}

/** Returns the start of the container's first process, which differs after a reboot. */
const bootOf = (vmid: '101' | '102') => inside(vmid, 'stat -c %Y.%i /proc/1/ns/pid; cut -d " " -f 22 /proc/1/stat')

describe.each<[Account, string]>([
  ['root', 'root itself'],
  ['alice', 'sudo for anything, with its password'],
  ['ops', 'sudo without a password, only for apt, apt-get and pct'],
])('without a token, with the service account %s (%s)', (account) => {
  let service: Service
  let admin: Caller
  beforeAll(async () => {
    await rig('reset')
    // The group of each account has its name.
    service = await startService({ as: account, env: { PANEL_OPERATOR_GROUPS: 'bob', PANEL_VIEWER_GROUPS: 'zoe' } })
    admin = await signIn(service, 'alice')
    return () => service.stop()
  })

  test('an administrator starts, reboots, shuts down and stops a container, and the list follows', async () => {
    expect(await listed(admin, 103)).toMatchObject({ status: 'stopped', lock: null, cpu: null, tags: null })

    expect(await done(admin, 103, 'start')).toEqual({ status: 'stopped', exit_status: 'OK', log: [] })
    expect(await listed(admin, 103)).toMatchObject({ status: 'running' })
    expect(await done(admin, 103, 'shutdown')).toMatchObject({ exit_status: 'OK' })
    expect(await listed(admin, 103)).toMatchObject({ status: 'stopped' })

    const before = await bootOf('102')
    expect(await done(admin, 102, 'reboot')).toMatchObject({ exit_status: 'OK' })
    expect(await listed(admin, 102)).toMatchObject({ status: 'running' })
    expect(await bootOf('102')).not.toBe(before)

    expect(await done(admin, 102, 'stop')).toMatchObject({ exit_status: 'OK' })
    expect(await listed(admin, 102)).toMatchObject({ status: 'stopped' })
    expect(await inside('host', 'pct list')).toMatch(/^102 +stopped /m)
    expect(await done(admin, 102, 'start')).toMatchObject({ exit_status: 'OK' })
    expect(await listed(admin, 102)).toMatchObject({ status: 'running' })
  })

  test('a task ends with the tool’s own words when the tool refuses', async () => {
    expect(await done(admin, 101, 'start')).toEqual({
      status: 'stopped',
      exit_status: 'CT 101 already running',
      log: ['CT 101 already running'],
    })
  })

  test('an action on a locked container is refused with the name of its lock, and changes nothing', async () => {
    await inside('host', 'echo "lock: backup" >>/etc/pve/lxc/101.conf')

    const { status, body } = await admin.post('/api/hypervisor/containers/101/stop', {})

    await inside('host', 'sed -i /^lock:/d /etc/pve/lxc/101.conf')
    expect({ status, body }).toMatchObject({ status: 502, body: { code: 'container_locked' } })
    expect(JSON.stringify(body)).toContain('(backup)')
    expect(await listed(admin, 101)).toMatchObject({ status: 'running' })
  })

  test('an action on an unknown container is 404, for an operator too, and that of a viewer 403', async () => {
    expect(await admin.post('/api/hypervisor/containers/999/start', {})).toMatchObject({ status: 404 })
    const bob = await signIn(service, 'bob')
    expect(await bob.post('/api/hypervisor/containers/999/start', {})).toMatchObject({ status: 404 })
    const zoe = await signIn(service, 'zoe')
    expect(await zoe.post('/api/hypervisor/containers/103/start', {})).toMatchObject({ status: 403 })
  })

  test('the figures of the host match those of its own commands', async () => {
    const { status, body } = await admin.get('/api/hypervisor/host')

    const value = async (command: string) => (await inside('host', command)).trim()
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        hostname: await value('hostname'),
        os: await value('. /etc/os-release; echo "$PRETTY_NAME"'),
        kernel: await value('uname -r'),
        cpus: Number(await value('nproc --all')),
        maxmem: Number(await value('sed -n "s/^MemTotal: *\\([0-9]*\\) kB/\\1/p" /proc/meminfo')) * 1024,
        maxdisk: Number(await value('df -B1024 --output=size / | tail -n 1')) * 1024,
        reboot_required: false,
        dpkg_broken: false,
      },
    })
    const { uptime, mem, maxmem, disk, maxdisk, load } = Figures.parse(body)
    expect(Math.abs(uptime - Number(await value('cut -d . -f 1 /proc/uptime')))).toBeLessThan(120)
    expect([mem > 0 && mem < maxmem, disk >= 0 && disk <= maxdisk]).toEqual([true, true])
    expect(load.every((each) => each >= 0 && each < 1_000)).toBe(true)
  })

  test('the answer about the host reports a required reboot and an interrupted dpkg while they last', async () => {
    const flags = async () => {
      const { reboot_required, dpkg_broken } = Figures.parse((await admin.get('/api/hypervisor/host')).body)
      return [reboot_required, dpkg_broken]
    }
    await inside('host', 'mkdir -p /run && touch /run/reboot-required && touch /var/lib/dpkg/updates/0001')
    expect(await flags()).toEqual([true, true])

    await inside('host', 'rm /run/reboot-required /var/lib/dpkg/updates/0001')
    expect(await flags()).toEqual([false, false])
  })

  test('the service account’s start-up files may print without harm', async () => {
    await inside('host', `sed -i '1i echo Bienvenue; echo; echo end; echo Bienvenue >&2' ~${account}/.bashrc`)

    const { status, body } = await admin.get('/api/hypervisor/host')
    const { exit_status } = await done(admin, 103, 'start')

    await inside('host', `sed -i 1d ~${account}/.bashrc`)
    expect({ status, body }).toMatchObject({ status: 200, body: { kernel: await inside('host', 'uname -r') } })
    expect(exit_status).toBe('OK')
  })

  test('container actions leave nothing on the host, and no upgrade in the history', async () => {
    await expect.poll(jobFolders, PATIENCE).toBe('')
    expect((await admin.get('/api/updates/history')).body).toBeNull()
  })
})

const Figures = z.object({
  uptime: z.number(),
  load: z.array(z.number()),
  mem: z.number(),
  maxmem: z.number(),
  disk: z.number(),
  maxdisk: z.number(),
  reboot_required: z.boolean(),
  dpkg_broken: z.boolean(),
})

test('a service that is killed during a container’s shutdown follows it to its end after a restart', async () => {
  await rig('reset')
  // The shutdown is slow, as that of a database may be.
  const folder = await newFolder()
  const before = await startService({ folder })
  const admin = await signIn(before, 'alice')
  await inside(
    'host',
    `mv /usr/sbin/pct /usr/sbin/pct.real
     printf '#!/bin/sh\\n[ "$1" != shutdown ] || sleep 5\\nexec /usr/sbin/pct.real "$@"\\n' >/usr/sbin/pct
     chmod 755 /usr/sbin/pct`,
  )
  const id = await act(admin, 102, 'shutdown')
  await expect.poll(() => inside('host', 'pgrep -f "[p]ct shutdown 102" || true'), PATIENCE).not.toBe('')
  await before.kill()

  const after = await startService({ folder })
  const again = await signIn(after, 'alice')
  await expect.poll(async () => (await task(again, id)).status, PATIENCE).toBe('stopped')

  expect(await task(again, id)).toMatchObject({ exit_status: 'OK' })
  expect(await listed(again, 102)).toMatchObject({ status: 'stopped' })
  await after.stop()
})

test('an administrator can stop a container during its upgrade', async () => {
  await rig('reset')
  const service = await startService()
  const admin = await signIn(service, 'alice')
  await rig('slow', '600', '100', '101')
  const upgrade = await startJob(admin, 'lxc:101')
  await expect
    .poll(async () => JSON.stringify((await admin.get(`/api/updates/jobs/${upgrade}`)).body), PATIENCE)
    .toContain('rig-slow: step')

  expect(await done(admin, 101, 'stop')).toMatchObject({ exit_status: 'OK' })

  expect(await listed(admin, 101)).toMatchObject({ status: 'stopped' })
  await expect
    .poll(async () => JSON.stringify((await admin.get(`/api/updates/jobs/${upgrade}`)).body), PATIENCE)
    .not.toContain('"running"')
  await service.stop()
})
