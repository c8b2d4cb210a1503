import { expect, test } from 'vitest'
import { SshError } from '../../../ssh/connection.ts'
import { audited, answered, refused, rows } from '../answers.ts'
import { finish, NIGHTLY, scheduleApp, story } from './schedule-app.ts'

type App = Awaited<ReturnType<typeof scheduleApp>>

const patch = (app: App, id: string, body: object) =>
  app.request('PATCH', `/api/schedules/${id}`, { as: 'admin', body })
const REBOOTING = { waves: [{ targets: ['lxc:101'] }, { targets: ['host'] }], reboot: 'if_required' }

test('a schedule comes back as it was set, with its owner, its next times and its defaults', async () => {
  const app = await scheduleApp()

  const id = await app.post({ cron: ' 30  2 * * 0 ', timezone: 'europe/paris', name: 'Dimanche' })

  const expected = {
    ...{ id, name: 'Dimanche', enabled: true, cron: '30 2 * * 0', timezone: 'Europe/Paris', window_minutes: 60 },
    ...{ action: 'upgrade', only: 'all', on_failure: 'stop', reboot: 'never', created_by: 'alice' },
    waves: [
      { targets: ['lxc:101'], pause_minutes: 0 },
      { targets: 'rest', pause_minutes: 0 },
    ],
    next: ['2026-03-08T01:30:00.000Z', '2026-03-15T01:30:00.000Z', '2026-03-22T01:30:00.000Z'],
    ...{ last_run: null, recent: [], paused_reason: null, ping_url_set: false, revision: 1 },
  }
  expect(await app.get(`/api/schedules/${id}`)).toEqual(expected)
  expect(await app.get('/api/schedules')).toEqual({
    ...{ schedules: [expected], paused: null, total: 1, need: 0, next: null },
    soonest: { id, name: 'Dimanche', at: '2026-03-08T01:30:00.000Z' },
  })
  expect(await audited(app.db)).toEqual([
    expect.objectContaining({
      action: 'schedule_create',
      username: 'alice',
      target: id,
      details: {
        name: 'Dimanche',
        enabled: true,
        cron: '30 2 * * 0',
        timezone: 'Europe/Paris',
        action: 'upgrade',
        only: 'all',
        on_failure: 'stop',
        reboot: 'never',
        waves: expect.stringContaining('"targets":["lxc:101"]'),
        window_minutes: 60,
      },
    }),
  ])
})

test('the list has the last run and the newest 14, the oldest of them first', async () => {
  const app = await scheduleApp()
  const id = await app.post({ cron: '0 * * * *' })
  await app.post({ name: 'Autre', enabled: false })
  for (let hour = 13; hour < 23; hour++) {
    app.at(`2026-03-01T${hour}:00:00Z`)
    await app.tick()
    await finish(app.db)
  }
  for (let hour = 10; hour < 16; hour++) {
    app.at(`2026-03-02T${hour}:00:00Z`)
    await app.tick()
    await finish(app.db)
  }

  const { schedules } = await app.get('/api/schedules')
  expect(schedules).toEqual([
    expect.objectContaining({
      id,
      last_run: expect.objectContaining({ due_at: '2026-03-02T15:00:00.000Z', state: 'done', schedule_name: 'Nuit' }),
    }),
    expect.objectContaining({ name: 'Autre', next: [], last_run: null, recent: [] }),
  ])
  const { recent } = await app.get(`/api/schedules/${id}`)
  expect(recent).toHaveLength(14)
  expect(recent).toEqual(
    expect.arrayContaining([expect.objectContaining({ state: 'missed', due_at: '2026-03-02T09:00:00.000Z' })]),
  )
  const ats = Array.isArray(recent) ? recent.map(({ due_at }) => String(due_at)) : []
  expect(ats).toEqual([...ats].sort())
  expect(ats.at(-1)).toBe('2026-03-02T15:00:00.000Z')
})

/** Rules between fields. */
const BETWEEN = /^(repeated|two rests|reboot)/

test.each([
  ['cron', { cron: '0 0 31 2 *' }, 'cron', 'cette date n’arrive jamais'],
  ['seconds', { cron: '0 0 3 * * *' }, 'cron', 'et il y en a 6'],
  ['time zone', { timezone: 'Europe/Paaris' }, 'timezone', 'un fuseau horaire'],
  ['offset as a time zone', { timezone: '+02:00' }, 'timezone', 'un fuseau horaire'],
  ['short window', { window_minutes: 4 }, 'window_minutes', ''],
  ['long window', { window_minutes: 1_441 }, 'window_minutes', ''],
  ['no wave', { waves: [] }, 'waves', ''],
  ['too many waves', { waves: Array.from({ length: 21 }, (_, n) => ({ targets: [`lxc:${100 + n}`] })) }, 'waves', ''],
  ['target', { waves: [{ targets: ['all'] }] }, 'waves.0.targets', ''],
  [
    'repeated target',
    { waves: [{ targets: ['lxc:101'] }, { targets: ['lxc:102', 'lxc:101'] }] },
    'waves.1.targets',
    'lxc:101 est nommé deux fois',
  ],
  [
    'repeated tag in a wave',
    { waves: [{ targets: ['tag:web', 'tag:web'] }] },
    'waves.0.targets',
    'tag:web est nommé deux fois',
  ],
  ['two rests', { waves: [{ targets: 'rest' }, { targets: 'rest' }] }, 'waves.1.targets', 'une seule vague'],
  ['reboot without the host', { reboot: 'if_required' }, 'reboot', 'l’hôte n’est dans aucune vague'],
  ['reboot after a check', { ...REBOOTING, action: 'check' }, 'reboot', 'une vérification ne redémarre rien'],
  ['name of spaces', { name: '  ' }, 'name', 'un nom visible'],
  ['name that turns the text', { name: 'a\u202eb' }, 'name', 'sans caractère de contrôle'],
  ['name of 101 characters', { name: 'x'.repeat(101) }, 'name', ''],
  ['ping of another scheme', { ping_url: 'file:///etc/passwd' }, 'ping_url', ''],
  ['ping with an account', { ping_url: 'https://a:b@ping.example/x' }, 'ping_url', ''],
])(
  '%s: 400 with the field, for a new schedule and for a change, and nothing is stored',
  async (title, fields, field, message) => {
    const app = await scheduleApp()
    const id = await app.post()
    const stored = await rows(app.db, 'SELECT * FROM schedules')

    const body = { ...NIGHTLY, ...fields }
    for (const response of [
      await app.request('POST', '/api/schedules', { as: 'admin', body }),
      await patch(app, id, fields),
    ]) {
      const code = BETWEEN.test(title) ? 'schedule_invalid' : 'invalid_request'
      const { details } = await refused(response, 400, code)
      expect(details?.[0]?.field.startsWith(field)).toBe(true)
      expect(details?.[0]?.message).toContain(message)
    }

    expect(await rows(app.db, 'SELECT * FROM schedules')).toEqual(stored)
    expect((await audited(app.db)).map(({ action }) => action)).toEqual(['schedule_create'])
    expect(app.signIns).toEqual([])
  },
)

test('a change keeps what it does not name, and leaves the owner unless it changes what is done', async () => {
  const app = await scheduleApp()
  const id = await app.post()
  await app.db.run(`INSERT INTO users (username, is_admin, created_at) VALUES ('carol', 1, '')`)
  await app.db.run(`UPDATE schedules SET created_by = (SELECT id FROM users WHERE username = 'carol')`)

  expect(await answered(await patch(app, id, { name: 'Autre', cron: '0 3 * * *' }), 200)).toMatchObject({
    name: 'Autre',
    created_by: 'carol',
  })
  expect(await answered(await patch(app, id, { enabled: false }), 200)).toMatchObject({
    enabled: false,
    created_by: 'carol',
    next: [],
  })
  expect(await answered(await patch(app, id, { on_failure: 'continue' }), 200)).toMatchObject({
    ...{ name: 'Autre', on_failure: 'continue', created_by: 'alice', window_minutes: 60, enabled: false },
  })

  expect((await audited(app.db)).map(({ action, details }) => [action, details])).toEqual([
    ['schedule_create', expect.anything()],
    ['schedule_change', { name: 'Autre', changed: 'name', enabled: true, name_before: 'Nuit', name_after: 'Autre' }],
    [
      'schedule_change',
      { name: 'Autre', changed: 'enabled', enabled: false, enabled_before: true, enabled_after: false },
    ],
    [
      'schedule_change',
      { name: 'Autre', changed: 'on_failure', enabled: false, on_failure_before: 'stop', on_failure_after: 'continue' },
    ],
  ])
})

test('who enables a schedule that the service has paused becomes its owner, and the reason is gone', async () => {
  const app = await scheduleApp()
  const id = await app.post()
  await app.db.run(`INSERT INTO users (username, is_admin, created_at) VALUES ('carol', 1, '')`)
  await app.db.run(
    `UPDATE schedules SET created_by = (SELECT id FROM users WHERE username = 'carol'), enabled = 0, paused_reason = 'carol ne peut plus.'`,
  )
  expect(await app.get(`/api/schedules/${id}`)).toMatchObject({
    paused_reason: 'carol ne peut plus.',
    created_by: 'carol',
  })

  expect(await answered(await patch(app, id, { enabled: true }), 200)).toMatchObject({
    ...{ paused_reason: null, created_by: 'alice', enabled: true },
  })
})

test('other times count from the change on, and a change of the name alone leaves them', async () => {
  const app = await scheduleApp()
  const id = await app.post()
  app.at('2026-03-02T03:10:00Z')

  await patch(app, id, { cron: '5 3 * * *' })
  await app.tick()
  expect(await story(app.db)).toEqual([])

  app.at('2026-03-03T03:05:30Z')
  await patch(app, id, { name: 'Plus tard' })
  await app.tick()
  expect(await story(app.db)).toEqual(['03-03T03:05 running'])
})

test('a reboot without a person needs the password: of who sets it, and of who takes the schedule over', async () => {
  const app = await scheduleApp({
    fake: { signIn: (username, password) => (password === 'mine' ? { uid: 1000, groups: [username] } : undefined) },
  })
  const id = await app.post()
  const change = (body: object) => patch(app, id, body)

  await refused(
    await app.request('POST', '/api/schedules', { as: 'admin', body: { ...NIGHTLY, ...REBOOTING } }),
    403,
    'proof_required',
  )
  await refused(await change(REBOOTING), 403, 'proof_required')
  expect(app.signIns).toEqual([])
  expect(await app.get(`/api/schedules/${id}`)).toMatchObject({ reboot: 'never' })

  await answered(await change({ ...REBOOTING, password: 'mine' }), 200)
  await answered(await change({ window_minutes: 90 }), 200)
  expect(app.signIns).toEqual(['alice'])

  await app.db.run(`INSERT INTO users (username, is_admin, created_at) VALUES ('carol', 1, '')`)
  await app.db.run(`UPDATE schedules SET created_by = (SELECT id FROM users WHERE username = 'carol')`)
  await refused(await change({ cron: '* * * * *' }), 403, 'proof_required')
  await answered(await change({ name: 'Redémarrage' }), 200)
  expect(JSON.stringify(await rows(app.db, 'SELECT * FROM audit'))).not.toContain('mine')
})

test('on a host that takes keys only, a fresh code stands for the password of a reboot without a person', async () => {
  const app = await scheduleApp({
    fake: {
      signIn() {
        throw new SshError('no_passwords', 'l’hôte n’accepte pas de mot de passe pour alice, seulement : publickey')
      },
    },
  })
  const id = await app.post()
  await refused(await patch(app, id, REBOOTING), 403, 'proof_required')
  const now = app.services.clock().toISOString()
  await app.db.run(
    `INSERT INTO factors (user_id, kind, name, secret_sealed, created_at)
     SELECT id, 'totp', 'Téléphone', 'sealed', '2025-01-01T00:00:00.000Z' FROM users WHERE username = 'alice'`,
  )
  await app.db.run(
    `INSERT INTO sessions (id, user_id, token_hash, expires_at, user_agent, ip, created_at, proven_at, proven_by)
     SELECT 1, id, 'hash', '2030-01-01T00:00:00.000Z', '', '', ?1, ?1, 'password' FROM users WHERE username = 'alice'`,
    [now],
  )
  await refused(await patch(app, id, REBOOTING), 403, 'step_up_required')

  await app.db.run(`UPDATE sessions SET proven_by = 'totp'`)

  await answered(await patch(app, id, REBOOTING), 200)
  await answered(await app.request('POST', '/api/schedules', { as: 'admin', body: { ...NIGHTLY, ...REBOOTING } }), 201)
})

test('the address of the ping is sealed and never comes back', async () => {
  const app = await scheduleApp()
  const url = 'https://ping.example/canary-5f0c'
  const id = await app.post({ ping_url: url })

  expect(await app.get(`/api/schedules/${id}`)).toMatchObject({ ping_url_set: true })
  const [stored] = await rows(app.db, 'SELECT ping FROM schedules')
  expect(app.secrets.open(`schedule_ping:${id}`, String(stored?.ping))).toBe(url)
  expect(await answered(await patch(app, id, { name: 'Autre' }), 200)).toMatchObject({ ping_url_set: true })
  const all = JSON.stringify([
    await app.get('/api/schedules'),
    await rows(app.db, 'SELECT * FROM schedules'),
    await audited(app.db),
    app.lines(),
  ])
  expect(all).not.toContain('canary')
  expect(await answered(await patch(app, id, { ping_url: null }), 200)).toMatchObject({ ping_url_set: false })
})

test('a run that a person wants now has the window from now, and there is one at a time', async () => {
  const app = await scheduleApp()
  const id = await app.post({ enabled: false })
  const run = () => app.request('POST', `/api/schedules/${id}/run`, { as: 'admin' })

  const { run_id } = Object(await answered(await run(), 202))
  await refused(await run(), 409, 'schedule_running')

  expect(await app.get(`/api/schedules/runs/${run_id}`)).toMatchObject({
    ...{ id: run_id, schedule_id: id, state: 'running', started_by: 'alice', due_at: '2026-03-01T12:00:00.000Z' },
    ...{
      closes_at: '2026-03-01T13:00:00.000Z',
      cancelled_by: null,
      missed: 0,
      action: 'upgrade',
      schedule_name: 'Nuit',
    },
  })
  await finish(app.db)
  await answered(await app.request('PUT', '/api/schedules', { as: 'admin', body: { paused: true } }), 200)
  await refused(await run(), 409, 'schedules_paused')
  expect((await audited(app.db)).map(({ action }) => action)).toEqual([
    'schedule_create',
    'schedule_run',
    'schedule_pause_all',
  ])
})

test('of two people who want a run at the same moment, and a time that comes then, one gets it', async () => {
  const app = await scheduleApp()
  const id = await app.post()
  app.at('2026-03-02T03:00:00Z')
  const run = () => app.request('POST', `/api/schedules/${id}/run`, { as: 'admin' })

  const [one, two] = await Promise.all([run(), run(), app.tick()])
  await app.tick()

  expect([one.status, two.status].filter((status) => status === 202).length).toBeLessThanOrEqual(1)
  expect((await rows(app.db, `SELECT id FROM schedule_runs WHERE state = 'running'`)).length).toBe(1)
  const [told] = await rows(
    app.db,
    `SELECT count(*) AS n FROM schedule_runs WHERE started_by IS NULL AND due_at = '2026-03-02T03:00:00.000Z'`,
  )
  expect(told).toEqual({ n: 1 })
})

test('a run in the minute of a time of the schedule is another run than that of the time', async () => {
  const app = await scheduleApp()
  const id = await app.post()
  app.at('2026-03-02T03:00:00Z')
  await answered(await app.request('POST', `/api/schedules/${id}/run`, { as: 'admin' }), 202)
  await finish(app.db)

  await app.tick()

  expect(await story(app.db)).toEqual(['03-02T03:00 done', '03-02T03:00 running'])
})

test('a run is cancelled once, and one that has ended is not', async () => {
  const app = await scheduleApp()
  const id = await app.post()
  const { run_id } = Object(await answered(await app.request('POST', `/api/schedules/${id}/run`, { as: 'admin' }), 202))
  const cancel = () => app.request('POST', `/api/schedules/runs/${run_id}/cancel`, { as: 'admin' })

  await answered(await cancel(), 202)
  await answered(await cancel(), 202)
  expect(await app.get(`/api/schedules/runs/${run_id}`)).toMatchObject({ cancelled_by: 'alice', state: 'running' })
  await finish(app.db, 'cancelled')
  await refused(await cancel(), 409, 'schedule_run_ended')

  expect((await audited(app.db)).filter(({ action }) => action === 'schedule_cancel')).toHaveLength(1)
})

test('a schedule with a running run is not deleted; afterwards it goes with its runs', async () => {
  const app = await scheduleApp()
  const id = await app.post()
  await app.request('POST', `/api/schedules/${id}/run`, { as: 'admin' })
  const remove = () => app.request('DELETE', `/api/schedules/${id}`, { as: 'admin' })

  await refused(await remove(), 409, 'schedule_running')
  await finish(app.db)
  await answered(await remove(), 200)
  await refused(await remove(), 404, 'schedule_missing')

  expect(await rows(app.db, 'SELECT id FROM schedule_runs')).toEqual([])
  expect((await audited(app.db)).map(({ action }) => action)).toEqual([
    'schedule_create',
    'schedule_run',
    'schedule_delete',
  ])
})

test('the pause of all is told by whom and when, to every page, and is audited once', async () => {
  const app = await scheduleApp()
  const put = async (paused: boolean) =>
    answered(await app.request('PUT', '/api/schedules', { as: 'admin', body: { paused } }), 200)
  const checks = async () => (await app.get('/api/updates/checks')).schedules_paused
  expect(await checks()).toBeNull()
  const { checkChanges } = app.services
  const before = await checkChanges.revision()

  const paused = { by: 'alice', at: '2026-03-01T12:00:00.000Z' }
  expect(await put(true)).toEqual({ paused })
  app.advance(60_000)
  expect(await put(true)).toEqual({ paused })
  expect(await checks()).toEqual(paused)
  expect(await checkChanges.revision()).toBe(before + 1)
  expect(await app.get('/api/schedules')).toMatchObject({ paused })

  expect(await put(false)).toEqual({ paused: null })
  expect(await put(false)).toEqual({ paused: null })
  expect(await checks()).toBeNull()
  expect(await checkChanges.revision()).toBe(before + 2)
  expect((await audited(app.db)).map(({ action, details }) => [action, details])).toEqual([
    ['schedule_pause_all', { paused: true }],
    ['schedule_pause_all', { paused: false }],
  ])
})

test('a preview gives five times, and a wrong pattern its reason', async () => {
  const app = await scheduleApp()
  const preview = (cron: string, timezone = 'Europe/Paris') =>
    app.request('GET', `/api/schedules/preview?${new URLSearchParams({ cron, timezone })}`, { as: 'user' })
  app.at('2026-03-27T12:00:00Z')

  expect(await answered(await preview('30 2 * * *'), 200)).toEqual({
    next: ['2026-03-28T01:30', '2026-03-29T01:00', '2026-03-30T00:30', '2026-03-31T00:30', '2026-04-01T00:30'].map(
      (time) => `${time}:00.000Z`,
    ),
  })
  const { details } = await refused(await preview('30 25 * * *'), 400, 'invalid_request')
  expect(details).toEqual([{ field: 'cron', message: 'heure (2e champ) : 25 n’est pas entre 0 et 23' }])
  await refused(await preview('30 2 * * *', 'Europe/Nowhere'), 400, 'invalid_request')
})

test('the runs of a schedule come in pages, newest first', async () => {
  const app = await scheduleApp()
  const id = await app.post({ cron: '*/10 * * * *' })
  for (let minute = 10; minute <= 50; minute += 10) {
    app.at(`2026-03-01T12:${minute}:00Z`)
    await app.tick()
    await finish(app.db)
  }
  const page = async (query: string) => {
    const { runs } = await app.get(`/api/schedules/${id}/runs?${query}`)
    return Array.isArray(runs) ? runs.map((run) => ({ id: String(run.id), due: String(run.due_at).slice(14, 16) })) : []
  }

  const first = await page('limit=2')
  expect(first.map(({ due }) => due)).toEqual(['50', '40'])
  expect((await page(`limit=2&before=${first[1]?.id}`)).map(({ due }) => due)).toEqual(['30', '20'])
  const unknown = `/api/schedules/${id}/runs?before=unknown`
  await refused(await app.request('GET', unknown, { as: 'user' }), 404, 'schedule_run_missing')
  await refused(await app.request('GET', '/api/schedules/unknown/runs', { as: 'user' }), 404, 'schedule_missing')
  await refused(await app.request('GET', '/api/schedules/runs/unknown', { as: 'user' }), 404, 'schedule_run_missing')
})

test('users read schedules and change none', async () => {
  const app = await scheduleApp()
  const id = await app.post()
  await answered(await app.request('GET', '/api/schedules', { as: 'user' }), 200)
  for (const [method, path] of [
    ['POST', '/api/schedules'],
    ['PUT', '/api/schedules'],
    ['PATCH', `/api/schedules/${id}`],
    ['DELETE', `/api/schedules/${id}`],
    ['POST', `/api/schedules/${id}/run`],
    ['POST', `/api/schedules/runs/${id}/cancel`],
  ] as const)
    await refused(await app.request(method, path, { as: 'user', body: {} }), 403, 'forbidden')
})

test('of two changes at once that were made of one state, one is refused', async () => {
  const others: Promise<number>[] = []
  const app = await scheduleApp({
    fake: {
      // While the host checks the password, the other change is faster.
      signIn(username) {
        others.push(app.db.run('UPDATE schedules SET revision = revision + 1'))
        return { uid: 1000, groups: [username] }
      },
    },
  })
  const id = await app.post()

  await refused(await patch(app, id, { ...REBOOTING, password: 'mine' }), 409, 'schedule_changed')
  expect(await Promise.all(others)).toEqual([1])
  expect(await app.get(`/api/schedules/${id}`)).toMatchObject({ reboot: 'never' })
})

test('there are at most 500 schedules', async () => {
  const app = await scheduleApp()
  await app.post()
  const columns = 'name, enabled, cron, timezone, settings, created_by, created_at, changed_at, handled_ms, next_ms'
  await app.db.run(
    `WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
     INSERT INTO schedules (id, ${columns}) SELECT 's' || i, ${columns} FROM n, schedules`,
  )

  await refused(await app.request('POST', '/api/schedules', { as: 'admin', body: NIGHTLY }), 409, 'schedules_full')
})
