import { beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { type Caller, packages, signIn } from './client.ts'
import { runJob, startFollowed } from './job.ts'
import { narrowAccount } from './narrow.ts'
import { type Account, inside, PASSWORDS, rig } from './rig.ts'
import { type Service, startService } from './service.ts'

/** An update of the rig drives another package out. */
const REMOVAL = expect.objectContaining({ code: 'kept_back_remove', packages: ['rig-web'] })

describe.each<[Account, string]>([
  ['alice', 'sudo for anything, with its password'],
  ['ops', 'sudo without a password, only for apt, apt-get and pct'],
  ['narrow', 'sudo without a password, only for the host helper'],
])('the service account %s, which has %s', (account) => {
  let service: Service
  let bob: Caller
  beforeAll(async () => {
    await rig('reset')
    if (account === 'narrow') await narrowAccount()
    await rig('lang', 'fr_FR.UTF-8')
    service = await startService({ as: account })
    bob = await signIn(service, 'bob')
    return () => service.stop()
  })

  test('lists the containers', async () => {
    expect((await bob.get('/api/updates/targets')).body).toHaveLength(4)
  })

  test.each(['host', 'lxc:101'])('lists the packages of %s', async (target) => {
    expect(await packages(bob, target)).toHaveLength(5)
  })

  test('checks the host and every container', async () => {
    const { job_id } = z
      .object({ job_id: z.string() })
      .parse((await bob.post('/api/updates/checks', { target: 'all' })).body)
    const detail = async () => (await bob.get(`/api/updates/jobs/${job_id}`)).body
    await expect.poll(detail, { timeout: 30_000 }).toMatchObject({ status: 'success', exit_code: 0 })

    const { checks } = z
      .object({ checks: z.array(z.looseObject({})) })
      .parse((await bob.get('/api/updates/checks')).body)
    expect(checks).toMatchObject([
      ...['host', 'lxc:101', 'lxc:102'].map((target) => ({ target, state: 'ready', findings: [REMOVAL] })),
      { target: 'lxc:103', state: 'stopped' },
    ])
    expect(checks[0]?.lists_at).toEqual(expect.any(String))
    expect(await detail()).not.toMatchObject({ output: expect.stringContaining(PASSWORDS[account]) })
  })

  test('reports which of apt’s sources it cannot read', async () => {
    await inside('host', 'cd /etc/apt && install -m 600 sources.list sources.list.d/private.list')

    const { job_id } = z
      .object({ job_id: z.string() })
      .parse((await bob.post('/api/updates/checks', { target: 'host' })).body)
    const detail = async () => (await bob.get(`/api/updates/jobs/${job_id}`)).body
    await expect.poll(detail, { timeout: 30_000 }).toMatchObject({ status: 'success', exit_code: 0 })

    const unread = { code: 'lists_stale', repository: '/etc/apt/sources.list.d/private.list' }
    const expected =
      account === 'ops' ? { state: 'attention', findings: [unread, REMOVAL] } : { state: 'ready', findings: [REMOVAL] }
    expect((await bob.get('/api/updates/checks/host')).body).toMatchObject(expected)
    await inside('host', 'rm /etc/apt/sources.list.d/private.list')
  })

  test('upgrades a container live, and its password is in no process of the host', async () => {
    const job = await startFollowed(bob, 'lxc:101')
    await job.until(({ output }) => output().includes('rig-slow: step 5 '))
    // LXC makes root the owner of its stdout file; the account must still be able to read its own job's output.
    const owner = await inside('host', 'stat -c %U /var/tmp/ops-panel-jobs-*/*/output')
    const processes = await inside('host', 'cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | tr "\\0" "\\n"')

    expect(await job.closed).toBe(1000)
    expect(owner).toBe(account === 'alice' ? 'root' : account)
    expect(processes).toContain('full-upgrade')
    expect(processes).not.toContain(PASSWORDS[account])
    expect(job.output()).not.toContain(PASSWORDS[account])
    const steps = job.frames.filter(
      ({ type, data }) => type === 'update_output' && data.chunk.includes('rig-slow: step'),
    )
    expect(steps.length).toBeGreaterThanOrEqual(20)
    expect(await packages(bob, 'lxc:101')).toEqual([])
  })

  test('upgrades the host, with root’s own settings of apt', async () => {
    await rig('conffile', 'on', 'host')

    const { record } = await runJob(bob, 'host')

    expect(record.status).toBe('success')
    expect(await packages(bob, 'host')).toEqual([])
    expect(await inside('host', 'cat /etc/rig-conf.conf')).toBe('version=1.0\nmine=1')
    expect(await inside('host', 'dpkg --audit')).toBe('')
  })

  test('upgrades all containers and skips the stopped one', async () => {
    await rig('slow', '2', '1', '102')

    const { output, record } = await runJob(bob, 'all')

    expect(record.status).toBe('success')
    expect(output.match(/^SKIP LXC .*$/gm)).toEqual(['SKIP LXC 103'])
    expect(await packages(bob, 'lxc:102')).toEqual([])
  })

  test('leaves nothing on the host but the empty folder of its jobs', async () => {
    const left = () =>
      inside('host', 'find /var/tmp -name "*ops-panel*" -printf "%f %U %m\n"; ls -A /var/tmp/ops-panel-jobs-*')
    const uid = await inside('host', `id -u ${account === 'alice' ? 'root' : account}`)
    await expect.poll(left, { timeout: 5_000 }).toMatch(new RegExp(`^ops-panel-jobs-\\w+ ${uid} 711$`))
  })
})
