import { beforeAll, expect, test } from 'vitest'
import { askPackages, type Caller, signIn } from './client.ts'
import { runJob } from './job.ts'
import { rig } from './rig.ts'
import { type Service, startService } from './service.ts'

let service: Service
let bob: Caller
beforeAll(async () => {
  await rig('up')
  service = await startService({ env: { PANEL_SSH_PASSWORD: 'not-the-password' } })
  bob = await signIn(service, 'bob')
  return () => service.stop()
})

test('with a wrong password of the service account only the host is listed', async () => {
  expect(await bob.get('/api/updates/targets')).toMatchObject({
    status: 200,
    body: [{ id: 'host', name: 'Hôte', status: 'running' }],
  })
})

test.each(['host', 'lxc:101'])('the packages of %s are an SSH error', async (target) => {
  expect(await askPackages(bob, target)).toMatchObject({
    status: 502,
    body: { error: expect.stringMatching(/^Erreur SSH : .+/), code: 'ssh_failed' },
  })
})

test.each(['host', 'lxc:101', 'all'])('a job for %s ends in error at once', async (target) => {
  const { code, frames, record } = await runJob(bob, target)

  expect(code).toBe(1000)
  expect(record.status).toBe('error')
  expect(record.output).toMatch(/^Erreur SSH : .+/)
  expect(frames).toMatchObject([{ type: 'update_error', seq: 0, data: { error: record.output } }])
})

test('the wrong password is not logged', () => {
  expect(service.log()).not.toContain('not-the-password')
})
