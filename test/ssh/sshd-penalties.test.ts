import { expect, test } from 'vitest'
import type { Output } from '../../ssh/channel.ts'
import type { Command } from '../../ssh/command.ts'
import { isExempt, parseSshdPenalties, versionWithPenalties, readSshdPenalties } from '../../ssh/sshd-penalties.ts'
import { SshError } from '../../ssh/connection.ts'

/** The format of Debian 13. */
const DEBIAN_13 = `persourcepenaltyexemptlist none
persourcepenalties crash:90 authfail:5 noauth:1 grace-exceeded:10 refuseconnection:10 max:600 min:15 max-sources4:65536 max-sources6:65536 overflow:permissive overflow6:permissive
`

test.each([
  ['SSH-2.0-OpenSSH_10.0p2 Debian-7+deb13u4', '10.0p2'],
  ['SSH-2.0-OpenSSH_9.8', '9.8'],
  ['SSH-2.0-OpenSSH_9.8p1 Ubuntu-3', '9.8p1'],
  ['SSH-2.0-OpenSSH_9.7p1', undefined],
  ['SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u7', undefined],
  ['SSH-2.0-OpenSSH_8.9p1', undefined],
  ['SSH-2.0-dropbear_2025.88', undefined],
  ['SSH-2.0-OpenSSH_', undefined],
  ['', undefined],
])('%j has penalties as of version %s', (identification, version) => {
  expect(versionWithPenalties(identification)).toBe(version)
})

test.each([
  ['the defaults', DEBIAN_13, { state: 'in_force', authfail: 5, noauth: 1, min: 15, exempt: '' }],
  ['penalties that are off', 'persourcepenalties no\n', { state: 'off' }],
  ['wrong passwords that cost nothing', DEBIAN_13.replace('authfail:5', 'authfail:0'), { state: 'off' }],
  ['its own address', DEBIAN_13.replace('none', '10.0.0.0/8,192.0.2.7'), { state: 'exempt' }],
  [
    'another address',
    DEBIAN_13.replace('none', '10.0.0.0/8'),
    { state: 'in_force', authfail: 5, noauth: 1, min: 15, exempt: '10.0.0.0/8' },
  ],
  ['nothing', '', { state: 'unknown' }],
  ['an unforeseen value', 'persourcepenalties a lot\n', { state: 'unknown' }],
])('%s are parsed', (_, settings, penalties) => {
  expect(parseSshdPenalties(settings, '192.0.2.7')).toEqual(penalties)
})

test.each([
  ['192.0.2.7', true],
  ['192.0.2.0/24', true],
  ['192.0.2.*', true],
  ['192.0.2.?', true],
  ['10.0.0.1, 192.0.2.7', true],
  ['192.0.2.0/24,!192.0.2.7', false],
  ['!192.0.2.8,192.0.2.0/24', true],
  ['192.0.2.8', false],
  ['192x0.2.7', false],
  ['none', false],
  ['2001:db8::/32', false],
  ['(', false],
  ['', false],
])('%j exempts 192.0.2.7: %s', (list, exempt) => {
  expect(isExempt(list, '192.0.2.7')).toBe(exempt)
})

test('an IPv6 address matches a network, and an invalid address matches none', () => {
  expect(isExempt('2001:db8::/32', '2001:db8:1::7')).toBe(true)
  expect(isExempt('*', '')).toBe(false)
})

const answers =
  (reply: (command: Command) => string) =>
  async (command: Command): Promise<Output> => ({
    code: 0,
    stdout: reply(command),
    stderr: '',
  })

test('the host reports the address that it sees, and the settings are compared with it', async () => {
  const seen = '198.51.100.4 51234 192.0.2.1 22\n'
  const settings = DEBIAN_13.replace('none', '198.51.100.4')

  const read = await readSshdPenalties(
    '10.0',
    answers(([program]) => (program === 'printenv' ? seen : settings)),
  )

  expect(read).toEqual({ version: '10.0', address: '198.51.100.4', state: 'exempt' })
})

test('the penalties of a host that refuses to answer are unknown', async () => {
  const refuse = async () => {
    throw new SshError('lost', 'gone')
  }

  expect(await readSshdPenalties('10.0', refuse)).toEqual({ version: '10.0', address: '', state: 'unknown' })
})
