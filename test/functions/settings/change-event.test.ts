import { expect, test } from 'vitest'
import patch from '../../../functions/settings/settings.patch.ts'
import { testApp } from '../../app.ts'
import { answered, audited, refused, rows } from '../answers.ts'
import { typeCommand } from '../console.ts'
import { told } from '../notifications/told.ts'

const SECRET = 'a-new-service-password'

async function world() {
  const app = await testApp([patch])
  const change = (body: object) => app.request('PATCH', '/api/settings', { as: 'admin', body })
  return { app, change }
}

test('changed settings are told with who changed them and their names, without any value', async () => {
  const { app, change } = await world()

  await answered(await change({ ssh_password: SECRET, ssh_username: 'ops' }), 200)

  expect(await told(app.db)).toMatchObject([
    {
      event: 'settings_changed',
      severity: 'info',
      target: null,
      run: null,
      details: { username: 'alice', keys: ['ssh_username', 'ssh_password'] },
    },
  ])
  const stored = JSON.stringify(await rows(app.db, 'SELECT * FROM notification_events'))
  expect(stored).not.toContain(SECRET)
  expect(stored).not.toContain('"ops"')
})

test('a request that changes nothing, and a refused one, tell nothing', async () => {
  const { app, change } = await world()
  await answered(await change({ ssh_username: 'ops' }), 200)

  await answered(await change({ ssh_username: 'ops' }), 200)
  await refused(await change({ ssh_host: 'other' }), 409, 'host_key_required')

  expect(await told(app.db)).toHaveLength(1)
})

test('a change on the console is told, too', async () => {
  const { app } = await world()

  await typeCommand({ ...app.services, secrets: app.secrets }, ['settings', 'set', 'ssh_username', 'ops'])

  expect(await told(app.db)).toMatchObject([{ event: 'settings_changed', details: { keys: ['ssh_username'] } }])
})

test('settings whose event cannot be stored stay, and so does the audit log', async () => {
  const { app, change } = await world()
  await app.db.script(`CREATE TRIGGER full BEFORE INSERT ON notification_events BEGIN SELECT RAISE(ABORT, 'full'); END`)

  await refused(await change({ ssh_username: 'ops' }), 500, 'storage_failed')

  expect((await app.services.settings.show()).ssh_username).toBe('panel')
  expect(await audited(app.db)).toEqual([])
})
