import { join } from 'node:path'
import { expect, test } from 'vitest'
import { StorageError } from '../../db/libsql/database.ts'
import { readSettings, writeFirstSettings, writeIfEmpty, writeSettings } from '../../db/settings.ts'
import { NOW, openMigrated } from './database.ts'
import { temporaryFolder } from './folder.ts'

test('values are written and overwritten, and the others stay', async () => {
  const db = await openMigrated()

  await writeSettings(db, { ssh_host: 'pve', ssh_username: 'panel' }, NOW)
  await writeSettings(db, { ssh_host: 'pve2' }, NOW)

  expect(await readSettings(db)).toEqual(
    new Map([
      ['ssh_host', 'pve2'],
      ['ssh_username', 'panel'],
    ]),
  )
})

test('all values are written or none', async () => {
  const db = await openMigrated()
  await writeSettings(db, { ssh_host: 'pve' }, NOW)
  await db.script(`CREATE TRIGGER refuse BEFORE INSERT ON settings WHEN NEW.key = 'ssh_password'
                   BEGIN SELECT raise(ABORT, 'refused'); END`)

  const values = { ssh_host: 'other', ssh_username: 'panel', ssh_password: 'x' }
  await expect(writeSettings(db, values, NOW)).rejects.toThrow(StorageError)

  expect(await readSettings(db)).toEqual(new Map([['ssh_host', 'pve']]))
})

const pin = (hostKey: string, address = 'pve') => ({
  key: 'ssh_host_key',
  value: hostKey,
  expected: { key: 'ssh_host', value: address },
})

test('a host key is pinned only if none is, and only for the host of the settings', async () => {
  const db = await openMigrated()

  expect(await writeIfEmpty(db, pin('key'), NOW)).toBe(false)
  await writeSettings(db, { ssh_host: 'pve' }, NOW)
  expect(await writeIfEmpty(db, pin('key of another', 'pve2'), NOW)).toBe(false)
  expect(await writeIfEmpty(db, pin('key'), NOW)).toBe(true)
  expect(await writeIfEmpty(db, pin('other key'), NOW)).toBe(false)
  expect((await readSettings(db)).get('ssh_host_key')).toBe('key')
})

test('one of two processes that pin a key at the same time succeeds', async () => {
  const url = `file:${join(await temporaryFolder(), 'panel.db')}`
  const [one, two] = [await openMigrated(url), await openMigrated(url)]
  await writeSettings(one, { ssh_host: 'pve' }, NOW)

  const written = await Promise.all([
    writeIfEmpty(one, pin('key of one'), NOW),
    writeIfEmpty(two, pin('key of two'), NOW),
  ])

  expect(written.filter(Boolean)).toHaveLength(1)
  const winner = written[0] ? 'key of one' : 'key of two'
  expect((await readSettings(one)).get('ssh_host_key')).toBe(winner)
})

const FIRST = { ssh_host: 'pve', ssh_username: 'panel', ssh_host_key: 'ssh-ed25519 SHA256:x' }

test.each([
  ['nothing is there', {}],
  ['the host is empty', { ssh_host: '' }],
  ['other settings are there, which are overwritten', { ssh_username: 'old', ssh_host_key: 'old' }],
])('the first settings are written when %s', async (_, before) => {
  const db = await openMigrated()
  await writeSettings(db, before, NOW)

  expect(await writeFirstSettings(db, 'ssh_host', FIRST, NOW)).toBe(true)

  expect(Object.fromEntries(await readSettings(db))).toEqual(FIRST)
})

test('no first setting is written once a host is set', async () => {
  const db = await openMigrated()
  await writeSettings(db, { ssh_host: 'pve', ssh_username: '' }, NOW)

  const others = { ssh_host: 'other', ssh_username: 'x', hypervisor_url: 'https://other' }
  expect(await writeFirstSettings(db, 'ssh_host', others, NOW)).toBe(false)
  expect(await writeFirstSettings(db, 'ssh_host', { ...others, ssh_host: 'pve' }, NOW)).toBe(false)

  expect(Object.fromEntries(await readSettings(db))).toEqual({ ssh_host: 'pve', ssh_username: '' })
})

test('all first settings are written or none', async () => {
  const db = await openMigrated()
  await db.script(`CREATE TRIGGER refuse BEFORE INSERT ON settings WHEN NEW.key = 'ssh_host'
                   BEGIN SELECT raise(ABORT, 'refused'); END`)

  await expect(writeFirstSettings(db, 'ssh_host', FIRST, NOW)).rejects.toThrow(StorageError)

  expect(await readSettings(db)).toEqual(new Map())
})

test('one of two processes that write first settings at the same time writes all of its values', async () => {
  const url = `file:${join(await temporaryFolder(), 'panel.db')}`
  const [one, two] = [await openMigrated(url), await openMigrated(url)]
  const settings = [FIRST, { ssh_host: 'other', ssh_username: 'else', ssh_host_key: 'ssh-rsa SHA256:y' }]

  const written = await Promise.all(
    [one, two].map((db, at) => writeFirstSettings(db, 'ssh_host', settings[at] ?? {}, NOW)),
  )

  expect(written.filter(Boolean)).toHaveLength(1)
  expect(Object.fromEntries(await readSettings(one))).toEqual(settings[written.indexOf(true)])
})
