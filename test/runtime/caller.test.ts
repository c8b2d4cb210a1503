import { expect, test } from 'vitest'
import { proxiesSeen } from '../../platform/addresses.ts'
import { limitKey, readCaller, requestLimitKey } from '../../runtime/caller.ts'
import { readConfig } from '../../platform/config.ts'

const config = readConfig({ PANEL_TRUSTED_PROXIES: '10.0.0.0/8,fd00::/8' })

function caller(peer: string, headers: Record<string, string> = {}, encrypted = false) {
  return readCaller(config, { address: peer, encrypted }, (name) => headers[name])
}

const from = (peer: string, forwarded: string) => caller(peer, { 'x-forwarded-for': forwarded }).address

test('without a proxy, the address is the peer’s', () => {
  expect(caller('192.0.2.1').address).toBe('192.0.2.1')
  expect(caller('2001:db8::1').address).toBe('2001:db8::1')
})

test('X-Forwarded-For of an untrusted peer is ignored', () => {
  expect(from('192.0.2.1', '198.51.100.9')).toBe('192.0.2.1')
})

test('X-Forwarded-For of a trusted proxy counts', () => {
  expect(from('10.0.0.1', '198.51.100.9')).toBe('198.51.100.9')
  expect(from('fd00::1', '2001:db8::9')).toBe('2001:db8::9')
})

test('the trusted proxies that have passed a request on are remembered, the latest sixteen of them', () => {
  const own = readConfig({ PANEL_TRUSTED_PROXIES: '10.0.0.0/8' })
  const ask = (address: string, headers: Record<string, string>) =>
    readCaller(own, { address, encrypted: false }, (name) => headers[name])
  const passedOn = { 'x-forwarded-for': '198.51.100.9' }
  ask('10.0.0.1', {})
  ask('192.0.2.1', passedOn)
  expect(proxiesSeen(own)).toEqual([])

  for (let n = 1; n <= 20; n += 1) ask(`::ffff:10.0.0.${n}`, passedOn)
  ask('10.0.0.6', passedOn)

  expect(proxiesSeen(own)).toHaveLength(16)
  expect([proxiesSeen(own)[0], proxiesSeen(own).at(-1)]).toEqual(['10.0.0.5', '10.0.0.6'])
})

test('in a chain, the last address that is no proxy counts, not what the client put before it', () => {
  expect(from('10.0.0.1', '1.2.3.4, 198.51.100.9')).toBe('198.51.100.9')
  expect(from('10.0.0.1', '1.2.3.4, 198.51.100.9, 10.0.0.2')).toBe('198.51.100.9')
  expect(from('10.0.0.1', '10.9.9.9,10.0.0.2')).toBe('10.9.9.9')
})

test.each(['unknown', '', 'a, b', '198.51.100.9:port', '[198.51.100.9', '<script>', '198.51.100.9, unknown'])(
  '%j in the header is not an address: the proxy’s own counts',
  (forwarded) => {
    expect(from('10.0.0.1', forwarded)).toBe('10.0.0.1')
  },
)

test('an IPv4 address embedded in IPv6 counts as IPv4, as peer, as proxy and in the chain', () => {
  expect(caller('::ffff:192.0.2.1').address).toBe('192.0.2.1')
  expect(from('::ffff:10.0.0.1', '198.51.100.9')).toBe('198.51.100.9')
  expect(from('10.0.0.1', '::ffff:198.51.100.9')).toBe('198.51.100.9')
  expect(from('::ffff:192.0.2.1', '198.51.100.9')).toBe('192.0.2.1')
})

test('the connection is secure when it is encrypted or X-Forwarded-Proto says https, from any peer', () => {
  expect(caller('192.0.2.1').secure).toBe(false)
  expect(caller('192.0.2.1', {}, true).secure).toBe(true)
  expect(caller('192.0.2.1', { 'x-forwarded-proto': 'https' }).secure).toBe(true)
  expect(caller('10.0.0.1', { 'x-forwarded-proto': 'http' }).secure).toBe(false)
})

test.each([
  ['198.51.100.9:1234', '198.51.100.9'],
  ['[2001:db8::1]:443', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['2001:db8::1', '2001:db8::1'],
])('a port that a proxy adds to the client’s address is removed: %s', (forwarded, address) => {
  expect(from('10.0.0.1', forwarded)).toBe(address)
})

test('behind several proxies, the first one reports the client’s view', () => {
  const headers = {
    'x-forwarded-proto': 'https,http',
    'x-forwarded-host': 'panel.example, inner:8080',
    host: 'inner:8080',
  }

  const { secure, foreign } = caller('10.0.0.1', { ...headers, origin: 'https://panel.example' })

  expect({ secure, foreign }).toEqual({ secure: true, foreign: undefined })
})

test('the user agent may be empty', () => {
  expect(caller('192.0.2.1', { 'user-agent': 'curl/8' }).userAgent).toBe('curl/8')
  expect(caller('192.0.2.1').userAgent).toBe('')
})

const friendly = readConfig({ PANEL_TRUSTED_PROXIES: '10.0.0.0/8', PANEL_ORIGINS: 'https://panel.example' })

/** Returns the foreign origin of a request to `panel.test`, if it is foreign. */
function foreign(origin: string | undefined, headers: Record<string, string> = {}, peer = '192.0.2.1', tls = false) {
  const all: Record<string, string> = { host: 'panel.test', ...(origin !== undefined && { origin }), ...headers }
  return readCaller(friendly, { address: peer, encrypted: tls }, (name) => all[name]).foreign
}

test('a caller without an Origin is not foreign', () => {
  expect(foreign(undefined)).toBeUndefined()
})

test('the service’s own origin is that of the Host header', () => {
  expect(foreign('http://panel.test')).toBeUndefined()
  expect(foreign('http://panel.test:8080', { host: 'panel.test:8080' })).toBeUndefined()
  for (const other of ['http://panel.test:81', 'https://panel.test', 'http://evil.test', 'http://panel.test.evil.test'])
    expect(foreign(other)).toBe(other)
})

test('over TLS the own origin is https, for the own connection or a proxy’s', () => {
  expect(foreign('https://panel.test', {}, '192.0.2.1', true)).toBeUndefined()
  expect(foreign('https://panel.test', { 'x-forwarded-proto': 'https' })).toBeUndefined()
  expect(foreign('http://panel.test', { 'x-forwarded-proto': 'https' })).toBe('http://panel.test')
  expect(foreign('http://panel.test', {}, '192.0.2.1', true)).toBe('http://panel.test')
})

test('X-Forwarded-Host counts only from a trusted proxy', () => {
  const headers = { host: 'backend:8080', 'x-forwarded-host': 'panel.test' }

  expect(foreign('http://panel.test', headers, '10.0.0.1')).toBeUndefined()
  expect(foreign('http://backend:8080', headers, '10.0.0.1')).toBe('http://backend:8080')
  expect(foreign('http://panel.test', headers, '192.0.2.1')).toBe('http://panel.test')
  expect(foreign('http://backend:8080', headers, '192.0.2.1')).toBeUndefined()
})

test('X-Forwarded-Host counts from the proxy itself, whatever the client put into X-Forwarded-For', () => {
  const headers = { host: 'backend', 'x-forwarded-host': 'evil.test', 'x-forwarded-for': '10.0.0.1' }

  expect(foreign('http://evil.test', headers, '192.0.2.1')).toBe('http://evil.test')
  expect(foreign('http://evil.test', { ...headers, 'x-forwarded-for': '198.51.100.9' }, '10.0.0.1')).toBeUndefined()
})

test('the origins of PANEL_ORIGINS are not foreign, in their exact form', () => {
  expect(foreign('https://panel.example')).toBeUndefined()
  for (const other of ['http://panel.example', 'https://panel.example:444', 'https://a.panel.example'])
    expect(foreign(other)).toBe(other)
})

test.each(['null', '', 'panel.test', 'http://', 'file://'])('%j is foreign', (origin) => {
  expect(foreign(origin)).toBe(origin)
})

test('without a Host no origin is the service’s own', () => {
  const headers: Record<string, string> = { origin: 'http://panel.test' }

  const { foreign: found } = readCaller(friendly, { address: '192.0.2.1', encrypted: false }, (name) => headers[name])

  expect(found).toBe('http://panel.test')
})

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:192.0.2.1', '192.0.2.1'],
  ['::ffff:c000:201', '192.0.2.1'],
  ['0:0:0:0:0:ffff:c000:0201', '192.0.2.1'],
  ['0000:0000:0000:0000:0000:ffff:192.0.2.1', '192.0.2.1'],
  ['64:ff9b::192.0.2.1', '192.0.2.1'],
  ['64:ff9b::c000:201', '192.0.2.1'],
  ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
  ['2001:0DB8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
  ['2001:db8:1:2:3:4:192.0.2.1', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['fe80::2', 'fe80:0:0:0::/64'],
  ['::ffff:0:192.0.2.1', '0:0:0:0::/64'],
  ['', ''],
  ['not an address', 'not an address'],
])('a limit counts %j as %j', (address, key) => {
  expect(limitKey(address)).toBe(key)
})

test.each(['::ffff:c000:201', '0:0:0:0:0:FFFF:192.0.2.1'])(
  '%s, as a proxy writes it, is the IPv4 address',
  (written) => {
    expect(from('10.0.0.1', written)).toBe('192.0.2.1')
  },
)

const HERE = 'http://panel.test'
const APART = '192.0.2.1 by other pages'

test.each([
  ['a program', 'GET', {}, '192.0.2.1'],
  ['the service’s own page', 'POST', { origin: HERE, 'sec-fetch-site': 'same-origin' }, '192.0.2.1'],
  ['another one', 'POST', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }, APART],
  ['an image in another one', 'GET', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }, APART],
  [
    'a frame in one of the same site',
    'GET',
    { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
    APART,
  ],
  [
    'a link in another one',
    'GET',
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
    '192.0.2.1',
  ],
  ['an address that was typed', 'GET', { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' }, '192.0.2.1'],
  ['a claim without an Origin', 'POST', { 'sec-fetch-site': 'cross-site' }, '192.0.2.1'],
])('requests that pages of other origins cause count separately: %s', (_, method, headers, counted) => {
  expect(requestLimitKey(caller('192.0.2.1', { host: 'panel.test', ...headers }), method)).toBe(counted)
})
