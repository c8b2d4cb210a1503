import { expect, test } from 'vitest'
import { isTooLong, parseTarget } from '../../../functions/hypervisor/target.ts'

test('host and all are targets', () => {
  expect(parseTarget('host')).toEqual({ kind: 'host' })
  expect(parseTarget('all')).toEqual({ kind: 'all' })
})

test.each([
  ['lxc:101', '101'],
  ['lxc:abc', 'abc'],
  ['lxc: ', ' '],
  ['lxc:lxc:1', 'lxc:1'],
  ['lxc:-1', '-1'],
  [`lxc:1'; reboot #`, `1'; reboot #`],
  ['lxc:$(reboot)\n', '$(reboot)\n'],
])('%j is a container with an unchecked id', (text, id) => {
  expect(parseTarget(text)).toEqual({ kind: 'container', id })
})

test.each([
  '',
  'lxc:',
  'lxc',
  'LXC:101',
  ' lxc:101',
  'Host',
  'host ',
  'host\n',
  'all,host',
  '101',
  'vm:101',
  'lxc:1\0',
  `lxc:${'1'.repeat(61)}`,
])('%j is not a target', (text) => {
  expect(parseTarget(text)).toBeUndefined()
})

test.each([
  ['a', 64, false],
  ['a', 65, true],
  ['😀', 64, false],
  ['😀', 65, true],
  ['a', 1_000_000, true],
])('%s %i times is too long: %s', (character, times, tooLong) => {
  expect(isTooLong(character.repeat(times))).toBe(tooLong)
})
