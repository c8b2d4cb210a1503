import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { authorizedLine, newSshKey, readSshKey } from '../../ssh/key.ts'
import { temporaryFolder } from '../db/folder.ts'

const run = promisify(execFile)

/** Has the real ssh-keygen make a key, and returns its two files. */
async function generated(...options: string[]) {
  const file = join(await temporaryFolder(), 'key')
  await run('ssh-keygen', ['-q', '-C', 'a comment', '-f', file, ...options])
  return { text: await readFile(file, 'utf8'), publicText: await readFile(`${file}.pub`, 'utf8') }
}

test('ssh-keygen reads a made key, and finds the same public key and fingerprint', async () => {
  // One key in 256 begins with a zero byte, which must not get lost.
  const keys = Array.from({ length: 600 }, newSshKey)
  for (const key of keys) expect(readSshKey(key.privateKey)).toEqual(key)
  const half = ({ publicKey }: { publicKey: string }) => Buffer.from(publicKey.split(' ')[1] ?? '', 'base64')
  const [first = newSshKey(), ...zeros] = [
    ...keys.slice(0, 1),
    ...keys.filter((key) => half(key)[19] === 0).slice(0, 1),
  ]

  for (const key of [first, ...zeros]) {
    const file = join(await temporaryFolder(), 'key')
    await writeFile(file, key.privateKey, { mode: 0o600 })
    const { stdout: publicText } = await run('ssh-keygen', ['-y', '-f', file])
    const { stdout: listed } = await run('ssh-keygen', ['-l', '-f', file])
    expect(publicText.trim()).toBe(`${key.publicKey} ops-panel`)
    expect(listed).toContain(`256 ${key.fingerprint} ops-panel (ED25519)`)
  }
})

test('every made key is another one', () => {
  expect(new Set(Array.from({ length: 50 }, () => newSshKey().publicKey)).size).toBe(50)
})

test('a key of ssh-keygen is read, also on one line, with escaped line ends, and with those of Windows', async () => {
  const { text, publicText } = await generated('-t', 'ed25519', '-N', '')

  for (const form of [text, text.replaceAll('\n', ''), text.replaceAll('\n', '\\n'), text.replaceAll('\n', '\r\n')]) {
    const key = readSshKey(form)
    expect(publicText).toBe(`${key?.publicKey} a comment\n`)
  }
})

test.each([
  ['with a passphrase', ['-t', 'ed25519', '-N', 'secret-phrase']],
  ['of RSA', ['-t', 'rsa', '-b', '2048', '-N', '']],
  ['of ECDSA', ['-t', 'ecdsa', '-N', '']],
  ['in another form', ['-t', 'rsa', '-b', '2048', '-m', 'PEM', '-N', '']],
])('a key %s is not read', async (_, options) => {
  const { text } = await generated(...options)

  expect(readSshKey(text)).toBeUndefined()
})

test('a public key, and a private one that is cut, changed or too long, are not read', async () => {
  const { text, publicText } = await generated('-t', 'ed25519', '-N', '')
  const [begin = '', ...rest] = text.trim().split('\n')
  const body = Buffer.from(rest.slice(0, -1).join(''), 'base64')
  const written = (bytes: Buffer) => [begin, bytes.toString('base64'), rest.at(-1)].join('\n')
  expect(readSshKey(written(body))?.publicKey).toBe(publicText.split(' a comment')[0])

  for (const wrong of [
    '',
    'x',
    publicText,
    text.slice(0, -10),
    written(Buffer.alloc(0)),
    `${text}${' '.repeat(5_000)}x`,
  ])
    expect(readSshKey(wrong)).toBeUndefined()
  for (let length = 0; length < body.length - 8; length += 1)
    expect(readSshKey(written(body.subarray(0, length)))).toBeUndefined()
  // The public half of the outer part: it no longer belongs to the private one.
  const changed = Buffer.from(body)
  const at = body.indexOf('ssh-ed25519') + 15
  changed.writeUInt8(changed.readUInt8(at) ^ 1, at)
  expect(readSshKey(written(changed))).toBeUndefined()
})

test('the line of a key allows commands and terminals only, or what it is told', () => {
  const key = { publicKey: 'ssh-ed25519 AAAA' }

  expect(authorizedLine(key)).toBe('restrict,pty ssh-ed25519 AAAA ops-panel')
  expect(authorizedLine(key, 'from="192.0.2.7"')).toBe('from="192.0.2.7" ssh-ed25519 AAAA ops-panel')
  expect(authorizedLine(key, '')).toBe('ssh-ed25519 AAAA ops-panel')
})
