import { METHODS } from 'node:http'
import fc from 'fast-check'
import * as z from 'zod'
import { codeOf, digestOfText } from '../../demo/application.ts'
import { digestOf } from '../../functions/applications/source.ts'
import type { AnyFunction } from '../../runtime/function.ts'
import type { AnySocket } from '../../runtime/socket.ts'
import type { WireRequest } from './client.ts'

/**
 * The kinds of values that only a running service knows. Requests contain placeholders such as `{user2}` or `{job0}`
 * for them, so that a counterexample reads the same in every run.
 */
export const KNOWN = [
  'user',
  'admin',
  'refresh',
  'job',
  'setup',
  'host',
  'hostkey',
  'password',
  'module',
  'task',
  'plan',
  'run',
  'schedule',
  'schedulerun',
  'channel',
  'panel',
  'factor',
  'signin',
  'recovery',
  'enrolment',
  'code',
  'newpasskey',
  'passkeysignin',
  'oidcanswer',
  'link',
  'linkuse',
  'apitoken',
  'account',
  'accountsession',
  'pagemodule',
  'pageticket',
] as const
export type Known = Readonly<Record<(typeof KNOWN)[number], readonly string[]>>

/** Replaces the placeholders of a request with their values. */
export function filled(request: WireRequest, known: Known): WireRequest {
  const fill = (text: string) =>
    text.replace(/\{([a-z]+)(\d+)\}/g, (whole, name: string, at: string) => {
      const list = KNOWN.find((each) => each === name)
      return list === undefined ? whole : (known[list][Number(at) % known[list].length] ?? whole)
    })
  return {
    ...request,
    target: fill(request.target),
    headers: request.headers.map(([name, value]) => [name, fill(value)]),
    body: typeof request.body === 'string' ? fill(request.body) : request.body,
  }
}

/** The address of the stored application's script, and the digest of what its update would run. */
export const SCRIPT = 'https://127.0.0.1:1/app.sh'
export const DIGEST = digestOf([{ address: SCRIPT, digest: digestOfText(codeOf(SCRIPT)) }], [])

const one = <value>(values: readonly value[]) => fc.constantFrom(...values)
const often = <value>(arbitrary: fc.Arbitrary<value>, weight: number) => ({ arbitrary, weight })
const known = (name: (typeof KNOWN)[number]) => fc.nat(11).map((at) => `{${name}${at}}`)

/** Names of inherited properties, and words with a meaning to the service. */
const KEYS = ['__proto__', 'constructor', 'prototype', 'toString', 'valueOf', 'hasOwnProperty', 'then', 'length', '']
const WORDS = [
  ...['host', 'all', 'lxc:101', 'lxc:102', 'lxc:999', 'lxc:', 'lxc:-1', 'lxc:$(id)', 'lxc:1 2', "lxc:1';", 'lxc:\0'],
  ...['fr', 'en', 'dark', 'light', 'left', 'right', 'none', 'demo', 'guest', 'panel', 'root', 'login_failed'],
  ...[
    '0',
    '1',
    '2',
    '500',
    '501',
    '-1',
    '1.5',
    '1e3',
    '0x10',
    '9007199254740993',
    '999999999999999',
    'NaN',
    ' 1',
    '1\n',
  ],
]
const STRANGE = [
  ...[
    '\0',
    'a\0b',
    '\ud800',
    'a\udfffb',
    '\ufffe',
    '\u202e',
    '𝒳'.repeat(30),
    'é',
    'e\u0301',
    '\r\n',
    '\x1b[31m',
    '%00',
  ],
  ...['../../etc/passwd', '; id', "' OR 1=1 --", '$(id)', 'x'.repeat(257), 'x'.repeat(1025), 'x'.repeat(5000)],
]
const text = fc.oneof(
  often(one(WORDS), 4),
  often(one(STRANGE), 2),
  often(one(KEYS), 1),
  often(fc.string({ maxLength: 30 }), 2),
  often(fc.string({ unit: 'binary', maxLength: 30 }), 2),
)
const key = fc.oneof(one(KEYS), fc.string({ maxLength: 12 }), one(['username', 'target', 'limit', 'kid', 'sub']))

// --- JSON as text, because an object literal cannot contain a duplicate key or a number out of range.

const NUMBERS = ['0', '-0', '1e400', '-1e400', '1E-400', '9007199254740993', '123456789012345678901234567890', '0.1']
const { value: jsonText } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    often(one(['null', 'true', 'false', '{}', '[]', '""']), 2),
    often(fc.oneof(one(NUMBERS), fc.integer().map(String), fc.double({ noNaN: true }).map(String)), 2),
    often(
      text.map((each) => JSON.stringify(each)),
      3,
    ),
    often(
      fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
      1,
    ),
    often(
      fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map((entries) => objectText(entries)),
      1,
    ),
  ),
}))

function objectText(entries: readonly (readonly [string, string])[]): string {
  return `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`
}

const deep = fc
  .tuple(one([10, 1_000, 100_000]), one(['[]', '{"a":}', '{"__proto__":}']))
  .map(([times, pair]) => ({ times, open: pair.slice(0, -1), close: pair.slice(-1) }))
  .map(({ times, open, close }) => `${open.repeat(times)}0${close.repeat(times)}`)

const quoted = text.map((each) => JSON.stringify(each))

/** An object with some of the expected keys, whose values are valid, nearly valid or invalid. */
const objectWith = (keys: readonly string[]) => {
  const value = fc.oneof(often(quoted, 4), often(jsonText, 2), often(deep, 1))
  const right = fc.tuple(...keys.map((name) => value.map((each) => [name, each] as const)))
  const more = fc.array(fc.tuple(key, jsonText), { maxLength: 3 })
  return fc
    .tuple(fc.subarray([...keys], { minLength: 0 }), right, more)
    .map(([left, entries, others]) => objectText([...entries.filter(([name]) => left.includes(name)), ...others]))
}

/** The fields of the setup wizard. */
const WIZARD = '"setup_token":"{setup0}","ssh_host":"{host0}","ssh_username":"panel","ssh_password":"{password0}"'

/** Bodies with which an endpoint succeeds, where random ones rarely pass its schema. */
const VALID_BODIES: Readonly<Record<string, fc.Arbitrary<string>>> = {
  'POST /api/auth/login': one(['demo', 'guest']).map((name) => JSON.stringify({ username: name, password: name })),
  'POST /api/auth/login/answers': one([0, 1, 2]).map(
    (n) => `{"challenge":"{signin${n}}","factor":"recovery","answers":["{recovery${n}}"]}`,
  ),
  'POST /api/auth/step-up': one([0, 1]).map((n) => `{"factor":"recovery","answers":["{recovery${n}}"]}`),
  'POST /api/auth/factors/totp': one(['a', 'é']).map((name) => JSON.stringify({ name })),
  'POST /api/auth/factors/totp/confirm': known('enrolment').map(
    (challenge) => `{"challenge":"${challenge}","code":"{code0}"}`,
  ),
  'POST /api/auth/factors/passkeys': known('newpasskey'),
  'POST /api/auth/login/passkey': known('passkeysignin'),
  'POST /api/auth/oidc/answer': known('oidcanswer'),
  'POST /api/auth/enrol/options': known('link').map((code) => `{"code":"${code}"}`),
  'POST /api/auth/enrol': known('linkuse'),
  'POST /api/auth/tokens': one([
    '{"name":"a","role":"viewer","targets":"all"}',
    '{"name":"é","role":"operator","targets":["host","lxc:101"],"expires_in_days":1}',
    '{"name":"b","role":"viewer","targets":["lxc:102"],"expires_at":null}',
  ]),
  'POST /api/registry/modules/:id/install': one([
    {},
    { commit: '1'.repeat(40) },
    { commit: '1'.repeat(40), tag: 'v1.0.0' },
    { commit: '1'.repeat(40), previous: true },
    { commit: '1'.repeat(40), pinned: true },
    { tag: 'v1', pinned: true },
  ]).map((body) => JSON.stringify(body)),
  'POST /api/install': fc.constant(`{${WIZARD},"ssh_host_key":"{hostkey0}"}`),
  'POST /api/install/check': fc.constant(`{${WIZARD}}`),
  'POST /api/install/key': fc.constant('{"setup_token":"{setup0}"}'),
  'PATCH /api/settings': one(['{}', '{"hypervisor_url":"https://127.0.0.1:1"}', '{"ssh_password":"{password0}"}']),
  'POST /api/settings/forge/test': one([
    '{}',
    '{"forge_org":"modules","forge_token":"a"}',
    '{"forge_url":"http://127.0.0.1:1","forge_org":"modules"}',
  ]),
  'POST /api/settings/host-key': fc.constant('{"ssh_host":"{host0}"}'),
  'POST /api/settings/ssh-key/rotate': one(['{}', '{"drop_password":true}', '{"confirmed":true}']),
  'PUT /api/settings/public': one(['[]', '[{"label":"a","href":"/"}]']).map((list) =>
    JSON.stringify({ dashboard_shortcuts: list }),
  ),
  'PUT /api/dashboard/layout': one(['{}', '{"widgets":[]}']),
  'PATCH /api/auth/preferences': one(['{"lang":"en"}', '{"theme":"light","sidebar_position":"left"}', '{}']),
  'POST /api/hypervisor/host/reboot': one(['pve', 'pve1']).map((confirm) => JSON.stringify({ confirm })),
  'POST /api/schedules': one(['"rest"', '["host"]', '["lxc:101","tag:web"]']).map(
    (targets) =>
      `{"name":"a","cron":"0 3 * * 0","timezone":"Europe/Paris","action":"check","waves":[{"targets":${targets}}]}`,
  ),
  'POST /api/notifications/channels': fc
    .nat(99)
    .map((n) => `{"name":"n${n}","kind":"ntfy","settings":{"url":"http://127.0.0.1:1","topic":"ops"}}`),
  'PATCH /api/notifications/channels/:id': one(['{"minimum":"warning"}', '{"enabled":false}', '{}']),
  'PUT /api/schedules': one(['{"paused":false}', '{"paused":true}']),
  'PATCH /api/schedules/:id': one(['{"enabled":false}', '{"name":"b","cron":"30 2 * * *"}', '{}']),
  'POST /api/updates/checks': one(['host', 'lxc:101', 'all']).map((target) => `{"target":"${target}"}`),
  'POST /api/updates/remedies': one(['host', 'lxc:101']).map(
    (target) => `{"target":"${target}","action":"repair_dpkg"}`,
  ),
  'POST /api/updates/applications/source': one(['lxc:101', 'host']).map(
    (target) => `{"target":"${target}","id":"community_script:app"}`,
  ),
  'PUT /api/updates/applications/agreement': one([DIGEST, 'b'.repeat(64)]).map(
    (digest) => `{"target":"lxc:101","id":"community_script:app","digest":"${digest}"}`,
  ),
  'DELETE /api/updates/applications/agreement': one([DIGEST, 'b'.repeat(64)]).map(
    (digest) => `{"target":"lxc:101","id":"community_script:app","digest":"${digest}"}`,
  ),
  'POST /api/updates/applications/run': one([DIGEST, 'b'.repeat(64)]).map(
    (digest) => `{"target":"lxc:101","id":"community_script:app","digest":"${digest}"}`,
  ),
  'POST /api/updates/restarts': one(['host', 'lxc:101']).map((target) => `{"target":"${target}","services":["ssh"]}`),
  'PUT /api/updates/holds': one(['true', 'false']).map(
    (held) => `{"target":"lxc:101","packages":["curl"],"held":${held}}`,
  ),
  'PUT /api/updates/plans/:id/conffiles': one(['keep', 'take']).map(
    (choice) => `{"choices":[{"file":"/etc/rig.conf","choice":"${choice}"}]}`,
  ),
  'PUT /api/updates/protection/:target': one(['auto', 'snapshot', 'backup', 'none']).map(
    (before) =>
      `{"before":"${before}","backup_storage":null,"keep":3,"on_failure":"ask","settle_seconds":5,"probes":[{"kind":"tcp","port":443}]}`,
  ),
  'POST /api/updates/plans': one(['{"target":"host"}', '{"target":"lxc:101","only":"security","exclude":["curl"]}']),
  'POST /api/updates/runs': known('plan').map((id) => `{"plans":["${id}"]}`),
  'POST /api/updates/run': fc.oneof(
    one(['host', 'lxc:101', 'lxc:999', 'nonsense', 'all']).map((target) => `{"target":"${target}"}`),
    known('plan').map((id) => `{"target":"lxc:101","plan":"${id}"}`),
  ),
}

const bodyOf = (fn: Target): fc.Arbitrary<string | Uint8Array> => {
  const keys = keysOf(fn.request?.body)
  const whole = VALID_BODIES[fn.name] ?? objectWith(keys)
  const cut = fc.tuple(objectWith(keys), fc.nat(60)).map(([each, at]) => each.slice(0, at))
  return fc.oneof(
    often(whole, 4),
    often(objectWith(keys), 6),
    often(jsonText, 3),
    often(deep, 1),
    often(cut, 2),
    often(fc.constant(''), 1),
    often(fc.uint8Array({ maxLength: 60 }), 1),
    // Invalid UTF-8 or a byte order mark inside an otherwise valid text, and another encoding.
    often(one([[0xff, 0xfe], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xef, 0xbb, 0xbf], [0]]).map(withBytes(keys)), 1),
    often(
      objectWith(keys).map((each) => new Uint8Array(Buffer.from(each, 'utf16le'))),
      1,
    ),
  )
}

const withBytes = (keys: readonly string[]) => (bytes: number[]) =>
  new Uint8Array(Buffer.concat([Buffer.from(`{"${keys[0] ?? 'a'}":"`), Buffer.from(bytes), Buffer.from('"}')]))

// --- The address

const encoded = text.map((each) => encodeURIComponent(Buffer.from(each).toString()))
/** Characters for a request line; with a higher `max` also those that Node's client does not allow there. */
const line = (maxLength: number, max = 0x7e) =>
  fc.string({ unit: fc.integer({ min: 0x21, max }).map((code) => String.fromCharCode(code)), maxLength })
const ODD_PARTS = [
  ...[
    '%00',
    'a%00b',
    '%',
    '%zz',
    '%c3%28',
    '%ff',
    '%ed%a0%80',
    '%2f',
    'a%2fb',
    '%5c',
    '%2e%2e',
    '..',
    '.',
    '%2e%2e%2f',
  ],
  ...[
    '9007199254740993',
    '99999999999999999999',
    '1e3',
    '-1',
    '1.5',
    '0x10',
    '01',
    '+1',
    '1%0a',
    '%d9%a3',
    '1;a=b',
    '',
  ],
  ...['__proto__', 'constructor', 'null', 'undefined', ':id', '*', '{}', '[object%20Object]', '%F0%9F%98%80'],
]
const part = fc.oneof(
  often(fc.integer({ min: 1, max: 300 }).map(String), 12),
  often(known('job'), 2),
  often(known('module'), 2),
  often(known('plan'), 2),
  often(known('run'), 2),
  often(one(ODD_PARTS), 5),
  often(encoded, 4),
  often(line(20), 1),
  often(
    fc
      .tuple(one(['x', '%00', '1', '%20', '/']), fc.integer({ min: 100, max: 2_000 }))
      .map(([each, n]) => each.repeat(n)),
    1,
  ),
)

/** Values of path parameters that find something, where a random number or a job id would not. */
const VALID_PARAMETERS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  ':target': one(['host', 'lxc:101', 'lxc%3A101', 'lxc:999', 'all']),
  ':vmid': one(['101', '102', '103', '999']),
  ':action': one(['start', 'stop', 'shutdown', 'reboot']),
  ':file': fc.oneof(one(['docs.js', 'swagger-ui.css']), known('panel')),
  ':task': fc.oneof(known('task'), fc.constant('UPID:pve:0003E2F1:01C3A5B7:6745A000:vzstart:101:panel@pve!ops:')),
}

const parameter = (name: string, path: string): fc.Arbitrary<string> => {
  if (path === '/api/updates/protection/:target') return fc.oneof(one(['default', 'lxc:101', 'lxc%3A102']), part)
  if (path.startsWith('/api/updates/jobs/')) return fc.oneof(often(known('job'), 2), often(part, 1))
  if (path === '/api/auth/factors/:id') return fc.oneof(often(known('factor'), 2), often(part, 1))
  if (path.startsWith('/api/auth/users/:id'))
    return fc.oneof(often(known(name === ':id' ? 'account' : 'accountsession'), 2), often(part, 1))
  if (path.startsWith('/api/module-pages/')) {
    const right = { ':id': known('pagemodule'), ':ticket': known('pageticket'), ':file': one(['index.html']) }[name]
    return fc.oneof(often(right ?? part, 3), often(part, 1))
  }
  if (path === '/api/auth/tokens/:id') return fc.oneof(often(known('apitoken'), 2), often(part, 1))
  if (path.startsWith('/api/notifications/')) return fc.oneof(often(known('channel'), 2), often(part, 1))
  if (path.startsWith('/api/schedules/runs/')) return fc.oneof(often(known('schedulerun'), 2), often(part, 1))
  if (path.startsWith('/api/schedules/')) return fc.oneof(often(known('schedule'), 2), often(part, 1))
  const right = path.startsWith('/api/updates/plans/:id/') ? known('plan') : VALID_PARAMETERS[name]
  return right ? fc.oneof(often(right, 1), often(part, 1)) : part
}

/** Queries with which an endpoint succeeds, where random ones rarely pass its schema. */
const VALID_QUERIES: Readonly<Record<string, readonly string[]>> = {
  'GET /api/audit': ['?limit=5', '?user=user-1&action=logout', '?before=2', '?target=host&from=2026-01-01T00:00:00Z'],
  'GET /api/audit/export': ['?format=csv&user=user-1', '?format=jsonl&action=logout&until=2026-01-01T00:00:00Z'],
  'GET /api/auth/tokens': ['?all=true', '?all=false'],
  'GET /api/auth/users': ['?limit=1', '?limit=2&after=user-1'],
  'GET /api/registry/modules': ['?refresh=1'],
  'GET /api/registry/modules/:id/changes': [`?from=${'1'.repeat(40)}&to=${'2'.repeat(40)}`, '?from=main&to='],
  'GET /api/schedules': ['?limit=5', '?limit=3&after=4+a+Nuit', '?q=nu&limit=2'],
  'GET /api/schedules/:id/runs': ['?limit=5'],
  'GET /api/schedules/preview': ['?cron=0+3+*+*+0&timezone=Europe/Paris', '?cron=*/5+*+*+*+*&timezone=UTC'],
  'GET /api/updates/changelog': ['?target=lxc:101&package=curl&from=1&to=2', '?target=host&package=tzdata&from=&to=2'],
  'GET /api/updates/history': ['?output=none', '?kind=check', '?kind=remedy', '?kind=restart', '?kind=reboot'],
  'GET /api/updates/jobs': ['?since=x'],
  'GET /api/updates/jobs/:id': ['?output=none'],
  'GET /api/updates/jobs/:id/output': ['?offset=0', '?offset=7', '?offset=1000000'],
  'GET /api/updates/packages': ['?target=host', '?target=lxc:101', '?target=lxc%3A102', '?target=lxc:999'],
  'GET /api/updates/search': ['?q=curl', '?q=CVE-2026'],
}

const query = (fn: Target) => {
  const keys = keysOf(fn.request?.query)
  const name = fc.oneof(often(one(keys.length > 0 ? keys : ['x']), 6), often(encoded, 1), often(line(6), 1))
  const value = fc.oneof(often(encoded, 12), often(one(ODD_PARTS), 6), often(line(20), 2), often(line(20, 0xff), 1))
  const pair = fc.oneof(
    often(
      fc.tuple(name, value).map(([left, right]) => `${left}=${right}`),
      6,
    ),
    often(name, 1),
  )
  return fc.oneof(
    often(fc.constant(''), 2),
    often(one(VALID_QUERIES[fn.name] ?? ['']), 1),
    often(
      fc.array(pair, { minLength: 1, maxLength: 5 }).map((pairs) => `?${pairs.join('&')}`),
      6,
    ),
  )
}

/** The path of the function, sometimes distorted. */
const targetOf = (fn: Target): fc.Arbitrary<string> => {
  const pieces = fn.path.split('/').map((each) => (each.startsWith(':') ? parameter(each, fn.path) : fc.constant(each)))
  const straight = fc.tuple(...pieces).map((all) => all.join('/'))
  const bend = one<(path: string) => string>([
    (path) => `/${path}`,
    (path) => `${path}/`,
    (path) => `${path}/..`,
    (path) => `/./${path}`,
    (path) => `/x/..${path}`,
    (path) => path.slice(1),
    (path) => `http://elsewhere.example${path}`,
    (path) => path.toUpperCase(),
    (path) => path.replaceAll('/', '%2f'),
    (path) => path.replaceAll('/', '\\'),
    (path) => `${path}#fragment`,
    () => '*',
  ])
  const path = fc.oneof(
    often(straight, 14),
    often(
      fc.tuple(straight, bend).map(([each, change]) => change(each)),
      1,
    ),
  )
  return fc.tuple(path, query(fn)).map(([each, more]) => (each + more).replace(/[^!-\xff]/g, ''))
}

// --- Headers

const headerText = fc.string({
  unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => (code === 0x7f ? 'x' : String.fromCharCode(code))),
  maxLength: 40,
})
const longText = fc
  .tuple(one(['x', 'é', 'ab ', ',', ';', '=', '"']), fc.integer({ min: 100, max: 8_192 }))
  .map(([each, n]) => each.repeat(n).slice(0, 8_192))
const headerName = fc
  .string({ unit: one([..."abcdefghijklmnopqrstuvwxyz0123456789-_.!#$%&'*+^`|~"]), minLength: 1, maxLength: 20 })
  .filter((name) => !FRAMING.has(name))
/** These headers decide how a request is parsed, so they are generated separately. */
const FRAMING = new Set(['content-length', 'transfer-encoding', 'connection', 'upgrade', 'host', 'expect'])

const base64url = (each: string) => Buffer.from(each).toString('base64url')
/** Key ids in JSON: texts, and values that can or cannot be converted to a text. */
const KIDS = [
  ...[`"${'k'.repeat(43)}"`, `["${'k'.repeat(43)}"]`, '{"toString":1}', '["__proto__"]', 'null', '1e400'],
  `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
]
const kid = fc.oneof(quoted, jsonText, one(KIDS))
/** A forged token with any contents. */
const forged = fc
  .tuple(
    one(['RS256', 'none', 'HS256', 'rs256', 'ES256']),
    kid,
    fc.oneof(jsonText, objectWith(['sub', 'exp', 'iat'])),
    line(10),
  )
  .map(([alg, name, claims, signature]) =>
    [base64url(`{"alg":"${alg}","typ":"JWT","kid":${name}}`), base64url(claims), base64url(signature)].join('.'),
  )
const rubbishToken = fc.oneof(
  often(forged, 5),
  often(one(['a.b.c', '..', '{user0}x', 'x{user0}', '{user0}.{user1}', '{refresh0}', 'null', 'undefined']), 2),
  often(
    fc.tuple(jsonText, jsonText).map((parts) => parts.map(base64url).join('.')),
    1,
  ),
  often(
    fc.string({ maxLength: 30 }).map((each) => each.replace(/[^\w.~+/-]/g, '')),
    1,
  ),
)
/** The header of an anonymous client, of an invalid token, of a user, or of an administrator. */
const authorization = fc.oneof(
  often(fc.constant([]), 1),
  often(
    rubbishToken.map((token) => [['Authorization', `Bearer ${token}`] as const]),
    2,
  ),
  often(
    headerText.map((value) => [['Authorization', value] as const]),
    1,
  ),
  often(
    known('user').map((token) => [['Authorization', `Bearer ${token}`] as const]),
    4,
  ),
  often(
    known('admin').map((token) => [['Authorization', `Bearer ${token}`] as const]),
    4,
  ),
)

const cookieValue = fc.oneof(
  often(known('refresh'), 5),
  often(one(['', '""', '"', '%00', '%', '%zz', '%ff', '{user0}', '{refresh0}x', 'a=b=c', '__proto__', '{', ' ']), 3),
  often(rubbishToken, 2),
  often(headerText, 1),
)
const cookieName = fc.oneof(
  often(fc.constant('svc_refresh'), 8),
  often(one(['__proto__', '', 'SVC_REFRESH', 'a b']), 1),
)
const cookies = fc.oneof(
  often(fc.constant([]), 2),
  often(
    fc
      .array(
        fc.tuple(cookieName, cookieValue).map(([name, value]) => `${name}=${value}`),
        { minLength: 1, maxLength: 4 },
      )
      .chain((pairs) => one(['; ', ';', ',', '  ;  ']).map((joint) => [['Cookie', pairs.join(joint)] as const])),
    4,
  ),
  often(
    cookieValue.map((value) => [['Cookie', `svc_refresh=${value}`] as const, ['Cookie', 'svc_refresh=two'] as const]),
    1,
  ),
)

/** Client addresses, so many that no rate limit applies, except where the last address of the header is invalid. */
const address = fc.oneof(
  often(
    fc.tuple(fc.integer({ min: 1, max: 0xfe }), fc.nat(0xff), fc.nat(0xff), fc.nat(0xff)).map((each) => each.join('.')),
    3,
  ),
  often(
    fc
      .array(fc.nat(0xffff), { minLength: 8, maxLength: 8 })
      .map((groups) => groups.map((n) => n.toString(16)).join(':')),
    1,
  ),
)
const ODD_ADDRESSES = [
  '',
  'unknown',
  '999.1.1.1',
  '::ffff:1.2.3.4',
  '::',
  'fe80::1%eth0',
  '[::1]:80',
  '1.2.3.4:5',
  ',,,',
]
const forwarded = fc.tuple(
  fc.array(fc.oneof(one(ODD_ADDRESSES), address), { maxLength: 3 }),
  fc.oneof(often(address, 12), often(one(ODD_ADDRESSES), 1)),
)

const ORIGINS = [
  'https://panel.example',
  'https://evil.example',
  'null',
  '',
  'http://127.0.0.1',
  'é',
  'https://a, https://b',
]
const HOSTS = [
  ...['', 'a b', 'exa mple', ':80', '[::1', '[::1]:80', 'a@b', 'user:pass@host', 'é.example', '127.0.0.1:99999', '%00'],
  ...['a/b', 'a?b', 'a#b', 'a\\b', '..', 'xn--a', 'x'.repeat(300), '127.1', '0x7f.1', 'a:b:c', 'HOST', 'host:0'],
]
const header = fc.oneof(
  often(fc.tuple(fc.constant('Origin'), fc.oneof(one(ORIGINS), headerText)), 3),
  often(
    fc.tuple(
      one(['X-Forwarded-Proto', 'X-Forwarded-Host', 'Forwarded']),
      fc.oneof(one(['https', ...HOSTS]), headerText),
    ),
    2,
  ),
  often(fc.tuple(fc.constant('User-Agent'), fc.oneof(headerText, longText)), 1),
  often(
    fc.tuple(
      fc.constant('Content-Type'),
      fc.oneof(
        one([
          'text/plain',
          'application/x-www-form-urlencoded',
          'multipart/form-data',
          'application/json; charset=utf-16',
        ]),
        headerText,
      ),
    ),
    2,
  ),
  often(fc.tuple(fc.constant('Content-Encoding'), one(['gzip', 'br', 'identity', 'x', ''])), 1),
  often(
    fc.tuple(
      one(['Range', 'If-Range', 'If-None-Match', 'If-Modified-Since']),
      fc.oneof(one(['bytes=0-', '*', 'bytes=9-1']), headerText),
    ),
    1,
  ),
  often(fc.tuple(one(['Accept', 'Accept-Encoding', 'Accept-Language', 'TE', 'Via', 'Date']), headerText), 1),
  often(
    fc.tuple(
      one(['X-HTTP-Method-Override', 'X-Request-Id', 'Access-Control-Request-Method']),
      fc.oneof(one(METHODS), headerText),
    ),
    1,
  ),
  often(fc.tuple(headerName, headerText), 2),
  often(fc.tuple(headerName, longText), 1),
)
const CONNECTION = [
  [],
  [['Expect', '100-continue']],
  [['Expect', 'a miracle']],
  [['Connection', 'close']],
  [['Connection', 'keep-alive, x']],
  [
    ['Connection', 'Upgrade'],
    ['Upgrade', 'h2c'],
  ],
  [
    ['Connection', 'Upgrade'],
    ['Upgrade', 'websocket'],
  ],
] as const

const host = fc.oneof(
  often(fc.constant([['Host', 'panel.example']] as const), 14),
  often(
    fc.oneof(one(HOSTS), headerText).map((value) => [['Host', value]] as const),
    1,
  ),
  often(
    fc.constant([
      ['Host', 'a'],
      ['Host', 'b'],
    ] as const),
    1,
  ),
)

const headersOf = fc
  .tuple(
    host,
    authorization,
    cookies,
    fc.oneof(
      often(
        forwarded.map(([chain, last]) => [...chain, last].join(', ')),
        30,
      ),
      often(headerText, 1),
    ),
    fc.oneof(
      often(fc.array(header, { maxLength: 5 }), 12),
      often(fc.array(header, { minLength: 30, maxLength: 60 }), 1),
    ),
    fc.oneof(often(fc.constant(CONNECTION[0]), 12), often(one(CONNECTION), 1)),
  )
  .map(([first, who, jar, from, more, connection]) => [
    ...first,
    ...who,
    ...jar,
    ['X-Forwarded-For', from] as const,
    ...more,
    ...connection,
  ])

// --- Whole requests

/** The target of requests: a function, or the address of a socket. */
export interface Target extends Pick<AnyFunction, 'path' | 'request'> {
  /** The name in the title of its test. */
  name: string
  method: string
  isSocket: boolean
  declared: AnyFunction['errors'] & object
}

export function functionTarget(fn: AnyFunction): Target {
  const { method, path, request, rateLimit, errors = [] } = fn
  const limit = rateLimit === false ? undefined : rateLimit
  const refusals = [...(request?.refusal ? [request.refusal] : []), ...(limit?.refusal ? [limit.refusal] : [])]
  const declared = [...errors, ...refusals]
  return { name: `${method} ${path}`, method, path, isSocket: false, declared, ...(request && { request }) }
}

export function socketTarget({ path, request }: AnySocket): Target {
  return { name: `GET ${path}`, method: 'GET', path, isSocket: true, declared: [], ...(request && { request }) }
}

const ODD_LENGTHS = [
  '0',
  '1',
  '5',
  '1000',
  '-1',
  '+5',
  '1e3',
  '0x10',
  'abc',
  '',
  ' ',
  '00005',
  '5,5',
  '9007199254740993',
]

/** Any request for the target that can be sent by HTTP. */
export function anyRequest(target: Target): fc.Arbitrary<WireRequest> {
  const hasBody = target.request?.body !== undefined
  const framing = fc.oneof(
    often(fc.constant<WireRequest['framing']>('length'), 16),
    often(fc.constant<WireRequest['framing']>('chunked'), 4),
    often(
      one([...ODD_LENGTHS, '99999999999999999999']).map((declared) => ({ declared })),
      1,
    ),
    often(
      one(['gzip', 'gzip, chunked', 'identity', 'chunked, chunked', 'x', '']).map((coding) => ({ coding })),
      1,
    ),
  )
  const withBody = fc.record({ body: bodyOf(target), framing })
  const without = fc.constant<Pick<WireRequest, 'body' | 'framing'>>({ body: '', framing: 'none' })
  return fc
    .record({
      // CONNECT asks for a tunnel: a server without tunnels hangs up. The refusal of an unreadable request has a body,
      // also for HEAD, whose client does not expect one.
      method: fc.oneof(
        often(fc.constant(target.method), 20),
        often(one(METHODS.filter((each) => each !== 'CONNECT' && each !== 'HEAD')), 1),
      ),
      target: targetOf(target),
      headers: headersOf,
      end: hasBody ? fc.oneof(often(withBody, 12), often(without, 1)) : fc.oneof(often(without, 3), often(withBody, 1)),
    })
    .map(({ end, ...request }) => ({ ...request, ...end }))
}

const PROTOCOLS = [
  ...['panel.v1', 'panel.v1, bearer.{user0}', 'bearer.{admin0}, panel.v1', 'panel.v1, bearer.', 'bearer.{user0}'],
  ...['panel.v1, panel.v1', 'panel.v1, bearer.a.b.c', ',', '', 'a b', 'panel.v2', 'panel.v1, bearer.{refresh0}', '"'],
]
/** Any request to open a socket, with the bytes that are sent over it afterwards. */
export function anyUpgrade(target: Target): fc.Arbitrary<WireRequest> {
  const mostly = (right: string, ...wrong: string[]) => fc.oneof(often(fc.constant(right), 12), often(one(wrong), 1))
  const handshake = fc
    .tuple(
      mostly('Upgrade', 'upgrade, keep-alive', 'close', ''),
      mostly('websocket', 'WebSocket', 'websocket, h2c', 'h2c', ''),
      mostly('13', '8', '12', '', '13, 8', 'x'),
      mostly('dGhlIHNhbXBsZSBub25jZQ==', '', 'x', 'dGhlIHNhbXBsZSBub25jZQ', 'é'),
      fc.oneof(
        often(one(PROTOCOLS), 6),
        often(headerText, 1),
        often(
          forged.map((token) => `panel.v1, bearer.${token}`),
          2,
        ),
      ),
      fc.oneof(one(['permessage-deflate', 'permessage-deflate; x=1', '', ',', '"']), headerText),
    )
    .map(([connection, upgrade, version, secret, protocol, extensions]) => [
      ['Connection', connection] as const,
      ['Upgrade', upgrade] as const,
      ['Sec-WebSocket-Version', version] as const,
      ['Sec-WebSocket-Key', secret] as const,
      ['Sec-WebSocket-Protocol', protocol] as const,
      ['Sec-WebSocket-Extensions', extensions] as const,
    ])
  return fc
    .record({
      method: fc.oneof(often(fc.constant('GET'), 20), often(one(['POST', 'OPTIONS', 'DELETE']), 1)),
      target: targetOf(target),
      headers: fc
        .tuple(headersOf, handshake, fc.boolean())
        // Half of them have no Authorization header, so that the token of the subprotocol counts.
        .map(([more, own, bare]) => [
          ...more.filter(
            ([name]) => !UPGRADING.has(name) && !(bare && (name === 'Authorization' || name === 'Origin')),
          ),
          ...own,
        ]),
      after: fc.oneof(fc.constant(new Uint8Array()), fc.uint8Array({ maxLength: 20 })),
    })
    .map((request) => ({ ...request, body: '', framing: 'none' as const }))
}
const UPGRADING = new Set<string>(['Connection', 'Upgrade', 'Expect'])

function keysOf(schema: z.ZodType | undefined): string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
}
