import { expect, test } from 'vitest'
import { type Account, isAccountName, parseAccount, parseIdentity, refusesCommands } from '../../ssh/identity.ts'
import { SshError } from '../../ssh/connection.ts'

const MARK = 'ops-panel-0123456789abcdef'
const TODAY = 20_000
const NOW = `${TODAY * 86_400 + 3_600}`

const answer = (...fields: string[]) => [MARK, ...fields, MARK, ''].join('\0')
const account = (fields: Partial<Record<'ages' | 'password' | 'sudo' | 'shell', string>> = {}, ...groups: string[]) => {
  const { shell = '/bin/bash', password = 'usable', ages = '19000:0:99999:7:::', sudo = 'unasked' } = fields
  const told = parseAccount(answer('bob', '1000', shell, password, ages, NOW, sudo, ...groups), MARK)
  if (told === 'gone') throw new Error('gone')
  return told
}

test.each([[['bob', 'admin staff']], [['bob', 'not\nsudo', ' sudo', 'sudo ']], [['', 'gone']]])(
  'a group name of several words or lines, or otherwise odd, is one group: %j',
  (groups) => {
    expect(parseIdentity(answer('bob', '1000', ...groups), MARK)).toEqual({ name: 'bob', uid: 1000, groups })
    expect(account({}, ...groups).groups).toEqual(groups)
  },
)

test('output of start-up files before the answer is skipped, including old marks and NULs', () => {
  const noise = `${['Bienvenue', 'ops-panel-other', 'root', '0', 'sudo', 'ops-panel-other'].join('\0')}\0\n`

  expect(parseIdentity(noise + answer('bob', '1000', 'bob'), MARK)).toEqual({ name: 'bob', uid: 1000, groups: ['bob'] })
})

test.each([
  ['nothing', ''],
  ['no mark', 'bob\x001000\0bob\0'],
  ['one mark', `${MARK}\0bob\x001000\0bob\0`],
  ['the mark twice in a row', `${MARK}\0${MARK}\0`],
  ['something after the end', `${answer('bob', '1000')}x`],
  ['no uid', answer('bob')],
  ['an invalid uid', answer('bob', '0x0', 'sudo')],
  ['a uid below 0', answer('bob', '-0', 'sudo')],
  ['a uid that is empty', answer('bob', '', 'sudo')],
  ['no name', answer('', '0', 'root')],
])('an incomplete answer is empty: %s', (_, stdout) => {
  expect(parseIdentity(stdout, MARK)).toBeNull()
  expect(() => parseAccount(stdout, MARK)).toThrow(SshError)
})

test('a deleted account differs from one that is called “gone”', () => {
  expect(parseAccount(answer('gone'), MARK)).toBe('gone')
  expect(() => parseAccount('gone', MARK)).toThrow(SshError)
  expect(parseAccount(answer('gone', '1000', '', 'unseen', '', NOW, 'unasked'), MARK)).toMatchObject({ name: 'gone' })
})

test.each<[string, string, Account['overdue']]>([
  ['no dates', '', undefined],
  ['no entry to be seen', '::::::', undefined],
  ['the defaults', '19000:0:99999:7:::', undefined],
  ['-1 for none', '19000:0:99999:7:-1:-1:', undefined],
  ['an end tomorrow', `19000:0:99999:7::${TODAY + 1}:`, undefined],
  ['an end today', `19000:0:99999:7::${TODAY}:`, 'expired'],
  ['an end on the first day', '19000:0:99999:7::0:', 'expired'],
  ['a password to be changed', '0:0:99999:7:::', 'password'],
  ['a password on its last day', `${TODAY - 90}:0:90:7:::`, undefined],
  ['a password that is too old', `${TODAY - 91}:0:90:7:::`, 'password'],
  ['a password that is too old and may still be changed', `${TODAY - 100}:0:90:7:10::`, 'password'],
  ['a password that may no longer be changed', `${TODAY - 101}:0:90:7:10::`, 'expired'],
])('the dates of a shadow entry have the same meaning as for PAM: %s', (_, ages, overdue) => {
  expect(account({ ages }).overdue).toBe(overdue)
})

test('an unreadable field is unknown', () => {
  expect(account({ password: 'unseen', ages: '' })).toMatchObject({ localPassword: undefined, sudo: undefined })
  expect(account({ password: 'unusable', sudo: 'no' })).toMatchObject({ localPassword: false, sudo: false })
  expect(account({ sudo: 'yes' })).toMatchObject({ localPassword: true, sudo: true })
})

test.each([
  ['/usr/sbin/nologin', true],
  ['/sbin/nologin', true],
  ['/bin/false', true],
  ['', false],
  ['/bin/bash', false],
  ['/opt/not-false', false],
])('the shell %j refuses commands: %s', (shell, refuses) => {
  expect(refusesCommands(account({ shell }))).toBe(refuses)
})

test.each([
  ['bob', true],
  ['b'.repeat(256), true],
  ['b'.repeat(257), false],
  ['', false],
  ['DOM\\bob', true],
  ['bob:x', false],
  ['bob/x', false],
  ['bob x', false],
  ['bob\n', false],
  ['1000', false],
  ['01000', false],
  ['+1000', false],
  ['1000x', true],
])('%j may be the name of an account: %s', (name, may) => {
  expect(isAccountName(name)).toBe(may)
})
