import * as z from 'zod'
import { expect, test } from 'vitest'
import removeChannel from '../../../functions/notifications/channel.delete.ts'
import changeChannel from '../../../functions/notifications/channel.patch.ts'
import channels from '../../../functions/notifications/channels.get.ts'
import addChannel from '../../../functions/notifications/channels.post.ts'
import testChannel from '../../../functions/notifications/test.post.ts'
import { createSecrets } from '../../../platform/secrets.ts'
import { type As, testApp } from '../../app.ts'
import { httpReceiver, mailServer } from '../../notifications/receivers.ts'
import { answered, audited, auditedActions, refused, rows } from '../answers.ts'

const TOKEN = 'tk_very-s3cret-token'
const NTFY = { name: 'Astreinte', kind: 'ntfy', settings: { url: 'https://push.test', topic: 'ops', token: TOKEN } }
const MAIL = {
  name: 'Courriel',
  kind: 'email',
  settings: { host: 'mail.test', port: 587, security: 'starttls', from: 'panel@pve.test', to: ['a@x.test'] },
}
const PATH = '/api/notifications/channels'
const WithId = z.looseObject({ id: z.string() })

async function channelApp() {
  const app = await testApp([channels, addChannel, changeChannel, removeChannel, testChannel])
  const send = (method: string, path: string, body?: unknown, as: As = 'admin') =>
    app.request(method, path, { as, body, from: '203.0.113.5' })
  return {
    ...app,
    send,
    async add(body: object): Promise<string> {
      return WithId.parse(await answered(await send('POST', PATH, body), 201)).id
    },
    async list() {
      return z.object({ channels: z.array(WithId) }).parse(await answered(await send('GET', PATH), 200)).channels
    },
    open: async (id: string) => {
      const [row] = await app.db.query(
        z.object({ secrets: z.string() }),
        'SELECT secrets FROM notification_channels WHERE id = ?',
        [id],
      )
      return JSON.parse(app.secrets.open(`notification_channel:${id}`, row?.secrets ?? ''))
    },
  }
}

test('a channel is stored with its secret sealed, and shown without it', async () => {
  const app = await channelApp()

  const id = await app.add(NTFY)

  expect(await app.list()).toEqual([
    {
      id,
      name: 'Astreinte',
      kind: 'ntfy',
      settings: { url: 'https://push.test', topic: 'ops', allow_self_signed: false, token_set: true },
      events: expect.arrayContaining(['regressed', 'settings_changed']),
      targets: 'all',
      minimum: 'info',
      quiet: null,
      language: 'fr',
      output: false,
      enabled: true,
      last: null,
    },
  ])
  expect(await app.open(id)).toEqual({ token: TOKEN })
  expect(JSON.stringify(await rows(app.db, 'SELECT * FROM notification_channels'))).not.toContain(TOKEN)
  expect(await audited(app.db)).toMatchObject([
    { action: 'channel_create', username: 'alice', target: 'Astreinte', details: { id, kind: 'ntfy' } },
  ])
})

test.each<[string, object, string]>([
  ['ntfy', { url: 'https://a.test', topic: 'b' }, 'token_set'],
  ['gotify', { url: 'http://a.test:8080/sub', token: TOKEN }, 'token_set'],
  ['webhook', { url: 'https://a.test/hook?x=1', secret: 'with space, é' }, 'secret_set'],
  ['apprise', { url: 'http://a.test', key: 'abc' }, 'key_set'],
  ['matrix', { url: 'https://a.test', room: '!r:a.test', token: TOKEN, allow_self_signed: true }, 'token_set'],
  ['email', MAIL.settings, 'password_set'],
  ['email', { ...MAIL.settings, username: 'u', password: 'p' }, 'password_set'],
  ['email', { ...MAIL.settings, host: '127.0.0.1', security: 'none', username: 'u', password: 'p' }, 'password_set'],
])('%s takes %j', async (kind, settings, flag) => {
  const app = await channelApp()
  await app.add({ name: 'a', kind, settings })

  const secrets = ['token', 'secret', 'key', 'password'].filter((name) => name in settings)
  const [{ settings: shown } = Object()] = await app.list()
  expect(shown[flag]).toBe(secrets.length > 0)
  for (const name of secrets) expect(shown).not.toHaveProperty(name)
})

test.each<[string, object, string[]]>([
  ['ntfy', {}, ['settings.url', 'settings.topic']],
  ['gotify', { url: 'https://a.test' }, ['settings.token']],
  ['gotify', { url: 'https://a.test', token: '' }, ['settings.token']],
  ['webhook', { url: 'https://a.test', secret: null }, ['settings.secret']],
  ['ntfy', { url: 'https://a.test?x=1', topic: 'b' }, ['settings.url']],
  ['ntfy', { url: 'https://a.test', topic: 'b', room: '!r:a.test' }, ['settings.room']],
  ['email', { ...MAIL.settings, url: 'https://a.test' }, ['settings.url']],
  ['email', { ...MAIL.settings, username: 'u' }, ['settings.password']],
  ['email', { ...MAIL.settings, password: 'p' }, ['settings.username']],
  ['email', { ...MAIL.settings, security: 'none', username: 'u', password: 'p' }, ['settings.security']],
])('%s does not take %j', async (kind, settings, fields) => {
  const app = await channelApp()

  const { details } = await refused(
    await app.send('POST', PATH, { name: 'a', kind, settings }),
    422,
    'channel_settings_invalid',
  )

  expect(details?.map(({ field }) => field)).toEqual(fields)
  expect(await app.list()).toEqual([])
  expect(await audited(app.db)).toEqual([])
})

test.each<[string, object]>([
  ['settings.url', { settings: { url: 'ftp://a.test' } }],
  ['settings.url', { settings: { url: 'https://bob:pw@a.test' } }],
  ['settings.url', { settings: { url: 'https://a.test/\r\nX: y' } }],
  ['settings.url', { settings: { url: 'https://a.test#x' } }],
  ['settings.url', { settings: { url: 'file:///etc/passwd' } }],
  ['settings.token', { settings: { token: 'a\r\nX-Evil: 1' } }],
  ['settings.token', { settings: { token: 'é' } }],
  ['settings.topic', { settings: { topic: '../admin' } }],
  ['settings.key', { settings: { key: 'a b' } }],
  ['settings.host', { settings: { host: 'mail.test\r\n' } }],
  ['settings.port', { settings: { port: 0 } }],
  ['settings.from', { settings: { from: 'a@x.test>\r\nRCPT TO:<b@x.test' } }],
  ['settings.to.0', { settings: { to: ['a@x.test, b@x.test'] } }],
  ['settings.to', { settings: { to: Array.from({ length: 21 }, () => 'a@x.test') } }],
  ['settings.username', { settings: { username: 'a\nb' } }],
  ['settings.secret', { settings: { secret: 'x'.repeat(513) } }],
  ['name', { name: ' a' }],
  ['name', { name: 'a\u202eb' }],
  ['events', { events: [] }],
  ['events.0', { events: ['everything'] }],
  ['targets.0', { targets: ['tag:x'] }],
  ['minimum', { minimum: 'loud' }],
  ['quiet.from', { quiet: { from: '24:00', to: '07:00', timezone: 'UTC' } }],
  ['quiet.timezone', { quiet: { from: '22:00', to: '07:00', timezone: '+01:00' } }],
  ['language', { language: 'de' }],
  ['', { kind: 'ntfy' }],
])('a change with a wrong %s is refused: %j', async (field, body) => {
  const app = await channelApp()
  const id = await app.add(NTFY)

  const { details } = await refused(await app.send('PATCH', `${PATH}/${id}`, body), 400, 'invalid_request')

  expect(details?.map((each) => each.field)).toContain(field)
  expect(await auditedActions(app.db)).toEqual(['channel_create'])
})

test('a change replaces what it gives, keeps a secret that it leaves out or empty, and names what it changed', async () => {
  const app = await channelApp()
  const id = await app.add(NTFY)
  const quiet = { from: '22:00', to: '07:00', timezone: 'Europe/Paris' }

  const settings = { topic: 'other', token: '', url: 'https://push.test/below' }
  const body = { name: 'Nuit', settings, events: ['regressed', 'regressed'], targets: ['host', 'host'], quiet }
  const changed = await answered(await app.send('PATCH', `${PATH}/${id}`, body), 200)

  expect(changed).toMatchObject({
    name: 'Nuit',
    settings: { url: 'https://push.test/below', topic: 'other', token_set: true },
    events: ['regressed'],
    targets: ['host'],
    quiet,
    minimum: 'info',
  })
  expect(await app.open(id)).toEqual({ token: TOKEN })
  expect((await audited(app.db)).at(-1)).toMatchObject({
    action: 'channel_change',
    target: 'Astreinte',
    details: { id, kind: 'ntfy', name: 'Nuit', keys: 'name, events, targets, quiet, url, topic' },
  })
})

test('a change that changes nothing is no entry, and one of a secret alone names it', async () => {
  const app = await channelApp()
  const id = await app.add(NTFY)

  await answered(
    await app.send('PATCH', `${PATH}/${id}`, { name: 'Astreinte', settings: { topic: 'ops', token: TOKEN } }),
    200,
  )
  expect(await auditedActions(app.db)).toEqual(['channel_create'])
  await answered(await app.send('PATCH', `${PATH}/${id}`, { settings: { token: 'another' } }), 200)

  expect((await audited(app.db)).at(-1)?.details).toMatchObject({ keys: 'token' })
  expect(JSON.stringify(await audited(app.db))).not.toContain('another')
})

test('a secret is replaced, and removed where the kind does without', async () => {
  const app = await channelApp()
  const id = await app.add(NTFY)
  const change = (settings: object) => app.send('PATCH', `${PATH}/${id}`, { settings })

  await answered(await change({ token: 'another' }), 200)
  expect(await app.open(id)).toEqual({ token: 'another' })
  expect(await answered(await change({ token: null }), 200)).toMatchObject({ settings: { token_set: false } })
  expect(await app.open(id)).toEqual({})
})

test.each([
  ['another host', NTFY, { url: 'https://thief.test' }],
  ['another port', NTFY, { url: 'https://push.test:8443' }],
  ['no encryption', NTFY, { url: 'http://push.test' }],
  [
    'another mail server',
    { ...MAIL, settings: { ...MAIL.settings, username: 'u', password: 'p' } },
    { host: 'thief.test' },
  ],
  ['another port of it', { ...MAIL, settings: { ...MAIL.settings, username: 'u', password: 'p' } }, { port: 25 }],
])('%s needs the secret again, which is sent to no machine that it was not given for', async (_, channel, settings) => {
  const app = await channelApp()
  const id = await app.add(channel)
  const name = 'host' in channel.settings ? 'password' : 'token'
  const change = (body: object) => app.send('PATCH', `${PATH}/${id}`, { settings: body })

  for (const given of [{}, { [name]: '' }]) {
    const { details } = await refused(await change({ ...settings, ...given }), 400, 'channel_secret_required')
    expect(details?.map(({ field }) => field)).toEqual([`settings.${name}`])
  }
  expect(await app.list()).toMatchObject([
    { settings: { ...('url' in channel.settings && { url: 'https://push.test' }) } },
  ])
  await answered(await change({ ...settings, [name]: 'typed-again' }), 200)
  expect(await app.open(id)).toMatchObject({ [name]: 'typed-again' })
})

test('a name is taken once, there are fifty channels at most, and a missing one is 404', async () => {
  const app = await channelApp()
  for (let n = 1; n <= 50; n += 1) await app.add({ ...NTFY, name: `c${n}` })
  const [first] = await app.list()

  await refused(await app.send('POST', PATH, { ...NTFY, name: 'c1' }), 409, 'channel_name_taken')
  await refused(await app.send('POST', PATH, { ...NTFY, name: 'new' }), 409, 'channels_full')
  await refused(await app.send('PATCH', `${PATH}/${first?.id}`, { name: 'c2' }), 409, 'channel_name_taken')
  await refused(await app.send('PATCH', `${PATH}/nothing`, {}), 404, 'channel_missing')
  await refused(await app.send('DELETE', `${PATH}/nothing`), 404, 'channel_missing')
  await refused(await app.send('POST', `${PATH}/nothing/test`), 404, 'channel_missing')

  expect(await app.list()).toHaveLength(50)
  expect(await auditedActions(app.db)).toEqual(Array.from({ length: 50 }, () => 'channel_create'))
})

test('a removed channel is gone with its secret', async () => {
  const app = await channelApp()
  const id = await app.add(NTFY)

  expect(await answered(await app.send('DELETE', `${PATH}/${id}`), 200)).toEqual({ message: 'Canal supprimé.' })

  expect(await rows(app.db, 'SELECT * FROM notification_channels')).toEqual([])
  expect((await audited(app.db)).at(-1)).toMatchObject({
    action: 'channel_delete',
    target: 'Astreinte',
    details: { id, kind: 'ntfy' },
  })
})

test('users who are not administrators see and change no channel', async () => {
  const app = await channelApp()
  const id = await app.add(NTFY)

  for (const [method, path] of [
    ['GET', PATH],
    ['POST', PATH],
    ['PATCH', `${PATH}/${id}`],
    ['DELETE', `${PATH}/${id}`],
    ['POST', `${PATH}/${id}/test`],
  ] as const)
    await refused(await app.send(method, path, method === 'GET' ? undefined : {}, 'user'), 403, 'forbidden')

  expect((await auditedActions(app.db)).filter((action) => action !== 'access_refused')).toEqual(['channel_create'])
})

test('the test of a channel returns the receiver’s own words, and is seen in the list', async () => {
  const app = await channelApp()
  const receiver = await httpReceiver((response, { headers }) =>
    response.end(JSON.stringify({ id: 'x', by: headers.authorization })),
  )
  const id = await app.add({ ...NTFY, enabled: false, settings: { ...NTFY.settings, url: receiver.url } })

  expect(await answered(await app.send('POST', `${PATH}/${id}/test`), 200)).toEqual({
    status: 200,
    answer: '{"id":"x","by":"Bearer •••"}',
    refused: null,
  })

  expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({
    title: 'Essai d’ops-panel',
    message: 'Le canal « Astreinte » fonctionne : les notifications arrivent ici.',
  })
  expect(await app.list()).toMatchObject([{ last: { at: '2026-03-01T12:00:00.000Z', ok: true, error: null } }])
  expect((await audited(app.db)).at(-1)).toMatchObject({ action: 'channel_test', target: 'Astreinte' })
  expect(await rows(app.db, 'SELECT * FROM notices')).toEqual([])
})

test('a test that fails is a 502 with the reason, and no error of the service', async () => {
  const app = await channelApp()
  const server = await mailServer({ answers: { MAIL: () => '550 5.7.1 not from you' } })
  const settings = { ...MAIL.settings, host: '127.0.0.1', port: server.port, security: 'none' }
  const id = await app.add({ ...MAIL, language: 'en', settings })

  const { error } = await refused(await app.send('POST', `${PATH}/${id}/test`), 502, 'channel_refused')

  const reason = `127.0.0.1:${server.port} a répondu : 550 5.7.1 not from you`
  expect(error).toBe(`Le message n’a pas été pris : ${reason}`)
  expect(await app.list()).toMatchObject([{ last: { ok: false, error: reason } }])
  expect(app.lines().filter((line) => line.includes('"level":"error"'))).toEqual([])
})

test('a channel whose secret another key sealed says so, and works once the secret is given again', async () => {
  const app = await channelApp()
  const receiver = await httpReceiver()
  const settings = { ...NTFY.settings, url: receiver.url }
  const id = await app.add({ ...NTFY, settings })
  const sealed = createSecrets(Buffer.alloc(32, 8)).seal(`notification_channel:${id}`, JSON.stringify({ token: TOKEN }))
  await app.db.run('UPDATE notification_channels SET secrets = ?', [sealed])

  expect(await app.list()).toMatchObject([{ settings: { token_set: false } }])
  const { error } = await refused(await app.send('POST', `${PATH}/${id}/test`), 502, 'channel_refused')
  expect(error).toContain('ne peut pas être déchiffré')
  expect(receiver.received).toEqual([])

  await answered(await app.send('PATCH', `${PATH}/${id}`, { settings: { token: TOKEN } }), 200)
  await answered(await app.send('POST', `${PATH}/${id}/test`), 200)
})

test('of two changes at once one is made, and the other is refused', async () => {
  const app = await channelApp()
  const id = await app.add(NTFY)

  const answers = await Promise.all(
    ['a', 'b', 'c'].map((topic) => app.send('PATCH', `${PATH}/${id}`, { settings: { topic } })),
  )

  const statuses = answers.map(({ status }) => status)
  expect(statuses).toContain(200)
  const made = statuses.filter((status) => status === 200).length
  expect(statuses.filter((status) => status === 409)).toHaveLength(3 - made)
  expect((await auditedActions(app.db)).filter((action) => action === 'channel_change')).toHaveLength(made)
})

const TOKEN_URL = 'https://discord.test/api/webhooks/104729560317/aZ9_very-secret-token-of-a-hook?wait=s3cret'
const SHOWN_URL = 'https://discord.test/api/webhooks/104729560317/…?…'
const HOOK = { name: 'Salon', kind: 'webhook', settings: { url: TOKEN_URL, secret: 'abc' } }

test('the address of a webhook is sealed, shown without its tokens, and stays when a change leaves it out', async () => {
  const app = await channelApp()
  const id = await app.add(HOOK)
  const change = (settings: object) => app.send('PATCH', `${PATH}/${id}`, { settings })

  expect(await app.list()).toMatchObject([{ settings: { url: SHOWN_URL, secret_set: true } }])
  const stored = JSON.stringify(await rows(app.db, 'SELECT * FROM notification_channels'))
  expect(stored).not.toContain('very-secret')
  expect(stored).not.toContain('s3cret')
  expect(stored).not.toContain('discord.test')

  await answered(await change({ secret: 'def' }), 200)
  expect(await app.open(id)).toEqual({ secret: 'def', url: TOKEN_URL })
  await answered(await change({ url: SHOWN_URL }), 200)
  expect(await app.open(id)).toEqual({ secret: 'def', url: TOKEN_URL })

  const { details } = await refused(
    await change({ url: 'https://discord.test/…/other', secret: 'x' }),
    422,
    'channel_settings_invalid',
  )
  expect(details).toEqual([{ field: 'settings.url', message: 'L’adresse est abrégée par « … » : donnez-la entière.' }])
  await answered(await change({ url: 'https://discord.test/short' }), 200)
  expect(await app.list()).toMatchObject([{ settings: { url: 'https://discord.test/short' } }])
})

test('a webhook that a former version has stored with a bare address is sealed at the first look', async () => {
  const app = await channelApp()
  const id = await app.add(HOOK)
  await app.db.run('UPDATE notification_channels SET settings = ?, secrets = ?', [
    JSON.stringify({ url: TOKEN_URL, allow_self_signed: false }),
    app.secrets.seal(`notification_channel:${id}`, JSON.stringify({ secret: 'abc' })),
  ])
  expect(await app.list()).toMatchObject([{ settings: { url: SHOWN_URL } }])

  await app.services.notifications.tick()

  expect(await app.open(id)).toEqual({ secret: 'abc', url: TOKEN_URL })
  expect(await rows(app.db, 'SELECT settings FROM notification_channels')).toEqual([
    { settings: '{"allow_self_signed":false}' },
  ])
  expect(await app.list()).toMatchObject([{ settings: { url: SHOWN_URL, secret_set: true } }])
})

test('a receiver of a webhook that sends its own address back shows it to nobody', async () => {
  const app = await channelApp()
  const receiver = await httpReceiver((response, { path }) => response.writeHead(404).end(`nothing at ${path}`))
  const url = `${receiver.url}/hooks/aZ9_very-secret-token-of-a-hook?k=s3cret`
  const id = await app.add({ ...HOOK, settings: { url, secret: 'abc' } })

  const text = await (await app.send('POST', `${PATH}/${id}/test`)).text()

  expect(receiver.received).toMatchObject([{ path: '/hooks/aZ9_very-secret-token-of-a-hook?k=s3cret' }])
  expect(text).toContain('nothing at /hooks/•••?•••')
  expect(`${text}${JSON.stringify(await rows(app.db, 'SELECT * FROM notification_channels'))}`).not.toMatch(
    /very-secret|s3cret/,
  )
})

const SIGNED_IN = { ...MAIL.settings, username: 'u', password: 'p' }
test.each([
  ['an unproved certificate', NTFY, { allow_self_signed: true }, ['token']],
  ['an unproved certificate of a webhook', HOOK, { allow_self_signed: true }, ['secret', 'url']],
  [
    'no TLS',
    { ...MAIL, settings: { ...SIGNED_IN, host: 'localhost', security: 'tls' } },
    { security: 'none' },
    ['password'],
  ],
])('%s needs the secret again, and the other way does not', async (_, channel, weaker, names) => {
  const app = await channelApp()
  const id = await app.add(channel)
  const change = (settings: object) => app.send('PATCH', `${PATH}/${id}`, { settings })

  const { details } = await refused(await change(weaker), 400, 'channel_secret_required')
  expect(details).toEqual(
    names.map((name) => ({
      field: `settings.${name}`,
      message: 'Donnez ce secret de nouveau : la connexion serait moins sûre.',
    })),
  )
  const again = Object.fromEntries(names.map((name) => [name, name === 'url' ? TOKEN_URL : 'again']))
  await answered(await change({ ...weaker, ...again }), 200)
  const safer = 'security' in weaker ? { security: 'tls' } : { allow_self_signed: false }
  await answered(await change(safer), 200)
})

test('channels are sorted by name as people sort them', async () => {
  const app = await channelApp()
  for (const name of ['beta', 'Zoo', 'Alpha', 'été', 'Eté 2', 'alpha 10', 'alpha 9']) await app.add({ ...NTFY, name })

  expect((await app.list()).map(({ name }) => name)).toEqual([
    ...['Alpha', 'alpha 9', 'alpha 10', 'beta', 'été', 'Eté 2', 'Zoo'],
  ])
})
