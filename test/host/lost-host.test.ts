import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Caller, packages, record, signIn } from './client.ts'
import { type Follower, follow } from './follower.ts'
import { startFollowed } from './job.ts'
import { rig } from './rig.ts'
import { isHealthy, type Service, startService } from './service.ts'

let service: Service
let bob: Caller
beforeAll(async () => {
  await rig('reset')
  service = await startService()
  bob = await signIn(service, 'bob')
  return () => service.stop()
})

let job: Follower & { id: string }
beforeEach(async () => {
  await rig('reset')
  await rig('slow', '400', '50')
  job = await startFollowed(bob, 'lxc:101')
  await job.until(({ output }) => output().includes('rig-slow: step 5 '))
})
afterEach(() => rig('up'))

test('sessions that are cut in mid-stream end the job in error; the service goes on', async () => {
  await rig('cut')

  await endsInError(5_000)
  expect(await packages(bob, 'lxc:102')).toHaveLength(5)
})

test('a host that goes away in mid-stream ends the job in error; the service finds it again', async () => {
  await rig('down')

  await endsInError(5_000)
  expect((await bob.get('/api/updates/targets')).body).toHaveLength(1)
  await rig('up')
  expect((await bob.get('/api/updates/targets')).body).toHaveLength(4)
})

test('a host that stops answering in mid-stream ends the job in error within a minute and a half', async () => {
  await rig('freeze', 'on')

  await endsInError(80_000)
  await rig('freeze', 'off')
  expect(await packages(bob, 'lxc:102')).toHaveLength(5)
})

/** The job has failed in every view of it, and what had come before can still be read. */
async function endsInError(withinMs: number) {
  const cut = performance.now()
  expect(await job.closed).toBe(1000)
  expect(performance.now() - cut).toBeLessThan(withinMs)
  const { status, output, finished_at } = await record(bob, job.id)
  expect(status).toBe('error')
  expect(output).toMatch(/^Erreur SSH : .+/)
  expect(finished_at).toBeDefined()
  expect(job.frames.at(-1)).toMatchObject({ type: 'update_error', data: { error: output } })
  expect(await isHealthy(service.url)).toBe(true)

  const late = await follow(service, job.id, { token: bob.token })
  expect(await late.closed).toBe(1000)
  expect(late.output()).toBe(job.output())
  expect(late.frames.at(-1)).toMatchObject({ type: 'update_error', data: { error: output } })
}
