import { describe, expect, test } from 'vitest'
import { readSettings, writeSettings } from '../../../db/settings.ts'
import login from '../../../functions/auth/login.post.ts'
import settings from '../../../functions/settings/settings.get.ts'
import change from '../../../functions/settings/settings.patch.ts'
import packages from '../../../functions/updates/packages.get.ts'
import run from '../../../functions/runs/run.post.ts'
import type { Identity } from '../../../ssh/identity.ts'
import { SshError } from '../../../ssh/connection.ts'
import { START, testApp } from '../../app.ts'
import { PADDED_LINKS, SAFE_LINKS, UNSAFE_LINKS } from '../../links.ts'
import { answered, audited, refusals, refused, sealWithAnotherKey } from '../answers.ts'

const PATH = '/api/settings'
const SAVED = { message: 'Réglages enregistrés.' }
const UNCHANGED = { message: 'Aucun réglage n’a changé.' }

const KEY = `SHA256:${'A'.repeat(43)}`
const TOKEN = 'panel@pve!ops=01234567-89ab-cdef-0123-456789ABCDEF'
const FINGERPRINT = Array(32).fill('aB').join(':')
const shortcuts = (...list: unknown[]) => JSON.stringify(list)

const OWN = 'own password of alice'
/** The further fields that a change of host or key requires. */
const AGREED = { ssh_host_key: KEY, current_password: OWN }

const start = () => testApp([settings, change, packages, run, login], { fake: { signIn } })
type App = Awaited<ReturnType<typeof start>>

function signIn(username: string, password: string): Identity {
  if (username === 'alice' && password === OWN) return { uid: 1000, name: 'alice', groups: ['sudo'] }
  throw new SshError('bad_credentials', `authentification refusée pour ${username}`)
}

const patch = (app: App, body: unknown) => app.request('PATCH', PATH, { as: 'admin', body })
const shown = async (app: App) => answered(await app.request('GET', PATH, { as: 'admin' }), 200)
const stored = async (app: App) => Object.fromEntries(await readSettings(app.db))
const details = async (app: App) => (await audited(app.db)).map((entry) => entry.details)

/** Checks that a body is refused for this field, and that nothing has changed. */
async function unchanged(app: App, body: unknown, field: string) {
  const before = await stored(app)
  const { details: refusal } = await refused(await patch(app, body), 400, 'invalid_request')
  expect(refusal?.map((detail) => detail.field)).toEqual([field])
  expect(await stored(app)).toEqual(before)
  expect(await audited(app.db)).toEqual([])
}

const ACCEPTED = {
  ssh_host: ['pve', 'pve.example', 'pve:2222', '192.0.2.1', '192.0.2.1:22', '[2001:db8::1]:22', '[::1]', '2001:db8::1'],
  ssh_username: ['root', 'p', 'é'.repeat(256)],
  ssh_host_key: [KEY, `ssh-ed25519 ${KEY}`, `ecdsa-sha2-nistp256 ${KEY}`, `sk-ssh-ed25519@openssh.com ${KEY}`],
  hypervisor_url: ['', 'https://pve.example:8006', 'https://[2001:db8::1]:8006', 'https://192.0.2.1'],
  hypervisor_fingerprint: ['', FINGERPRINT],
  checks_automatic: ['on', 'off'],
  checks_parallel: ['1', '6', '9', '10', '16'],
  dashboard_shortcuts: [
    shortcuts(),
    shortcuts({ label: 'Conteneurs', href: '/hypervisor' }),
    shortcuts({ label: 'a', href: 'https://wiki.example/a?b=c#d', icon: 'book' }, { label: 'b', href: 'http://b' }),
    shortcuts(...Array(100).fill({ label: 'l'.repeat(80), href: `/${'h'.repeat(200)}`, icon: 'i'.repeat(80) })),
  ],
}

/** Each value with its key and a readable title. */
const cases = <value>(values: Record<string, value[]>) =>
  Object.entries(values).flatMap(([key, list]) =>
    list.map((value) => ({ key, value, shown: JSON.stringify(value).slice(0, 60) })),
  )

test.each(cases(ACCEPTED))('$key may be $shown', async ({ key, value }) => {
  const app = await start()

  await answered(await patch(app, { ...AGREED, [key]: value }), 200)

  expect(await shown(app)).toMatchObject({ [key]: value })
})

test.each(cases({ hypervisor_token: [TOKEN], ssh_password: ['x', ' é"\n'.repeat(256)] }))(
  'the secret $key may be $shown',
  async ({ key, value }) => {
    const app = await start()

    expect(await answered(await patch(app, { [key]: value }), 200)).toEqual(SAVED)

    const { [key]: sealed = '' } = await stored(app)
    expect(app.secrets.open(key, sealed)).toBe(value)
  },
)

const REFUSED: Record<string, unknown[]> = {
  ssh_host: [
    '',
    ' ',
    'pve:',
    'pve:0',
    'pve:65536',
    'pve pve',
    'a:b',
    '[::1',
    'pve\0',
    'p'.repeat(256),
    null,
    22,
    ['pve'],
  ],
  ssh_username: ['', 'a\0b', 'u'.repeat(257), null, 0],
  ssh_password: ['a\0b', 'p'.repeat(1025), null, 7, {}],
  ssh_host_key: [KEY.slice(0, -1), `${KEY}A`, `ssh-rsa  ${KEY}`, `${KEY}\n`, `\0${KEY}`, 'MD5:00:11', ' ', null, true],
  hypervisor_url: [
    'pve.example',
    'ftp://pve.example',
    'javascript:alert(1)',
    'https://user@pve.example',
    'https://user:secret@pve.example',
    'https://',
    'https://pve.example/\0',
    `https://pve.example/${'p'.repeat(2000)}`,
    null,
  ],
  hypervisor_token: ['secret', `${TOKEN}0`, TOKEN.slice(0, -1), `a b@pve!${TOKEN}`, `PVEAPIToken=${TOKEN}`, ' ', null],
  checks_automatic: ['', 'ON', 'true', true, null],
  checks_parallel: ['', '0', '17', '20', '01', '1 ', '1.5', '-1', 6, null],
  hypervisor_fingerprint: [FINGERPRINT.slice(3), `${FINGERPRINT}:00`, FINGERPRINT.replaceAll(':', ''), 'x', '\0', null],
  dashboard_shortcuts: [
    '',
    'null',
    '{}',
    '"a"',
    '[1]',
    '[',
    '[]\0',
    `[]${' '.repeat(64 * 1024)}`,
    null,
    [],
    shortcuts({ label: 'a' }),
    shortcuts({ href: '/a' }),
    shortcuts({ label: '', href: '/a' }),
    shortcuts({ label: 'l'.repeat(81), href: '/a' }),
    shortcuts({ label: 'a', href: '/a', icon: 1 }),
    shortcuts({ label: 'a', href: '/a', icon: 'i'.repeat(81) }),
    shortcuts({ label: 'a', href: `/${'h'.repeat(2000)}` }),
    shortcuts(...Array(101).fill({ label: 'a', href: '/a' })),
  ],
}

test.each(cases(REFUSED))('$key cannot be $shown, and nothing is written', async ({ key, value }) => {
  await unchanged(await start(), { [key]: value }, key)
})

test.each([...UNSAFE_LINKS, ...PADDED_LINKS])('a shortcut to %j is refused', async (href) => {
  await unchanged(await start(), { dashboard_shortcuts: shortcuts({ label: 'a', href }) }, 'dashboard_shortcuts')
})

test.each(SAFE_LINKS)('a shortcut may lead to %s', async (href) => {
  await answered(await patch(await start(), { dashboard_shortcuts: shortcuts({ label: 'a', href }) }), 200)
})

test.each([
  ['a NUL in it', TOKEN.replace('panel', 'pan\0el')],
  ['half a million letters', TOKEN.replace('panel', 'p'.repeat(500_000))],
])('a hypervisor token with %s, which no header can carry, is refused', async (_, token) => {
  await unchanged(await start(), { hypervisor_token: token }, 'hypervisor_token')
})

test('any subset can be changed at once, and the others stay', async () => {
  const app = await start()
  const before = await shown(app)

  expect(await answered(await patch(app, { ssh_username: 'root', hypervisor_url: 'https://pve:8006' }), 200)).toEqual(
    SAVED,
  )

  expect(await shown(app)).toEqual({ ...Object(before), ssh_username: 'root', hypervisor_url: 'https://pve:8006' })
})

test('one invalid field among valid ones: nothing is written', async () => {
  const app = await start()
  const wrong = { ssh_host: 'other', ssh_password: 'new one', hypervisor_token: TOKEN, ssh_username: '' }

  await unchanged(app, wrong, 'ssh_username')
})

test('a storage failure at one value writes none of them, and nothing is audited', async () => {
  const app = await start()
  const before = await stored(app)
  await app.db.script(`CREATE TRIGGER refuse BEFORE INSERT ON settings WHEN NEW.key = 'hypervisor_url'
                       BEGIN SELECT raise(ABORT, 'refused'); END`)

  const body = { ssh_username: 'root', ssh_password: 'new', hypervisor_url: 'https://pve', dashboard_shortcuts: '[]' }
  await refused(await patch(app, body), 500, 'storage_failed')

  expect(await stored(app)).toEqual(before)
  expect(await audited(app.db)).toEqual([])
})

test.each(['unknown', 'ssh_password_set', 'SSH_HOST', 'signing_key', ''])(
  'the unknown name %j is refused together with the rest of the request',
  async (name) => {
    await unchanged(await start(), { ssh_username: 'root', [name]: 'x' }, '')
  },
)

test.each([['[]'], ['null'], ['"ssh_host"'], ['1']])('a body of %s is not an object', async (body) => {
  const app = await start()

  await refused(await patch(app, body), 400, 'invalid_request')

  expect(await audited(app.db)).toEqual([])
})

test.each([[''], ['{'], ['ssh_host=pve']])('a body of %j is unreadable', async (body) => {
  await refused(await patch(await start(), body), 400, 'invalid_json')
})

test.each([
  ['no field', {}],
  ['empty secrets', { ssh_password: '', hypervisor_token: '' }],
  ['the present values', { ssh_host: 'pve.test', ssh_username: 'panel', ssh_password: 'service-password' }],
])('%s: no change, and no audit entry', async (_, body) => {
  const app = await start()
  const { settings } = app.services
  const all = async () => [await settings.show(), await settings.sshAccount()]
  const before = await all()

  expect(await answered(await patch(app, body), 200)).toEqual(UNCHANGED)

  expect(await all()).toEqual(before)
  expect(await audited(app.db)).toEqual([])
})

const USERNAME_CHANGED = { keys: 'ssh_username', ssh_username_before: 'panel', ssh_username_after: 'root' }

test('an empty secret next to a change leaves the secret as it is', async () => {
  const app = await start()
  const { ssh_password } = await stored(app)

  await answered(await patch(app, { ssh_password: '', hypervisor_token: '', ssh_username: 'root' }), 200)

  expect(await stored(app)).toEqual({ ssh_host: 'pve.test', ssh_username: 'root', ssh_password })
  expect(await details(app)).toEqual([USERNAME_CHANGED])
})

test('the audit entry names the user and the old and new values; of a secret only its name', async () => {
  const app = await start()

  const body = {
    ssh_host: 'other.example',
    ssh_username: 'someone',
    ssh_password: 'a new password',
    ssh_host_key: KEY,
    hypervisor_url: 'https://pve.example:8006',
    hypervisor_token: TOKEN,
    hypervisor_fingerprint: FINGERPRINT,
    dashboard_shortcuts: shortcuts({ label: 'Wiki', href: '/wiki' }),
  }
  const sent = { ...body, current_password: OWN }
  await answered(await app.request('PATCH', PATH, { as: 'admin', body: sent, from: '192.0.2.7' }), 200)

  const [entry, ...more] = await audited(app.db)
  expect(more).toEqual([])
  expect(entry).toMatchObject({ action: 'settings_changed', username: 'alice', target: null, ip: '192.0.2.7' })
  const { ssh_password, hypervisor_token, ...plain } = body
  const { keys, ...noted } = Object(entry?.details)
  expect(String(keys).split(', ').sort()).toEqual(Object.keys(body).sort())
  const before = { ssh_host: 'pve.test', ssh_username: 'panel' }
  expect(noted).toEqual(
    Object.fromEntries(
      Object.entries(plain).flatMap(([key, value]) => [
        [`${key}_before`, Object.entries(before).find(([name]) => name === key)?.[1] ?? ''],
        [`${key}_after`, value],
      ]),
    ),
  )
  for (const secret of [ssh_password, hypervisor_token, OWN]) expect(JSON.stringify(entry)).not.toContain(secret)
})

test('a long list of shortcuts is audited by its beginning', async () => {
  const app = await start()
  const list = shortcuts(...Array(100).fill({ label: 'l', href: `/${'h'.repeat(200)}` }))

  await answered(await patch(app, { dashboard_shortcuts: list }), 200)

  expect(Object((await details(app))[0]).dashboard_shortcuts_after).toBe(`${list.slice(0, 500)}…`)
})

test('the audit entry names only changed values', async () => {
  const app = await start()

  await answered(
    await patch(app, { ssh_host: 'pve.test', ssh_username: 'root', ssh_password: 'service-password' }),
    200,
  )

  expect(await details(app)).toEqual([USERNAME_CHANGED])
})

test.each([
  ['without a key', { ssh_host: 'other.example' }, 409, 'host_key_required'],
  ['with another port, without a key', { ssh_host: 'pve.test:2222' }, 409, 'host_key_required'],
  ['with an empty key', { ssh_host: 'other.example', ssh_host_key: '' }, 409, 'host_key_required'],
  ['with only its key removed', { ssh_host_key: '' }, 409, 'host_key_required'],
  ['without a proof', { ssh_host: 'other.example', ssh_host_key: KEY }, 403, 'proof_required'],
  [
    'with an empty proof',
    { ssh_host: 'other.example', ssh_host_key: KEY, current_password: '' },
    403,
    'proof_required',
  ],
  ['with only another key, without a proof', { ssh_host_key: KEY }, 403, 'proof_required'],
  ['with a wrong proof', { ssh_host: 'other.example', ssh_host_key: KEY, current_password: 'x' }, 403, 'proof_wrong'],
] as const)(
  'a host %s is refused, and nothing is written, nor the service account’s new password',
  async (_, body, status, code) => {
    const app = await start()
    await app.services.settings.pinHostKey('ssh-ed25519 SHA256:old', 'pve.test')
    const before = await stored(app)

    await refused(await patch(app, { ...body, ssh_password: 'new' }), status, code)

    expect(await stored(app)).toEqual(before)
    expect(app.signIns).toEqual(code === 'proof_wrong' ? ['alice'] : [])
    expect((await audited(app.db)).map(({ action, username }) => [action, username])).toEqual(
      code === 'proof_wrong' ? [['proof_refused', 'alice']] : [],
    )
    // A refusal is in the audit log once.
    expect((await refusals(app.db)).map(({ details }) => details)).toMatchObject(
      code === 'proof_required' ? [{ code }] : [],
    )
  },
)

test('another host is accepted with its key and the administrator’s own password', async () => {
  const app = await start()
  await app.services.settings.pinHostKey('ssh-ed25519 SHA256:old', 'pve.test')

  expect(await answered(await patch(app, { ssh_host: 'other.example', ...AGREED }), 200)).toEqual(SAVED)

  expect(await shown(app)).toMatchObject({ ssh_host: 'other.example', ssh_host_key: KEY })
  expect(app.signIns).toEqual(['alice'])
  expect(app.lines().join('\n')).not.toContain(OWN)
})

test('the password is not checked where none is needed', async () => {
  const app = await start()

  await answered(await patch(app, { ssh_username: 'root', current_password: 'x' }), 200)

  expect(app.signIns).toEqual([])
})

test('wrong proofs count as login attempts: five a minute for an address, both together', async () => {
  const app = await start()
  const guess = () => patch(app, { ssh_host: 'other.example', ssh_host_key: KEY, current_password: 'x' })
  const signingIn = () => app.request('POST', '/api/auth/login', { body: { username: 'alice', password: 'x' } })
  for (let n = 0; n < 3; n += 1) await refused(await guess(), 403, 'proof_wrong')
  for (let n = 0; n < 2; n += 1) await refused(await signingIn(), 401, 'bad_credentials')

  const answer = await guess()

  expect(answer.headers.get('retry-after')).toBe('60')
  await refused(answer, 429, 'login_rate_limited')
  await refused(await signingIn(), 429, 'login_rate_limited')
  expect(app.signIns).toHaveLength(5)
  app.advance(60_000)
  await answered(await patch(app, { ssh_host: 'other.example', ...AGREED }), 200)
})

test.each([
  ['is away', new SshError('unreachable', 'personne ne répond')],
  ['shows another key', new SshError('host_key_changed', 'la clé de l’hôte a changé')],
])('while %s the present host cannot check the proof: 503, with a hint at the console', async (_, error) => {
  const fake = {
    signIn() {
      throw error
    },
  }
  const app = await testApp([settings, change], { fake })
  const before = Object.fromEntries(await readSettings(app.db))

  const refusal = await refused(
    await app.request('PATCH', PATH, { as: 'admin', body: { ssh_host: 'other.example', ...AGREED } }),
    503,
    'proof_impossible',
  )

  expect(refusal.error).toContain(error.message)
  expect(refusal.error).toContain('ops-panel settings set')
  expect(Object.fromEntries(await readSettings(app.db))).toEqual(before)
  expect((await audited(app.db)).map(({ action }) => action)).toEqual(['proof_refused'])
})

describe('with a token of the hypervisor', () => {
  const URLS = { url: 'https://pve.example:8006', other: 'https://evil.example' }
  const OTHER = Array(32).fill('CC').join(':')
  async function withToken(hypervisor_fingerprint = '') {
    const app = await start()
    const body = { hypervisor_url: URLS.url, hypervisor_token: TOKEN, hypervisor_fingerprint }
    await answered(await patch(app, body), 200)
    return app
  }

  test.each([
    ['another address', '', { hypervisor_url: URLS.other }, 409, 'hypervisor_token_required'],
    [
      'another address, proven',
      '',
      { hypervisor_url: URLS.other, current_password: OWN },
      409,
      'hypervisor_token_required',
    ],
    [
      'another address with a certificate, not proven',
      '',
      { hypervisor_url: URLS.other, hypervisor_fingerprint: OTHER },
      403,
      'proof_required',
    ],
    [
      'another address and no certificate',
      FINGERPRINT,
      { hypervisor_url: URLS.other, hypervisor_fingerprint: '' },
      409,
      'hypervisor_token_required',
    ],
    ['another certificate', FINGERPRINT, { hypervisor_fingerprint: OTHER }, 403, 'proof_required'],
    ['no certificate any more', FINGERPRINT, { hypervisor_fingerprint: '' }, 403, 'proof_required'],
    ['a first certificate', '', { hypervisor_fingerprint: OTHER }, 403, 'proof_required'],
    [
      'an empty token beside',
      '',
      { hypervisor_url: URLS.other, hypervisor_token: '' },
      409,
      'hypervisor_token_required',
    ],
  ] as const)('%s is refused', async (_, fingerprint, body, status, code) => {
    const app = await withToken(fingerprint)
    const before = await stored(app)

    await refused(await patch(app, body), status, code)

    expect(await stored(app)).toEqual(before)
  })

  test.each([
    ['another address under the agreed certificate', FINGERPRINT, { hypervisor_url: 'https://192.0.2.7:8006' }],
    [
      'another address with a new token',
      '',
      { hypervisor_url: URLS.other, hypervisor_token: TOKEN.replace('ops', 'two') },
    ],
    [
      'another certificate with a new token',
      '',
      { hypervisor_fingerprint: OTHER, hypervisor_token: TOKEN.replace('ops', 'two') },
    ],
    ['another certificate, proven', '', { hypervisor_fingerprint: OTHER, current_password: OWN }],
    [
      'another address and its certificate, proven',
      '',
      { hypervisor_url: URLS.other, hypervisor_fingerprint: OTHER, current_password: OWN },
    ],
    ['no address any more', '', { hypervisor_url: '' }],
  ] as const)('%s is accepted', async (_, fingerprint, body) => {
    await answered(await patch(await withToken(fingerprint), body), 200)
  })

  test('an address that is removed and set again does not get the token either', async () => {
    const app = await withToken()
    await answered(await patch(app, { hypervisor_url: '' }), 200)

    await refused(await patch(app, { hypervisor_url: URLS.other }), 409, 'hypervisor_token_required')
  })
})

test.each([[{ ssh_host: 'pve.test' }], [{ ssh_username: 'root', ssh_password: 'new' }], [{ ssh_host: 'pve:0' }]])(
  'with %j the pinned key stays',
  async (body) => {
    const app = await start()
    await app.services.settings.pinHostKey(`ssh-ed25519 ${KEY}`, 'pve.test')

    await patch(app, body)

    expect(await shown(app)).toMatchObject({ ssh_host: 'pve.test', ssh_host_key: `ssh-ed25519 ${KEY}` })
  },
)

test('secrets are sealed in the database, never in clear text, and nothing reveals them', async () => {
  const app = await start()

  const response = await patch(app, { ssh_password: 'a new password', hypervisor_token: TOKEN })

  const everything = JSON.stringify([await stored(app), await audited(app.db), app.lines(), await response.text()])
  for (const secret of ['a new password', TOKEN, TOKEN.split('=')[1] ?? '']) expect(everything).not.toContain(secret)
  const { ssh_password = '', hypervisor_token = '' } = await stored(app)
  expect(app.secrets.open('ssh_password', ssh_password)).toBe('a new password')
  expect(app.secrets.open('hypervisor_token', hypervisor_token)).toBe(TOKEN)
})

test('sealing the same password twice gives different values', async () => {
  const app = await start()
  const sealed = new Set<string | undefined>()
  for (const ssh_password of ['one', 'two', 'one', 'two']) {
    await answered(await patch(app, { ssh_password }), 200)
    sealed.add((await stored(app)).ssh_password)
  }

  expect(sealed.size).toBe(4)
})

test('one sealed secret cannot replace the other', async () => {
  const app = await start()
  await answered(await patch(app, { hypervisor_token: TOKEN }), 200)

  const { hypervisor_token = '' } = await stored(app)
  await writeSettings(app.db, { ssh_password: hypervisor_token }, START.toISOString())

  const answer = await app.request('GET', '/api/updates/packages?target=host', { as: 'user' })
  await refused(answer, 503, 'ssh_password_unreadable')
  expect(app.ran).toEqual([])
})

test('a password that another key has sealed gives 503 and a log line with the remedy, and a new one helps', async () => {
  const app = await start()
  await sealWithAnotherKey(app.db)
  const list = () => app.request('GET', '/api/updates/packages?target=host', { as: 'user' })

  await refused(await list(), 503, 'ssh_password_unreadable')
  const body = { target: 'host' }
  await refused(await app.request('POST', '/api/updates/run', { as: 'user', body }), 503, 'ssh_password_unreadable')

  expect(app.ran).toEqual([])
  expect(await audited(app.db)).toEqual([])
  const line = app.lines().find((each) => each.includes('ssh_password cannot be decrypted'))
  expect(line).toContain('"level":"error"')
  expect(line).toContain('PANEL_SECRET_KEY')
  expect(line).toContain('set it anew')

  expect(await answered(await patch(app, { ssh_password: 'service-password' }), 200)).toEqual(SAVED)

  await answered(await list(), 200)
  expect(await details(app)).toEqual([{ keys: 'ssh_password' }])
})

test('only administrators have access', async () => {
  const app = await start()
  const before = await stored(app)
  const body = { ssh_host: 'evil.example' }

  await refused(await app.request('PATCH', PATH, { body }), 401, 'unauthenticated')
  await refused(await app.request('PATCH', PATH, { as: 'user', body }), 403, 'forbidden')
  await refused(await app.request('PATCH', PATH, { as: 'user', body: '{' }), 403, 'forbidden')

  expect(await stored(app)).toEqual(before)
  expect(await audited(app.db)).toEqual([])
})

test('a change that cannot be put in the audit log fails', async () => {
  const app = await start()
  const before = await stored(app)
  await app.db.script(`CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'full'); END`)

  await refused(await patch(app, { ssh_username: 'root', ssh_password: 'new' }), 500, 'storage_failed')

  expect(await stored(app)).toEqual(before)
})
