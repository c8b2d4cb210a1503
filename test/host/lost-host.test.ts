import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Caller, packages, record, signIn } from './client.ts'
import { jobDetail, steps, upTo } from './copies.ts'
import { type Follower, follow } from './follower.ts'
import { startFollowed } from './job.ts'
import { jobFolders, jobProcesses } from './remains.ts'
import { rig } from './rig.ts'
import { isHealthy, type Service, startService } from './service.ts'

const LINES = 400

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
  await rig('slow', String(LINES), '50')
  job = await startFollowed(bob, 'lxc:101')
  await job.until(({ output }) => output().includes('rig-slow: step 5 '))
})
afterEach(() => rig('up'))

test('a job waits for a host that is down, and ends in error if it comes back without the job’s folder', async () => {
  await rig('down')

  expect((await bob.get('/api/updates/targets')).body).toHaveLength(1)
  expect(await jobDetail(bob, job.id)).toMatchObject({ status: 'running' })
  expect(await isHealthy(service.url)).toBe(true)
  await rig('up')

  const before = job.output()
  expect(await job.closed).toBe(1000)
  const { status, output, finished_at } = await record(bob, job.id)
  expect(status).toBe('error')
  expect(output).toBe('Erreur SSH : le dossier de la tâche a disparu de l’hôte')
  expect(finished_at).toBeDefined()
  expect(job.frames.at(-1)).toMatchObject({ type: 'update_error', data: { error: output } })
  expect((await bob.get('/api/updates/targets')).body).toHaveLength(4)
  // The output from before can still be read.
  const late = await follow(service, job.id, { token: bob.token })
  expect(await late.closed).toBe(1000)
  expect(late.output()).toBe(before)
  expect(late.frames.at(-1)).toMatchObject({ type: 'update_error', data: { error: output } })
})

test('a job waits for a host that stops answering, and is followed to its end when it answers again', async () => {
  const since = service.log().length
  await rig('freeze', 'on')

  const told = () => service.log().slice(since)
  await expect.poll(told, { timeout: 80_000, interval: 100 }).toContain('the host is not reached')
  expect(await jobDetail(bob, job.id)).toMatchObject({ status: 'running' })
  await rig('freeze', 'off')

  expect(await job.closed).toBe(1000)
  expect(job.frames.at(-1)).toMatchObject({ type: 'update_done' })
  expect(steps(job.output())).toEqual(upTo(LINES))
  expect(await packages(bob, 'lxc:101')).toEqual([])
  await expect.poll(jobFolders, { timeout: 10_000 }).toBe('')
  await expect.poll(jobProcesses, { timeout: 10_000 }).toEqual([])
})
