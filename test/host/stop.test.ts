import { beforeEach, expect, test } from 'vitest'
import { login, signIn } from './client.ts'
import { startFollowed } from './job.ts'
import { dpkgStatus, inside, rig } from './rig.ts'
import { isHealthy, startService } from './service.ts'

beforeEach(() => rig('reset'))

test('SIGTERM closes the sockets with 1001 and ends the service within 5 s; the job runs on at the host', async () => {
  const service = await startService()
  const bob = await signIn(service, 'bob')
  const job = await startFollowed(bob, 'lxc:101')
  await job.until(({ output }) => output().includes('rig-slow: step 5 '))

  await service.stop()

  expect(await job.closed).toBe(1001)
  expect(job.frames.every(({ type }) => type === 'update_output')).toBe(true)
  expect(await isHealthy(service.url)).toBe(false)
  await expect.poll(() => dpkgStatus('101', 'rig-web'), { timeout: 20_000 }).toBe('install ok installed 2.0')
})

test('SIGTERM ends the service within 5 s even if the host of a running job does not answer', async () => {
  const service = await startService()
  const bob = await signIn(service, 'bob')
  const job = await startFollowed(bob, 'lxc:101')
  await job.until(({ output }) => output().includes('rig-slow: step 5 '))
  await rig('freeze', 'on')

  await service.stop()

  expect(await job.closed).toBe(1001)
})

test('SIGTERM ends the service within 5 s during a password check at the host', async () => {
  const service = await startService()
  const answer = login(service, 'bob', 'wrong').catch(() => undefined)
  await expect.poll(() => inside('host', 'pgrep -f "^sshd: bob" || true'), { timeout: 5_000 }).not.toBe('')

  await service.stop()

  expect([undefined, 401]).toContain((await answer)?.status)
})
