import { fail } from '../../functions/services.ts'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { addAuditEntry } from '../../db/audit.ts'
import { openDatabase } from '../../db/libsql/client.ts'
import { migrate } from '../../db/migrate.ts'
import { errorBody } from '../../runtime/errors.ts'
import { createLog } from '../../platform/log.ts'
import { temporaryFolder } from '../db/folder.ts'
import { canary, password, search, token } from './canaries.ts'
import { auditRows } from './evidence.ts'

const WORD = `${randomBytes(7).toString('base64url')}é"\\&=%+/ <€'\n${randomBytes(7).toString('base64url')}`
/** The whole secret alone, without its pieces. */
const whole = canary('word', WORD)

const bytes = Buffer.from(WORD)
const everyByte = [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
const everyCharacter = [...WORD].map((each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
const base64 = (before: string, after = '') => Buffer.from(before + WORD + after).toString('base64')

const WRITTEN: readonly [how: string, text: string][] = [
  ['as it is', WORD],
  ['inside of other text', `before${WORD}after`],
  ['in base64', base64('')],
  ['in base64 behind one letter', base64('a', 'b')],
  ['in base64 behind two letters', base64('ab', 'c')],
  ['in base64 behind a name, as Basic sends it', base64('alice:')],
  ['in base64 between others', base64('abcdef', 'ghijkl')],
  ['in base64 without padding', base64('').replace(/=+$/, '')],
  ['in base64url', Buffer.from(WORD).toString('base64url')],
  ['in base64url behind one letter', Buffer.from(`a${WORD}`).toString('base64url')],
  ['in base64url behind two letters, with padding', `${Buffer.from(`ab${WORD}`).toString('base64url')}==`],
  ['in base64, in lines', base64('').replace(/.{20}/g, '$&\r\n')],
  ['in hex', bytes.toString('hex')],
  ['in hex, upper case', bytes.toString('hex').toUpperCase()],
  ['in hex with colons', bytes.toString('hex').replace(/..(?=.)/g, '$&:')],
  ['as a buffer is shown', inspect(bytes)],
  ['as a buffer is serialized', JSON.stringify(bytes)],
  ['URL-encoded', encodeURIComponent(WORD)],
  ['URL-encoded, lower case', encodeURIComponent(WORD).replace(/%../g, (code) => code.toLowerCase())],
  ['URL-encoded, every byte', everyByte],
  ['URL-encoded, every byte, upper case', everyByte.toUpperCase()],
  ['as a form', String(new URLSearchParams({ password: WORD }))],
  ['in JSON', JSON.stringify({ password: WORD })],
  ['in JSON in JSON', JSON.stringify(JSON.stringify({ password: WORD }))],
  ['in JSON in JSON in JSON', JSON.stringify(JSON.stringify(JSON.stringify([WORD])))],
  ['in JSON, every character escaped', everyCharacter],
  ['in JSON, every character escaped, upper case', everyCharacter.replace(/[a-f]/g, (digit) => digit.toUpperCase())],
]

test.each(WRITTEN)('a secret written %s is found in a line of the log', (_, text) => {
  const lines: string[] = []
  const { log } = createLog({ level: 'info', write: (line) => lines.push(line) })
  log.info({ deep: { deeper: { text } } }, 'planted')
  log.info(text)

  const [below = '', message = ''] = lines
  expect(search(below, [whole])).not.toEqual([])
  expect(search(message, [whole])).not.toEqual([])
  expect(search(Buffer.from(text), [whole])).not.toEqual([])
})

test.each(WRITTEN)('a secret written %s is found in a row of the audit log', async (_, text) => {
  const folder = await temporaryFolder()
  const db = await openDatabase(`file:${folder}/panel.db`)
  await migrate(db, new Date())
  const entry = { action: 'logout', user_id: 1, username: 'alice', target: null, ip: '192.0.2.1', details: null }
  await addAuditEntry(db, { ...entry, target: text }, '2026-03-01T12:00:00.000Z')
  await addAuditEntry(db, { ...entry, details: JSON.stringify({ error: text }) }, '2026-03-01T12:00:00.000Z')
  await addAuditEntry(db, { ...entry, username: `\0${text}` }, '2026-03-01T12:00:00.000Z')
  await db.close()

  const rows = await auditRows(folder)

  expect(rows).toHaveLength(3)
  for (const row of rows) expect(search(row, [whole])).not.toEqual([])
})

test.each(WRITTEN)('a secret written %s is found in the body of an error', (_, text) => {
  const told = errorBody(fail('ssh_failed', { values: { message: text } }))
  const detailed = errorBody(fail('invalid_request', { details: [{ field: 'password', message: text }] }))

  expect(search(told, [whole])).not.toEqual([])
  expect(search(detailed, [whole])).not.toEqual([])
})

test('any eight characters of a password, as a parser quotes them, are found', () => {
  const secret = password('password', WORD)

  for (let at = 0; at + 8 <= WORD.length; at += 1)
    expect(search(`Unexpected token, ..."${WORD.slice(at, at + 8)}"... is not valid JSON`, [secret])).not.toEqual([])
  expect(search(WORD.slice(0, 7), [secret])).toEqual([])
})

test('the signature of a token is found by itself, and so is a part of it', () => {
  const signature = randomBytes(256).toString('base64url')
  const secrets = token('token', `${'h'.repeat(40)}.${'c'.repeat(80)}.${signature}`)

  expect(search(signature, secrets)).not.toEqual([])
  for (let at = 0; at + 31 <= signature.length; at += 1)
    expect(search(signature.slice(at, at + 31), secrets)).not.toEqual([])
  expect(search(`${'h'.repeat(40)}.${'c'.repeat(80)}`, secrets)).toEqual([])
})

test('a private number is found in the PEM file of its key, and not in the public key', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const jwk = privateKey.export({ format: 'jwk' })
  const numbers = [jwk.d, jwk.p, jwk.q].map((each, at) => canary(`${at}`, Buffer.from(each ?? '', 'base64url')))
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

  for (const text of [pem, JSON.stringify({ pem }), JSON.stringify(jwk)])
    expect(new Set(search(text, numbers).map(({ canary }) => canary))).toEqual(new Set(['0', '1', '2']))
  for (const text of [
    publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    JSON.stringify(publicKey.export({ format: 'jwk' })),
  ])
    expect(search(text, numbers)).toEqual([])
})

test('an absent secret is not found, and a finding shows its place without the secret', () => {
  expect(search(randomBytes(100_000), [whole, password('password', WORD)])).toEqual([])
  expect(search('', [whole])).toEqual([])

  const [finding] = search(`password=${WORD}`, [whole])

  expect(finding).toEqual({ canary: 'word', form: 'raw', around: 'password=[…]' })
})

test('a secret that is too short to be distinctive cannot be searched for', () => {
  expect(() => canary('short', 'eleven-char')).toThrow('short has 11 bytes')
  expect(() => token('none', 'no-signature.')).toThrow('none’s signature has 0 bytes')
})
