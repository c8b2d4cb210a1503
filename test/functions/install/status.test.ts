import { expect, test } from 'vitest'
import { answered, audited, refused } from '../answers.ts'
import { installed, notInstalled } from './wizard.ts'

const PATH = '/api/install/status'

test('anybody can read that the service is not installed, and nothing more', async () => {
  const app = await notInstalled()

  expect(await answered(await app.request('GET', PATH), 200)).toEqual({ installed: false })
  expect(await audited(app.db)).toEqual([])
})

test('the service is installed once there is an SSH host', async () => {
  const app = await installed()

  expect(await answered(await app.request('GET', PATH), 200)).toEqual({ installed: true })
})

test('other settings without an SSH host do not make it installed', async () => {
  const app = await notInstalled()
  await app.services.settings.change({ ssh_username: 'root', ssh_password: 'x', ssh_host_key: 'SHA256:x' })

  expect(await answered(await app.request('GET', PATH), 200)).toEqual({ installed: false })
})

test('a storage failure gives 500, so that no wizard is offered', async () => {
  const app = await notInstalled()
  await app.db.script('ALTER TABLE settings RENAME TO gone')

  await refused(await app.request('GET', PATH), 500, 'storage_failed')
})
