import { mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { openDatabase } from '../../db/libsql/client.ts'
import { copyInto, inspectCopy } from '../../db/libsql/copy.ts'
import { migrate, SCHEMA_VERSION } from '../../db/migrate.ts'
import { ConfigError, readConfig } from '../../platform/config.ts'
import { openExisting, openStorage } from '../../db/storage.ts'
import { NOW } from './database.ts'
import { temporaryFolder } from './folder.ts'

const clock = () => new Date(NOW)
const KEY = Buffer.alloc(32, 9).toString('base64')
const mode = async (file: string) => (await stat(file)).mode & 0o777

/** The environment for a data folder, which need not exist. */
async function place(more: Record<string, string> = {}) {
  const parent = await temporaryFolder()
  const folder = join(parent, 'data')
  return { parent, folder, config: readConfig({ PANEL_DATA_DIR: folder, ...more }) }
}

const failure = (opening: Promise<unknown>) => opening.catch((thrown: unknown) => thrown)

test('a missing folder and key are made for the owner only, and a missing database is made and migrated', async () => {
  const { folder, config } = await place()

  const { db, secrets } = await openStorage(config, clock)

  expect(await mode(folder)).toBe(0o700)
  expect(await mode(join(folder, 'secret.key'))).toBe(0o600)
  expect(await db.query(z.unknown(), 'SELECT max(version) AS version FROM schema_version')).toEqual([
    { version: SCHEMA_VERSION },
  ])
  expect(secrets.open('a', secrets.seal('a', 'text'))).toBe('text')
  await db.close()
})

test.each([
  '100%',
  'a%20b',
  '%00',
  'q?mode=memory#x',
  'sp ace',
  `quo'te"`,
  'co:lon',
  'é',
  'new\nline',
  'back\\slash',
  '~',
])('a database in a folder named %j is a file there, and is opened again and copied from there', async (name) => {
  const parent = await temporaryFolder()
  const folder = join(parent, name)
  const config = readConfig({ PANEL_DATA_DIR: folder })
  const { db } = await openStorage(config, clock)
  await db.script('CREATE TABLE mark (a)')
  await db.close()
  const { db: again } = await openExisting(config)
  expect(await again.query(z.unknown(), 'SELECT * FROM mark')).toEqual([])
  await copyInto(again, join(folder, 'copy.db'))
  await again.close()
  expect(await inspectCopy(join(folder, 'copy.db'))).toMatchObject({ version: SCHEMA_VERSION })

  expect(await readdir(parent)).toEqual([name])
  expect((await readdir(folder)).filter((file) => /\.(db|key)$/.test(file)).sort()).toEqual([
    'copy.db',
    'panel.db',
    'secret.key',
  ])
})

test('existing data is opened with the same key', async () => {
  const { config } = await place()
  const first = await openStorage(config, clock)
  const sealed = first.secrets.seal('a', 'text')
  await first.db.run(`INSERT INTO settings VALUES ('ssh_host', 'pve', '')`)
  await first.db.close()

  const { db, secrets } = await openExisting(config)

  expect(secrets.open('a', sealed)).toBe('text')
  expect(await db.query(z.unknown(), 'SELECT value FROM settings')).toEqual([{ value: 'pve' }])
  await db.close()
})

test('a configured key is not written to a file', async () => {
  const { folder, config } = await place({ PANEL_SECRET_KEY: KEY })
  const { db } = await openStorage(config, clock)
  await db.close()

  expect(await readdir(folder)).not.toContain('secret.key')
  const again = await openExisting(config)
  await again.db.close()
  expect(await readdir(folder)).not.toContain('secret.key')
})

test('openExisting names a missing folder and does not make it', async () => {
  const { parent, folder, config } = await place()

  const error = await failure(openExisting(config))

  expect(error).toBeInstanceOf(ConfigError)
  expect(error).toMatchObject({ message: expect.stringContaining(`${folder}/panel.db`) })
  expect(error).toMatchObject({ message: expect.stringContaining('PANEL_DATA_DIR') })
  expect(await readdir(parent)).toEqual([])
})

test('openExisting names a missing database and does not make it, even if the key exists', async () => {
  const { folder, config } = await place()
  await mkdir(folder)
  await writeFile(join(folder, 'secret.key'), KEY)

  const error = await failure(openExisting(config))

  expect(error).toBeInstanceOf(ConfigError)
  expect(error).toMatchObject({ message: expect.stringContaining(`${folder}/panel.db`) })
  expect(await readdir(folder)).toEqual(['secret.key'])
})

test('openExisting looks for the database at its configured address', async () => {
  const { folder, config } = await place({ PANEL_DATABASE_URL: 'file:/nowhere/else.db', PANEL_SECRET_KEY: KEY })
  await mkdir(folder)
  await writeFile(join(folder, 'panel.db'), '')

  const error = await failure(openExisting(config))

  expect(error).toBeInstanceOf(ConfigError)
  expect(error).toMatchObject({ message: expect.stringContaining('/nowhere/else.db') })
  expect(await readdir(folder)).toEqual(['panel.db'])
})

test('openExisting names a missing key, does not make it, and does not touch the database', async () => {
  const { folder, config } = await place()
  await mkdir(folder)
  await writeFile(join(folder, 'panel.db'), '')

  const error = await failure(openExisting(config))

  expect(error).toBeInstanceOf(ConfigError)
  expect(error).toMatchObject({ message: expect.stringContaining(`${folder}/secret.key`) })
  expect(error).toMatchObject({ message: expect.stringContaining('PANEL_SECRET_KEY') })
  expect(await readdir(folder)).toEqual(['panel.db'])
  expect((await stat(join(folder, 'panel.db'))).size).toBe(0)
})

test('a database of a newer program is refused and closed', async () => {
  const { folder, config } = await place({ PANEL_SECRET_KEY: KEY })
  await mkdir(folder)
  const newer = await openDatabase(config.databaseUrl)
  await migrate(
    newer,
    clock(),
    Array.from({ length: SCHEMA_VERSION + 1 }, (_, n) => `CREATE TABLE t${n} (x)`),
  )
  await newer.close()

  await expect(openStorage(config, clock)).rejects.toThrow(/version \d+, plus récente/)

  // No log beside the file: the connection was closed.
  expect((await stat(join(folder, 'panel.db-wal'))).size).toBe(0)
})
