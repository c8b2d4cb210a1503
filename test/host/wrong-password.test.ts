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

test('the targets are only the host while the service account’s password is wrong', async () => {
  expect(await bob.get('/api/updates/targets')).toMatchObject({
    status: 200,
    body: [{ id: 'host', name: 'Hôte', status: 'running' }],
  })
})

test.each(['host', 'lxc:101'])('a request for the packages of %s gets an SSH error', async (target) => {
  expect(await askPackages(bob, target)).toMatchObject({
    status: 502,
    body: { error: expect.stringMatching(/^Erreur SSH : .+/), code: 'ssh_failed' },
  })
})

test.each(['host', 'lxc:101', 'all'])('a job for %s ends at once with an SSH error', async (target) => {
  const { code, frames, record } = await runJob(bob, target)

  expect(code).toBe(1000)
  expect(record.status).toBe('error')
  expect(record.output).toMatch(/^Erreur SSH : .+/)
  expect(frames).toMatchObject([{ type: 'update_error', seq: 0, data: { error: record.output } }])
})

test('the log does not contain the wrong password', () => {
  expect(service.log()).not.toContain('not-the-password')
})
