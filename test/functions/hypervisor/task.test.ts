import { expect, test } from 'vitest'
import * as z from 'zod'
import { type TestHypervisor, testHypervisor } from '../../hypervisor.ts'
import { answered, refused } from '../answers.ts'
import { jobHost } from '../jobs/job-host.ts'
import { hypervisorApp, task } from './app.ts'

const Started = z.object({ task: z.string() })
const UPID = 'UPID:pve:0003E2F1:01C3A5B7:6745A000:vzstart:101:panel@pve!ops:'

/** Returns the reported state of a task of the hypervisor that writes these lines and ends like this. */
async function reported(hypervisor: TestHypervisor, lines: string[], exitstatus?: string) {
  hypervisor.nextTask = { lines, exitstatus }
  const app = await hypervisorApp(hypervisor)
  const { task } = Started.parse(await answered(await app.act(102, 'start'), 202))
  return answered(await app.task(task), 200)
}

test.each([
  ['runs', ['starting'], undefined, { status: 'running', exit_status: null }],
  ['has ended well', ['starting', 'TASK OK'], 'OK', { status: 'stopped', exit_status: 'OK' }],
  ['has ended with warnings', ['WARN: old'], 'WARNINGS: 1', { status: 'stopped', exit_status: 'WARNINGS: 1' }],
  [
    'has failed',
    ['run_buffer: 571 Script exited with status 32', "TASK ERROR: startup for container '102' failed"],
    "startup for container '102' failed",
    { status: 'stopped', exit_status: "startup for container '102' failed" },
  ],
])('a task that %s is reported so, with its log', async (_, lines, exitstatus, expected) => {
  expect(await reported(await testHypervisor(), lines, exitstatus)).toEqual({ ...expected, log: lines })
})

test('a task without output has an empty log', async () => {
  expect(await reported(await testHypervisor(), [], undefined)).toMatchObject({ log: [] })
})

const numbered = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}`)

test.each([499, 500, 501, 1_000, 1_001, 2_345])('a log of %i lines is cut to the last thousand', async (count) => {
  const lines = numbered(count)

  expect(await reported(await testHypervisor(), lines, 'OK')).toMatchObject({ log: lines.slice(-1_000) })
})

test('an endless log is refused, and an overlong line is cut', async () => {
  const hypervisor = await testHypervisor()
  hypervisor.nextTask = { lines: numbered(20_000), exitstatus: 'OK' }
  const app = await hypervisorApp(hypervisor)
  const { task } = Started.parse(await answered(await app.act(102, 'start'), 202))

  await refused(await app.task(task), 502, 'hypervisor_unreadable')

  const long = 'x'.repeat(1_000_000)
  expect(await reported(await testHypervisor(), [long], 'OK')).toMatchObject({ log: [`${long.slice(0, 4_096)}…`] })
})

test('a task that the hypervisor does not know gives 404', async () => {
  const app = await hypervisorApp(await testHypervisor())

  await refused(await app.task(UPID), 404, 'job_missing')
})

test.each([
  '..%2f..',
  'UPID',
  'UPID:pve:',
  'UPID:../x:0003E2F1:01C3A5B7:6745A000:vzstart:101:root@pam:',
  'UPID:pve:0003E2F1:01C3A5B7:6745A000:vzstart:../101:root@pam:',
  'UPID:pve:0003E2F1:01C3A5B7:6745A000:vzstart:101:a/../b:',
  'UPID:pve:0003E2F1:01C3A5B7:6745A000:vzstart:101:root@pam:/status',
  `${UPID}\n`,
  `${UPID}\0`,
  'UPID:pve:0003E2F1:01C3A5B7:6745A000:vzstart:101:root@pam',
  'x'.repeat(2_000),
])('%j is no task: 404, and the hypervisor is not asked', async (id) => {
  const hypervisor = await testHypervisor()
  const app = await hypervisorApp(hypervisor)

  await refused(await app.request('GET', task(id), { as: 'admin' }), 404, 'job_missing')

  expect(hypervisor.connections()).toBe(0)
})

test('without a token a task of the hypervisor gives 404, and so does another user’s job', async () => {
  const app = await hypervisorApp(undefined)

  await refused(await app.task(UPID), 404, 'job_missing')
  await refused(await app.task('1700000000-aaaaaaaa'), 404, 'job_missing')
})

test.each([
  ['well', '', 0, { exit_status: 'OK', log: [] }],
  ['well, with words', 'one\r\ntwo\n', 0, { exit_status: 'OK', log: ['one', 'two'] }],
  [
    'badly',
    'x\nCT 101 already running\n',
    255,
    { exit_status: 'CT 101 already running', log: ['x', 'CT 101 already running'] },
  ],
  ['badly, without output', '', 255, { exit_status: 'code 255', log: [] }],
])('a job of the container tool that ends %s is reported like a task', async (_, text, code, expected) => {
  const list = { stdout: '101 running web\n' }
  const app = await hypervisorApp(undefined, {}, { fake: jobHost({ text, code, list }) })
  const { task } = Started.parse(await answered(await app.act(101, 'stop'), 202))

  await expect.poll(async () => answered(await app.task(task), 200)).toEqual({ status: 'stopped', ...expected })
})

test('a job started without a token can still be read once there is a token', async () => {
  const list = { stdout: '101 running web\n' }
  const app = await hypervisorApp(undefined, {}, { fake: jobHost({ list }) })
  const { task } = Started.parse(await answered(await app.act(101, 'stop'), 202))
  const hypervisor = await testHypervisor()
  const { url, token } = hypervisor
  await app.services.settings.change({ hypervisor_url: url, hypervisor_token: token })

  expect(await answered(await app.task(task), 200)).toMatchObject({ log: [] })
  expect(hypervisor.connections()).toBe(0)
})

test('a job that cannot begin ends with the reason', async () => {
  const fake = jobHost({ list: { stdout: '101 running web\n' } })
  const app = await hypervisorApp(
    undefined,
    {},
    {
      fake: {
        exec: (command) => (command[1] === 'list' ? fake.exec(command) : { code: 75, stderr: 'no space left\n' }),
      },
    },
  )
  const { task } = Started.parse(await answered(await app.act(101, 'stop'), 202))

  await expect
    .poll(async () => answered(await app.task(task), 200))
    .toEqual({ status: 'stopped', exit_status: 'Erreur SSH : no space left', log: [] })
})
