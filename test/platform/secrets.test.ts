import { execFile } from 'node:child_process'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { createSecrets, loadSecretKey, SecretError } from '../../platform/secrets.ts'
import { temporaryFolder } from '../db/folder.ts'

const secrets = createSecrets(Buffer.alloc(32, 1))

test.each(['', 'hunter2', 'pâssé 🦊\n', 'x'.repeat(100_000)])('a sealed value opens to its text', (text) => {
  expect(secrets.open('ssh_password', secrets.seal('ssh_password', text))).toBe(text)
})

test('sealing the same text twice gives different values, which reveal nothing of it', () => {
  const sealed = Array.from({ length: 100 }, () => secrets.seal('ssh_password', 'hunter2'))

  expect(new Set(sealed).size).toBe(100)
  const nonces = sealed.map((text) => Buffer.from(text.slice(3), 'base64url').toString('hex', 0, 12))
  expect(new Set(nonces).size).toBe(100)
  expect(sealed.some((text) => text.includes('hunter2'))).toBe(false)
})

test('any changed byte is detected', () => {
  const sealed = secrets.seal('ssh_password', 'hunter2')
  const bytes = Buffer.from(sealed.slice(3), 'base64url')

  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes)
    changed[at] = (changed[at] ?? 0) ^ 1
    expect(() => secrets.open('ssh_password', `v1.${changed.toString('base64url')}`)).toThrow(SecretError)
  }
})

test.each(['', 'v1', 'v1.', 'v1.AAAA', 'v2.AAAA', 'hunter2', `v1.${'A'.repeat(36)}`])(
  '%j is not a sealed value',
  (text) => {
    expect(() => secrets.open('ssh_password', text)).toThrow(SecretError)
  },
)

test('a truncated value is refused, however little is missing', () => {
  const sealed = secrets.seal('ssh_password', 'hunter2 hunter2')
  for (let length = 0; length < sealed.length - 1; length += 1) {
    expect(() => secrets.open('ssh_password', sealed.slice(0, length))).toThrow(SecretError)
  }
})

test('a value does not open under another name', () => {
  expect(() => secrets.open('hypervisor_token', secrets.seal('ssh_password', 'x'))).toThrow(SecretError)
})

test('a value does not open with another key, and the error reveals nothing of it', () => {
  const sealed = secrets.seal('ssh_password', 'hunter2')
  const open = () => createSecrets(Buffer.alloc(32, 2)).open('ssh_password', sealed)

  expect(open).toThrow(SecretError)
  expect(open).toThrow('ssh_password cannot be decrypted')
})

test('the key is created once, in a file that only its owner can read', async () => {
  const folder = join(await temporaryFolder(), 'data')

  const key = await loadSecretKey(folder)

  expect(key).toHaveLength(32)
  expect((await stat(join(folder, 'secret.key'))).mode & 0o777).toBe(0o600)
  expect((await stat(folder)).mode & 0o777).toBe(0o700)
  expect(await readdir(folder)).toEqual(['secret.key'])
  expect(await loadSecretKey(folder)).toEqual(key)
  expect(await readFile(join(folder, 'secret.key'), 'utf8')).toBe(`${key.toString('base64')}\n`)
})

test('a key file that others can read is closed to them', async () => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'secret.key'), Buffer.alloc(32, 3).toString('base64'), { mode: 0o644 })

  expect(await loadSecretKey(folder)).toEqual(Buffer.alloc(32, 3))

  expect((await stat(join(folder, 'secret.key'))).mode & 0o777).toBe(0o600)
})

test('concurrent loads in one process return one key', async () => {
  const folder = await temporaryFolder()

  const keys = await Promise.all(Array.from({ length: 8 }, () => loadSecretKey(folder)))

  expect(new Set(keys.map((key) => key.toString('hex'))).size).toBe(1)
  expect(await readdir(folder)).toEqual(['secret.key'])
})

test('concurrent loads in two processes return one key', async () => {
  const folder = await temporaryFolder()
  const program = `
    import { loadSecretKey } from ${JSON.stringify(new URL('../../platform/secrets.ts', import.meta.url).href)}
    console.log((await loadSecretKey(${JSON.stringify(folder)})).toString('hex'))
  `
  const start = () => promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program])

  const [one, two] = await Promise.all([start(), start()])

  expect(one.stdout).toMatch(/^[0-9a-f]{64}\n$/)
  expect(two.stdout).toBe(one.stdout)
  expect(await readdir(folder)).toEqual(['secret.key'])
})

test('an invalid key file is an error that names it, and stays unchanged', async () => {
  const folder = await temporaryFolder()
  const file = join(folder, 'secret.key')
  await writeFile(file, 'not a key\n')

  await expect(loadSecretKey(folder)).rejects.toThrow(file)

  expect(await readFile(file, 'utf8')).toBe('not a key\n')
  expect(await readdir(folder)).toEqual(['secret.key'])
})
