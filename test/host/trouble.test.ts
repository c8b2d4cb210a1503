import { beforeAll, expect, test } from 'vitest'
import { type Caller, packages, record, signIn } from './client.ts'
import { jobResult, runJob, startFollowed } from './job.ts'
import { dpkgStatus, inside, rig } from './rig.ts'
import { type Service, startService } from './service.ts'

let service: Service
let bob: Caller
beforeAll(async () => {
  await rig('reset')
  await rig('slow', '2', '1')
  service = await startService()
  bob = await signIn(service, 'bob')
  return () => service.stop()
})

test('the output shows a failing postinst, and the next job finishes the half-done upgrade', async () => {
  await rig('fail', 'on', '101')
  const failed = await runJob(bob, 'lxc:101')
  const audit = await inside('101', 'dpkg --audit')
  await rig('fail', 'off', '101')
  const next = await runJob(bob, 'lxc:101')

  // The job is a success whatever the exit code, because its output is complete.
  expect(failed).toMatchObject({ code: 1000, record: { status: 'success' }, last: { type: 'update_done' } })
  expect(failed.output).toContain('rig-fail: simulated failure')
  expect(failed.output).toContain('E: Sub-process /usr/bin/dpkg returned an error code (1)')
  expect(audit).toContain('rig-fail')
  expect(next).toMatchObject({ record: { status: 'success' } })
  expect(await inside('101', 'dpkg --audit')).toBe('')
})

test('an upgrade of all skips a container whose upgrade fails, and upgrades the next one', async () => {
  await rig('reset', '101')
  await rig('fail', 'on', '101')

  // Its output imitates the results of other containers, and it tries to write a note of its own.
  const forged = `printf '%s\\n' 'SKIP LXC 102' '=== LXC 103 ===' 'ops-panel note 101 done 0' '101 done 0'
    for fd in 3 4 5 6 7 8 9; do echo '101 done 0' >&$fd; done 2>/dev/null
    echo '101 done 0' >/proc/self/fd/9; :`
  await inside('101', `printf '%s' '${Buffer.from(forged).toString('base64')}' | base64 -d >/usr/local/bin/forge`)
  await inside('101', `echo 'APT::Update::Pre-Invoke {"sh /usr/local/bin/forge";};' >/etc/apt/apt.conf.d/99forge`)

  const { id, output, record } = await runJob(bob, 'all')

  expect(record.status).toBe('success')
  expect(output).toContain('\n101 done 0\n')
  expect((await jobResult(bob, id)).containers?.map(({ vmid, state, exit_code }) => [vmid, state, exit_code])).toEqual([
    [101, 'failed', 100],
    [102, 'done', 0],
    [103, 'stopped', 255],
  ])
  expect(output).toMatch(/=== LXC 101 ===.*simulated failure.*SKIP LXC 101\n=== LXC 102 ===/s)
  expect(output.match(/^SKIP LXC 102$/gm)).toHaveLength(1)
  expect(await packages(bob, 'lxc:102')).toEqual([])
})

test('an upgrade keeps a locally changed conffile without a question', async () => {
  await rig('reset', '102')
  await rig('slow', '2', '1', '102')
  await rig('conffile', 'on', '102')

  const { record } = await runJob(bob, 'lxc:102')

  expect(record.status).toBe('success')
  expect(await inside('102', 'cat /etc/rig-conf.conf')).toBe('version=1.0\nmine=1')
  expect(await dpkgStatus('102', 'rig-conf')).toBe('install ok installed 2.0')
})

test('an upgrade waits for the lock of another apt', async () => {
  await rig('lock', '4', 'host')

  const { output, record } = await runJob(bob, 'host')

  expect(output).toContain('Waiting for cache lock')
  expect(record.status).toBe('success')
  expect(await packages(bob, 'host')).toEqual([])
})

test('an upgrade waits for the lock of the package lists, which another apt’s update holds', async () => {
  await rig('reset', '102')
  await rig('slow', '2', '1', '102')
  await rig('lock', '3', '102', 'lists')

  const { output } = await runJob(bob, 'lxc:102')

  expect(output).toContain('Setting up rig-web (2.0)')
  expect(await packages(bob, 'lxc:102')).toEqual([])
})

test('the output of the service account’s start-up files appears in no list and no job’s output', async () => {
  await rig('reset', '101')
  await rig('slow', '2', '1', '101')
  await inside('host', "sed -i '1i echo Bienvenue; echo Bienvenue >&2' /root/.bashrc")

  expect((await bob.get('/api/updates/targets')).body).toHaveLength(4)
  expect(await packages(bob, 'lxc:101')).toHaveLength(5)
  const { output, record } = await runJob(bob, 'lxc:101')
  expect(record).toMatchObject({ status: 'success', output })
  expect(output).not.toContain('Bienvenue')
})

/** Runs a script as root with the file `process` of the only job at the host as `$1` and its runner's pid as `$pid`. */
const atJob = (script: string) =>
  inside('host', `set -- /var/tmp/ops-panel-jobs-*/*/process; read -r pid rest <"$1"; ${script}`)

test.each([
  [
    'whose runner is killed',
    () => atJob('kill -s KILL "$pid"'),
    'job_killed',
    'Erreur SSH : la tâche a été arrêtée de force sur l’hôte',
  ],
  [
    'that began before a reboot of the host',
    async () => {
      await atJob(`sed -i 's/[^ ]*$/00000000-0000-0000-0000-000000000000/' "$1"`)
      await rig('cut')
    },
    'host_rebooted',
    'Erreur SSH : l’hôte a redémarré avant la fin de la tâche',
  ],
])('a job %s keeps its output and ends with that cause', async (_, end, code, error) => {
  await rig('reset', '102')
  await rig('slow', '100', '50', '102')
  const job = await startFollowed(bob, 'lxc:102')
  await job.until(({ output }) => output().includes('rig-slow: step 2 '))

  await end()

  expect(await job.closed).toBe(1000)
  expect(job.frames.at(-1)).toMatchObject({ type: 'update_error', data: { error } })
  expect(await jobResult(bob, job.id)).toMatchObject({ error_code: code, exit_code: null, containers: null })
  expect((await record(bob, job.id)).output).toBe(error)
  expect(job.output()).toContain('rig-slow: step 2 ')
})
