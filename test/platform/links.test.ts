import { expect, test } from 'vitest'
import {
  hasCredentials,
  isLink,
  type LinkProblem,
  type LinkRules,
  linkProblems,
  SAFE_LINK,
} from '../../platform/links.ts'
import { PADDED_LINKS, SAFE_LINKS, UNSAFE_LINKS } from '../links.ts'

const ANY: LinkRules = { notation: 'any' }
const PREFIX: LinkRules = { notation: 'prefix' }
const PLAIN: LinkRules = { notation: 'plain' }

test.each(SAFE_LINKS)('%s is a safe link', (text) => {
  expect(linkProblems(text, SAFE_LINK)).toEqual([])
})

test.each([...UNSAFE_LINKS, ...PADDED_LINKS])('%j is no safe link', (text) => {
  expect(isLink(text, SAFE_LINK)).toBe(false)
})

test.each(['/', '/updates', '/a/b?c=d'])('the path %s is a link only where paths are accepted', (text) => {
  expect(isLink(text, { notation: 'plain', path: true })).toBe(true)
  for (const rules of [ANY, PREFIX, PLAIN]) expect(isLink(text, rules)).toBe(false)
})

const NOTATIONS: [text: string, accepted: LinkRules['notation'][]][] = [
  ['https://pve1.example:8006', ['any', 'prefix', 'plain']],
  ['http://[2001:db8::1]/a?b#c', ['any', 'prefix', 'plain']],
  ['HTTPS://pve1.example', ['any', 'plain']],
  ['https://@pve1.example', ['any', 'prefix']],
  ['https:///pve1.example', ['any', 'prefix']],
  ['https://pve1.example\\a', ['any', 'prefix']],
  ['https://pve1\t.example', ['any', 'prefix']],
  ['https://pve1.example/a b', ['any', 'prefix']],
  [' https://pve1.example ', ['any']],
  ['https:pve1.example', ['any']],
  ['https:\\\\pve1.example', ['any']],
  ['https://', []],
  ['https://pve1.example:port', []],
  ['pve1.example', []],
  ['//pve1.example', []],
  ['ftp://pve1.example', []],
  ['file:///etc/passwd', []],
  ['javascript:alert(1)', []],
  ['https://user@pve1.example', []],
  ['https://user:secret@pve1.example', []],
  ['https://:secret@pve1.example', []],
]

test.each(NOTATIONS)('%j is a link in the notations %j alone', (text, accepted) => {
  expect((['any', 'prefix', 'plain'] as const).filter((notation) => isLink(text, { notation }))).toEqual(accepted)
})

const PROBLEMS: [text: string, problems: LinkProblem[]][] = [
  ['https://forge.example/git', []],
  ['ftp://forge.example', ['notation']],
  ['https://', ['unreadable']],
  ['forge.example', ['notation', 'unreadable']],
  ['https://bob:secret@forge.example', ['credentials']],
  ['ftp://bob:secret@forge.example', ['notation', 'credentials']],
]

test.each(PROBLEMS)('every problem of %j is returned: %j', (text, problems) => {
  expect(linkProblems(text, PREFIX)).toEqual(problems)
})

test('a query parameter counts as credentials only where the rules name it', () => {
  const text = 'https://forge.example?authToken=secret'

  expect(isLink(text, PREFIX)).toBe(true)
  expect(isLink(text, { ...PREFIX, secrets: ['other'] })).toBe(true)
  expect(linkProblems(text, { ...PREFIX, secrets: ['authToken'] })).toEqual(['credentials'])
})

test.each([
  ['libsql://db.example', false],
  ['libsql://panel@db.example', true],
  ['libsql://:secret@db.example', true],
  ['libsql://db.example?authToken=', true],
  ['not an address', false],
])('credentials are found in addresses of any scheme, in %s: %s', (address, expected) => {
  expect(hasCredentials(address, ['authToken'])).toBe(expected)
})
