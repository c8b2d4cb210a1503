import { expect, test } from 'vitest'
import { parseAddress } from '../../platform/addresses.ts'

test.each([
  ['pve', 'pve', 22],
  ['pve.example.org', 'pve.example.org', 22],
  ['pve:2222', 'pve', 2222],
  ['192.0.2.1', '192.0.2.1', 22],
  ['192.0.2.1:1', '192.0.2.1', 1],
  ['pve:65535', 'pve', 65_535],
  ['[2001:db8::1]:2222', '2001:db8::1', 2222],
  ['[::1]', '::1', 22],
  ['2001:db8::1', '2001:db8::1', 22],
  ['::1', '::1', 22],
  ['::ffff:192.0.2.1', '::ffff:192.0.2.1', 22],
])('%s is a host and a port', (text, host, port) => {
  expect(parseAddress(text)).toEqual({ host, port })
})

test.each([
  '',
  ' ',
  ':22',
  'pve:',
  'pve:0',
  'pve:65536',
  'pve:123456',
  'pve:ssh',
  'pve:22:22',
  'pve 22',
  ' pve',
  'pve\n',
  'ssh://pve',
  'root@pve:x',
  '[::1',
  '::1]',
  '[]',
  '[]:22',
  '[::1]:0',
  '[::1]22',
])('%j is not an address', (text) => {
  expect(parseAddress(text)).toBeUndefined()
})
