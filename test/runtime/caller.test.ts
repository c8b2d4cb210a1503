import { expect, test } from 'vitest'
import { readCaller } from '../../runtime/caller.ts'
import { readConfig } from '../../runtime/config.ts'

const config = readConfig({ PANEL_TRUSTED_PROXIES: '10.0.0.0/8,fd00::/8' })

function caller(peer: string, headers: Record<string, string> = {}, encrypted = false) {
  return readCaller(config, { address: peer, encrypted }, (name) => headers[name])
}

const from = (peer: string, forwarded: string) => caller(peer, { 'x-forwarded-for': forwarded }).address

test('the address is the peer’s', () => {
  expect(caller('192.0.2.1').address).toBe('192.0.2.1')
  expect(caller('2001:db8::1').address).toBe('2001:db8::1')
})

test('a stranger’s X-Forwarded-For is not believed', () => {
  expect(from('192.0.2.1', '198.51.100.9')).toBe('192.0.2.1')
})

test('a trusted proxy’s is', () => {
  expect(from('10.0.0.1', '198.51.100.9')).toBe('198.51.100.9')
  expect(from('fd00::1', '2001:db8::9')).toBe('2001:db8::9')
})

test('of a chain, the last address that is not a proxy’s: what the client put before it is not believed', () => {
  expect(from('10.0.0.1', '1.2.3.4, 198.51.100.9')).toBe('198.51.100.9')
  expect(from('10.0.0.1', '1.2.3.4, 198.51.100.9, 10.0.0.2')).toBe('198.51.100.9')
  expect(from('10.0.0.1', '10.9.9.9,10.0.0.2')).toBe('10.9.9.9')
})

test.each(['unknown', '', 'a, b', '198.51.100.9:1234', '<script>', '198.51.100.9, unknown'])(
  '%j in it is no address: the proxy’s own stands',
  (forwarded) => {
    expect(from('10.0.0.1', forwarded)).toBe('10.0.0.1')
  },
)

test('an IPv4 address in IPv6 clothing is the IPv4 address, as peer, as proxy and in the chain', () => {
  expect(caller('::ffff:192.0.2.1').address).toBe('192.0.2.1')
  expect(from('::ffff:10.0.0.1', '198.51.100.9')).toBe('198.51.100.9')
  expect(from('10.0.0.1', '::ffff:198.51.100.9')).toBe('198.51.100.9')
  expect(from('::ffff:192.0.2.1', '198.51.100.9')).toBe('192.0.2.1')
})

test('the connection is secure when it is encrypted or X-Forwarded-Proto says https, whoever sends it', () => {
  expect(caller('192.0.2.1').secure).toBe(false)
  expect(caller('192.0.2.1', {}, true).secure).toBe(true)
  expect(caller('192.0.2.1', { 'x-forwarded-proto': 'https' }).secure).toBe(true)
  expect(caller('10.0.0.1', { 'x-forwarded-proto': 'http' }).secure).toBe(false)
})

test('has the user agent, or an empty one', () => {
  expect(caller('192.0.2.1', { 'user-agent': 'curl/8' }).userAgent).toBe('curl/8')
  expect(caller('192.0.2.1').userAgent).toBe('')
})
