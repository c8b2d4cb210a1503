import { expect, test } from 'vitest'
import { eventStatement } from '../../../notifications/notifications.ts'
import { httpReceiver, mailServer } from '../../notifications/receivers.ts'
import { answered } from '../answers.ts'
import { wave, waveApp } from './wave-app.ts'

/** The tasks of the service run so often: see `carry-schedules` and `deliver`. */
const CARRY_EVERY_MS = 2_000
const SECOND = 1_000

test('a regression in the first wave is told on every kind of channel within ten seconds, in one notice', async () => {
  const { app, db, services, begin, tick, until, endJob, ended, jobsOf } = await waveApp()
  const [http, mail] = [await httpReceiver((response) => response.end('{"event_id":"$1"}')), await mailServer()]
  const kinds = {
    ntfy: { url: `${http.url}/ntfy`, topic: 'ops' },
    gotify: { url: `${http.url}/gotify`, token: 'gotify-token' },
    webhook: { url: `${http.url}/webhook`, secret: 'webhook-secret' },
    apprise: { url: `${http.url}/apprise`, key: 'apprise-key' },
    matrix: { url: `${http.url}/matrix`, room: '!r:a.test', token: 'matrix-token' },
    email: { host: '127.0.0.1', port: mail.port, security: 'none', from: 'panel@pve.test', to: ['a@x.test'] },
  }
  for (const [kind, settings] of Object.entries(kinds)) {
    const body = { name: kind, kind, settings, minimum: 'warning' }
    await answered(await app.request('POST', '/api/notifications/channels', { as: 'admin', body }), 201)
  }
  const id = await begin({ waves: [wave(['lxc:101']), wave('rest')] })
  await until(id, 0, 'running')

  // The end of the job stores its event in the same transaction.
  const at = services.clock().toISOString()
  const upgraded = {
    job: 'j1',
    name: 'web',
    application: null,
    by: 'alice',
    outcome: 'regressed',
    code: 0,
    reason: null,
  }
  const regressions = ['Le service nginx ne fonctionne plus.']
  const schedule = { run: id, name: 'Nuit', timezone: 'UTC' }
  const details = { ...upgraded, schedule, worse: 1, regressions, packages: null, security: null }
  await db.batch([eventStatement({ key: 'r', at, event: 'regressed', target: 'lxc:101', run: id, details })])
  await endJob('lxc:101', 'regressed')
  for (let passed = 0; passed < 10 * SECOND; passed += SECOND) {
    if (passed % CARRY_EVERY_MS === 0) await tick()
    await services.notifications.tick()
    app.advance(SECOND)
  }

  const paths = http.received.map(({ path }) => /^\/(\w+)/.exec(path)?.[1]).sort()
  expect(paths).toEqual(['apprise', 'gotify', 'matrix', 'ntfy', 'webhook'])
  for (const { body } of http.received) {
    expect(body).toContain('nginx')
    expect(body).toContain('Nuit')
  }
  expect(mail.mails).toHaveLength(1)
  expect(await ended(id, 'stopped')).toMatchObject({ reason: 'regressed' })
  expect(await jobsOf(`kind = 'upgrade'`)).toEqual(['lxc:101'])
})
