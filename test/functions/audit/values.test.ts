import { expect, test } from 'vitest'
import * as z from 'zod'
import { notedChange } from '../../../functions/audit/values.ts'
import removeChannel from '../../../functions/notifications/channel.delete.ts'
import changeChannel from '../../../functions/notifications/channel.patch.ts'
import addChannel from '../../../functions/notifications/channels.post.ts'
import setProtection from '../../../functions/protection/protection.put.ts'
import { DEFAULT_PROTECTION } from '../../../functions/protection/protection.ts'
import changeSchedule from '../../../functions/schedules/schedule.patch.ts'
import removeSchedule from '../../../functions/schedules/schedule.delete.ts'
import addSchedule from '../../../functions/schedules/schedules.post.ts'
import { testApp } from '../../app.ts'
import { answered, audited } from '../answers.ts'

const Made = z.looseObject({ id: z.string() })

async function start() {
  const app = await testApp([
    ...[addChannel, changeChannel, removeChannel, setProtection],
    ...[addSchedule, changeSchedule, removeSchedule],
  ])
  return {
    ...app,
    send: async (method: string, path: string, body?: unknown) =>
      answered(await app.request(method, path, { as: 'admin', body }), method === 'POST' ? 201 : 200),
    last: async () => (await audited(app.db)).at(-1),
  }
}

test('a changed channel has the old and the new values of what is shown, and no secret', async () => {
  const app = await start()
  const settings = { url: 'https://hook.test/services/T0/S3CRET', secret: 'sign-s3cret' }
  const body = { name: 'Équipe', kind: 'webhook', settings, minimum: 'info' }
  const { id } = Made.parse(await app.send('POST', '/api/notifications/channels', body))
  expect(await app.last()).toMatchObject({ action: 'channel_create', details: { id, minimum: 'info', enabled: true } })

  const change = { minimum: 'critical', targets: ['host', 'lxc:101'], settings: { secret: 'next-s3cret' } }
  await app.send('PATCH', `/api/notifications/channels/${id}`, change)

  expect(await app.last()).toMatchObject({
    action: 'channel_change',
    details: {
      minimum_before: 'info',
      minimum_after: 'critical',
      targets_before: 'all',
      targets_after: '["host","lxc:101"]',
      keys: 'targets, minimum, secret',
    },
  })
  await app.send('DELETE', `/api/notifications/channels/${id}`)
  expect(await app.last()).toMatchObject({ action: 'channel_delete', details: { id, minimum: 'critical' } })
  expect(JSON.stringify(await audited(app.db))).not.toMatch(/s3cret/i)
})

test('a changed schedule has the old and the new values, and never its ping', async () => {
  const app = await start()
  const body = {
    ...{ name: 'Nuit', cron: '0 3 * * *', timezone: 'Europe/Paris', action: 'check', waves: [{ targets: 'rest' }] },
    ping_url: 'https://ping.test/s3cret',
  }
  const { id } = Made.parse(await app.send('POST', '/api/schedules', body))

  await app.send('PATCH', `/api/schedules/${id}`, { cron: '30 4 * * *', ping_url: 'https://ping.test/other-s3cret' })

  expect(await app.last()).toMatchObject({
    action: 'schedule_change',
    details: { changed: 'cron, ping_url', cron_before: '0 3 * * *', cron_after: '30 4 * * *' },
  })
  await app.send('DELETE', `/api/schedules/${id}`)
  expect(await app.last()).toMatchObject({ action: 'schedule_delete', details: { name: 'Nuit', cron: '30 4 * * *' } })
  expect(JSON.stringify(await audited(app.db))).not.toContain('s3cret')
})

test('a changed policy of protection tells its probes without the words of a command or the query of an address', async () => {
  const app = await start()
  const probes = [
    { kind: 'http', url: 'https://192.0.2.1/health?token=s3cret', status: 200 },
    { kind: 'command', command: ['mysqladmin', '--password=s3cret', 'ping'] },
  ]

  await app.send('PUT', '/api/updates/protection/default', { ...DEFAULT_PROTECTION, keep: 5, probes })

  expect(await app.last()).toMatchObject({
    action: 'protection_change',
    details: {
      keep_before: 3,
      keep_after: 5,
      probes_before: '',
      probes_after: expect.stringMatching(/^http https:\/\/192\.0\.2\.1\/health 200, command [0-9a-f]{12}$/),
    },
  })
  expect(JSON.stringify(await audited(app.db))).not.toContain('s3cret')
})

test('values are cut, and what is equal is left out', () => {
  const long = 'x'.repeat(600)

  expect(notedChange({ a: 1, b: null, c: [1], d: long }, { a: 1, b: undefined, c: [1, 2], d: '', e: true })).toEqual({
    c_before: '[1]',
    c_after: '[1,2]',
    d_before: `${'x'.repeat(500)}…`,
    d_after: '',
    e_before: null,
    e_after: true,
  })
})
