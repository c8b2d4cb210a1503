import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, open as openFile, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient } from '@libsql/client'
import { expect, onTestFinished, test } from 'vitest'
import { claimFile, copyInto, inspectCopy } from '../../db/libsql/copy.ts'
import { StorageError } from '../../db/libsql/database.ts'
import { SCHEMA_VERSION } from '../../db/migrate.ts'
import { addChannel } from '../../db/notifications/channels.ts'
import { addSchedule } from '../../db/schedules/schedules.ts'
import { writeSettings } from '../../db/settings.ts'
import { addSigningKey, revokeOtherSigningKeys } from '../../db/signing-keys.ts'
import { listAccounts } from '../../db/access/users.ts'
import { addingTotp } from '../../db/access/factors.ts'
import { saveModuleValue } from '../../db/module-store/values.ts'
import { saveModule } from '../../db/modules.ts'
import { saveUser } from '../../db/users.ts'
import { totpSecret } from '../../functions/factors/totp.ts'
import { sealedSetting } from '../../modules/kit/settings.ts'
import { moduleStore } from '../../modules/kit/store.ts'
import { createSecrets } from '../../platform/secrets.ts'
import { record } from '../functions/modules/module.ts'
import { sealName } from '../../notifications/channel-secrets.ts'
import { pingSecret } from '../../schedules/schedules.ts'
import { NOW, open, openMigrated } from './database.ts'
import { temporaryFolder } from './folder.ts'

/** Makes a database file in another process, because this process would keep a lock on a file that it has opened. */
async function unopened(): Promise<string> {
  const folder = await temporaryFolder()
  const db = await openMigrated(`file:${folder}/made.db`)
  await saveUser(db, 'alice', true, NOW)
  await db.close()
  await mkdir(join(folder, 'own'))
  await copyFile(join(folder, 'made.db'), join(folder, 'own/panel.db'))
  return join(folder, 'own/panel.db')
}

/** Starts a process that opens the database as the service does, and prints the results of these statements. */
const OTHER = `
  import { createClient } from '@libsql/client'
  const client = createClient({ url: 'file:' + process.argv[1], concurrency: 1, timeout: 0 })
  try {
    for (const sql of process.argv.slice(2)) console.log(JSON.stringify((await client.execute(sql)).rows))
  } catch (error) {
    console.log(error.code)
  }
  process.stdin.resume()
`
const OTHER_ARGS = ['--input-type=module', '-e', OTHER, '--']
const ROOM = join(import.meta.dirname, '../..')
const NAMES = 'SELECT username FROM users WHERE id > 0 ORDER BY id'

/** Starts such a process, which keeps the database open after its statements, at most until the end of the test. */
async function holding(file: string, ...statements: string[]) {
  const child = spawn(process.execPath, [...OTHER_ARGS, file, ...statements], { cwd: ROOM })
  const ended = once(child, 'close')
  const end = async (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal)
    await ended
  }
  onTestFinished(() => end('SIGKILL'))
  let printed = ''
  const all = new Promise<void>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text
      if (printed.split('\n').length > statements.length) resolve()
    })
  })
  await Promise.race([all, ended])
  return { end, printed: printed.trim().split('\n') }
}

/** The output of such a process, which ends at once. */
function elsewhere(file: string, ...statements: string[]): string[] {
  const { stdout } = spawnSync(process.execPath, [...OTHER_ARGS, file, ...statements], { cwd: ROOM, input: '' })
  return stdout.toString().trim().split('\n')
}

const WAL = 'PRAGMA journal_mode = WAL'
const BUSY = 'SQLITE_BUSY'

test('a copy contains in one file the rows of its moment, and no later ones', async () => {
  const folder = await temporaryFolder()
  const db = await openMigrated(`file:${folder}/a.db`)
  await saveUser(db, 'alice', true, NOW)
  const away = await temporaryFolder()

  await copyInto(db, join(away, "b 'é.db"))
  await saveUser(db, 'bob', false, NOW)

  expect(await readdir(away)).toEqual(["b 'é.db"])
  const copy = await open(`file:${away}/b 'é.db`)
  expect((await listAccounts(copy, NOW)).map(({ username }) => username)).toEqual(['alice'])
  expect(await listAccounts(db, NOW)).toHaveLength(2)
})

test('a copy contains nothing of a transaction that is under way', async () => {
  const folder = await temporaryFolder()
  const db = await openMigrated(`file:${folder}/a.db`)
  await saveUser(db, 'alice', true, NOW)
  const beside = createClient({ url: `file:${folder}/a.db`, concurrency: 1 })
  const transaction = await beside.transaction('write')
  await transaction.execute(`UPDATE users SET username = 'mallory' WHERE id > 0`)

  await copyInto(db, join(folder, 'b.db'))

  await transaction.commit()
  beside.close()
  const copy = await open(`file:${folder}/b.db`)
  expect((await listAccounts(copy, NOW)).map(({ username }) => username)).toEqual(['alice'])
  expect((await listAccounts(db, NOW)).map(({ username }) => username)).toEqual(['mallory'])
})

test('a copy does not replace another file', async () => {
  const folder = await temporaryFolder()
  const db = await openMigrated()
  await writeFile(join(folder, 'b.db'), 'precious')

  await expect(copyInto(db, join(folder, 'b.db'))).rejects.toThrow(StorageError)

  expect(await readFile(join(folder, 'b.db'), 'utf8')).toBe('precious')
})

const CHANNEL = { kind: 'ntfy', settings: '{}', chosen: '{}', enabled: true }
const SCHEDULE = {
  ...{ name: 'Nuit', enabled: true, cron: '0 3 * * *', timezone: 'UTC', settings: '{}', paused_reason: null },
}
const TIMES = { handled_ms: 0, next_ms: null }

test('inspection of a sound copy returns its version and all secrets by name, and changes nothing', async () => {
  const [folder, away] = [await temporaryFolder(), await temporaryFolder()]
  const db = await openMigrated(`file:${folder}/a.db`)
  await writeSettings(db, { ssh_host: 'pve', ssh_password: 'v1.ssh', hypervisor_token: 'v1.token' }, NOW)
  const key = { public_jwk: '{}', origin: 'made', created_at: NOW } as const
  await addSigningKey(db, { ...key, kid: 'one', private_sealed: 'v1.one' })
  await addSigningKey(db, { ...key, kid: 'two', private_sealed: 'v1.two' })
  await db.batch([revokeOtherSigningKeys('two', NOW)])
  const entry = { sql: 'SELECT 1' }
  await addChannel(db, { ...CHANNEL, id: 'c', name: 'ntfy', secrets: 'v1.channel' }, { now: NOW, most: 9, entry })
  const { id: created_by } = await saveUser(db, 'alice', true, NOW)
  for (const [id, ping] of [
    ['s', 'v1.ping'],
    ['t', null],
  ] as const)
    await addSchedule(db, { ...SCHEDULE, id, ping, created_by }, { times: TIMES, at: NOW, most: 9, entry })
  const file = join(away, 'b.db')
  await copyInto(db, file)
  const before = await readFile(file)

  const { version, sealed } = await inspectCopy(file)

  expect(version).toBe(SCHEMA_VERSION)
  expect(sealed.sort((one, two) => one.value.localeCompare(two.value))).toEqual([
    { name: 'notification_channel:c', value: 'v1.channel' },
    { name: 'signing_key:one', value: 'v1.one' },
    { name: 'schedule_ping:s', value: 'v1.ping' },
    { name: 'ssh_password', value: 'v1.ssh' },
    { name: 'hypervisor_token', value: 'v1.token' },
    { name: 'signing_key:two', value: 'v1.two' },
  ])
  expect(await readdir(away)).toEqual(['b.db'])
  expect((await readFile(file)).equals(before)).toBe(true)
})

test('the secrets of the forge, of modules and of second factors are among those of a copy, under the names that seal them', async () => {
  const folder = await temporaryFolder()
  const db = await openMigrated(`file:${folder}/a.db`)
  const secrets = createSecrets(Buffer.alloc(32, 1))
  await writeSettings(db, { forge_token: secrets.seal('forge_token', 'the token') }, NOW)
  await db.batch([saveModule(record('notes'), NOW)])
  const store = moduleStore({ db, secrets, clock: () => new Date(NOW) }, 'notes')
  await store.secrets.set('kept', 'of the store')
  await store.set('plain', 'no secret')
  const setting = { module: 'notes', kind: 'setting:', name: 'key', secret: true }
  const value = secrets.seal(sealedSetting('notes', 'key'), 'of the settings')
  await db.batch([saveModuleValue({ ...setting, value }, 9, NOW)])
  const { id: userId } = await saveUser(db, 'alice', true, NOW)
  const secret = secrets.seal(totpSecret(userId), 'of a factor')
  await db.batch(addingTotp({ userId, name: 'Téléphone', secret, step: 1 }, 9, NOW))
  await copyInto(db, join(folder, 'b.db'))

  const { sealed } = await inspectCopy(join(folder, 'b.db'))

  expect(sealed.map(({ name, value: text }) => secrets.open(name, text)).sort()).toEqual([
    'of a factor',
    'of the settings',
    'of the store',
    'the token',
  ])
})

test('the names under which channels and pinged addresses are sealed are those that the service uses', () => {
  expect([sealName('c'), pingSecret('s')]).toEqual(['notification_channel:c', 'schedule_ping:s'])
})

test('a copy of an earlier version, without channels and schedules, is inspected as well', async () => {
  const folder = await temporaryFolder()
  const db = await openMigrated(`file:${folder}/a.db`)
  await writeSettings(db, { ssh_host: 'pve', ssh_password: 'v1.ssh' }, NOW)
  for (const table of [
    'module_values',
    'factors',
    'notification_deliveries',
    'notification_channels',
    'schedule_runs',
    'schedules',
  ])
    await db.run(`DROP TABLE ${table}`)
  await copyInto(db, join(folder, 'b.db'))

  expect((await inspectCopy(join(folder, 'b.db'))).sealed).toEqual([{ name: 'ssh_password', value: 'v1.ssh' }])
})

test('an empty secret is omitted', async () => {
  const folder = await temporaryFolder()
  const db = await openMigrated(`file:${folder}/a.db`)
  await writeSettings(db, { ssh_host: 'pve', ssh_password: '' }, NOW)
  await copyInto(db, join(folder, 'b.db'))

  expect((await inspectCopy(join(folder, 'b.db'))).sealed).toEqual([])
})

/** Removes a row from an index and not from its table, so that each page is valid by itself. */
async function breakIndex(file: string): Promise<void> {
  const client = createClient({ url: `file:${file}`, concurrency: 1 })
  await client.executeMultiple(`
    CREATE TABLE t (x); CREATE INDEX t_by_x ON t (x); CREATE TABLE u (x); CREATE INDEX u_by_x ON u (x);
    INSERT INTO t VALUES (1);
    PRAGMA writable_schema = ON;
    UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'u_by_x') WHERE name = 't_by_x';
    PRAGMA writable_schema = OFF`)
  client.close()
}

const create = async (file: string, sql: string) => {
  const client = createClient({ url: `file:${file}`, concurrency: 1 })
  await client.executeMultiple(sql)
  client.close()
}

test.each<[string, (file: string) => Promise<void>]>([
  ['is no database', (file) => writeFile(file, 'hello, world\n'.repeat(1_000))],
  ['is empty', (file) => writeFile(file, '')],
  ['belongs to another program', (file) => create(file, 'CREATE TABLE other (id INTEGER)')],
  ['has no version', (file) => create(file, 'CREATE TABLE schema_version (version INTEGER)')],
  ['is truncated', async (file) => truncate(await sample(file), 40_000)],
  ['has an index that lacks a row', async (file) => breakIndex(await sample(file))],
])('a copy that %s is refused and not changed', async (_, make) => {
  const folder = await temporaryFolder()
  const file = join(folder, 'b.db')
  await make(file)
  const before = await readFile(file)

  await expect(inspectCopy(file)).rejects.toThrow()

  expect((await readFile(file)).equals(before)).toBe(true)
  expect(await readdir(folder)).toEqual(['b.db'])
})

/** Makes a sound copy at that path. */
async function sample(file: string): Promise<string> {
  await copyInto(await openMigrated(), file)
  return file
}

test('a database that another process has open cannot be claimed, and the other process continues', async () => {
  const file = await unopened()
  const other = await holding(file, WAL, `INSERT INTO users (username, created_at) VALUES ('bob', '')`)
  const files = ['panel.db', 'panel.db-shm', 'panel.db-wal']
  const bytes = async () => Promise.all(files.map((name) => readFile(join(file, '..', name), 'latin1')))
  const before = await bytes()

  expect(await claimFile(file)).toBeUndefined()

  expect((await readdir(join(file, '..'))).sort()).toEqual(files)
  expect((await bytes()).map((text, at) => text === before[at])).toEqual([true, true, true])
  expect(elsewhere(file, NAMES)).toEqual(['[{"username":"alice"},{"username":"bob"}]'])
  await other.end()
})

test('a damaged database that another process has open cannot be claimed', async () => {
  const file = await unopened()
  await holding(file, WAL, NAMES)
  // Everything except its first page, without SQLite.
  const handle = await openFile(file, 'r+')
  await handle.write(Buffer.alloc(200_000, 'x'), 0, 200_000, 16_384)
  await handle.close()

  expect(await claimFile(file)).toBeUndefined()
})

test('a database that no process has open is claimed for this process alone', async () => {
  const file = await unopened()

  const claim = await claimFile(file)

  expect(claim?.whole).toBe(true)
  expect(elsewhere(file, NAMES)).toEqual([BUSY])
  await claim?.release()
})

test('other processes can open a claimed database after its release', async () => {
  const file = await unopened()

  const claim = await claimFile(file)
  await claim?.release()

  expect(elsewhere(file, NAMES)).toEqual(['[{"username":"alice"}]'])
})

test('the write-ahead log of a killed process is merged into the claimed file', async () => {
  const file = await unopened()
  const other = await holding(file, WAL, `INSERT INTO users (username, created_at) VALUES ('bob', '')`)
  await other.end('SIGKILL')
  expect((await stat(`${file}-wal`)).size).toBeGreaterThan(0)

  expect((await claimFile(file))?.whole).toBe(true)

  expect(await readdir(join(file, '..'))).not.toContain('panel.db-wal')
  const alone = join(await temporaryFolder(), 'alone.db')
  await copyFile(file, alone)
  expect(elsewhere(alone, NAMES)).toEqual(['[{"username":"alice"},{"username":"bob"}]'])
})

test.each<[string, (file: string) => Promise<void>]>([
  ['is no database', (file) => writeFile(file, Buffer.alloc(100_000, 'x'))],
  ['is truncated', async (file) => truncate(file, 200_000)],
])('a file that %s is claimed without a change', async (_, make) => {
  const file = await unopened()
  await make(file)
  await writeFile(`${file}-wal`, 'what is left')
  const before = await readFile(file)

  const claim = await claimFile(file)

  expect(claim?.whole).toBe(false)
  await claim?.release()
  expect((await readFile(file)).equals(before)).toBe(true)
  expect(await readFile(`${file}-wal`, 'utf8')).toBe('what is left')
})

test('a database whose log cannot be opened does not count as damaged', async () => {
  const file = await unopened()
  await mkdir(`${file}-wal`)

  await expect(claimFile(file)).rejects.toThrow('SQLITE_CANTOPEN')
})

test('a file that cannot be opened does not count as a damaged database', async () => {
  await expect(claimFile(await temporaryFolder())).rejects.toThrow()
})
