import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { openDatabase } from '../../db/libsql/client.ts'
import { type Database, StorageError } from '../../db/libsql/database.ts'
import { migrate, MIGRATIONS } from '../../db/migrate.ts'
import { makeSchema } from '../migrated.ts'
import { NOW, open } from './database.ts'
import { temporaryFolder } from './folder.ts'

const AT = new Date(NOW)

async function tables(db: Database): Promise<string[]> {
  const sql = `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`
  const rows = await db.query(z.object({ name: z.string() }), sql)
  return rows.map(({ name }) => name)
}

function versions(db: Database): Promise<unknown[]> {
  return db.query(z.unknown(), 'SELECT version, applied_at FROM schema_version ORDER BY version')
}

/** The newest version of the schema. */
const LATEST = 28

const ALL = [
  'api_tokens',
  'application_agreements',
  'application_sources',
  'audit',
  'audit_links',
  'checks',
  'claims',
  'container_storage',
  'dashboard_layouts',
  'deployments',
  'ended_sessions',
  'factor_challenges',
  'factor_locks',
  'factors',
  'job_output',
  'jobs',
  'module_records',
  'module_values',
  'modules',
  'notices',
  'notification_channels',
  'notification_deliveries',
  'notification_events',
  'plans',
  'protections',
  'rate_hits',
  'recovery_codes',
  'revisions',
  'runs',
  'schedule_runs',
  'schedules',
  'schedules_pause',
  'schema_version',
  'security_data',
  'sessions',
  'settings',
  'signing_keys',
  'snapshots',
  'standing_instances',
  'standing_targets',
  'users',
]

const applied = (at: string) => Array.from({ length: LATEST }, (_, n) => ({ version: n + 1, applied_at: at }))

test('an empty database is migrated to the newest version, and the time is recorded', async () => {
  const db = await open()

  expect(await migrate(db, AT)).toBe(LATEST)

  expect(await tables(db)).toEqual(ALL)
  expect(await versions(db)).toEqual(applied(NOW))
})

test('the database of another program is not changed, and the error names its tables', async () => {
  const db = await open()
  await db.script('CREATE TABLE invoices (id INTEGER); CREATE TABLE customers (id INTEGER)')

  await expect(migrate(db, AT)).rejects.toThrow(
    'la base est celle d’un autre programme (tables customers, invoices) : indiquez une autre PANEL_DATABASE_URL',
  )

  expect(await tables(db)).toEqual(['customers', 'invoices'])
})

test('a second migration changes nothing', async () => {
  const db = await open()
  await migrate(db, AT)
  await db.run(`INSERT INTO settings VALUES ('ssh_host', 'pve', ?)`, [NOW])

  expect(await migrate(db, new Date('2027-01-01T00:00:00.000Z'))).toBe(LATEST)

  expect(await versions(db)).toEqual(applied(NOW))
  expect(await db.query(z.unknown(), 'SELECT value FROM settings')).toEqual([{ value: 'pve' }])
})

test('a migration continues from the version of the database', async () => {
  const db = await open()
  await migrate(db, AT, ['CREATE TABLE a (x)'])

  const later = ['CREATE TABLE a (x)', 'CREATE TABLE b (x); INSERT INTO b VALUES (1)', 'ALTER TABLE b ADD COLUMN y']
  expect(await migrate(db, AT, later)).toBe(3)

  expect(await tables(db)).toEqual(['a', 'b', 'schema_version'])
  expect(await db.query(z.unknown(), 'SELECT * FROM b')).toEqual([{ x: 1, y: null }])
})

test('two connections that migrate one file at the same time make one schema', async () => {
  const url = `file:${join(await temporaryFolder(), 'panel.db')}`
  const [one, two] = [await open(url), await open(url)]

  expect(await Promise.all([migrate(one, AT), migrate(two, AT)])).toEqual([LATEST, LATEST])

  expect(await tables(one)).toEqual(ALL)
  expect(await versions(two)).toHaveLength(LATEST)
})

test('four processes that migrate one file at the same time all succeed', async () => {
  const url = `file:${join(await temporaryFolder(), 'panel.db')}`
  const program = `
    import { openDatabase } from ${JSON.stringify(new URL('../../db/libsql/client.ts', import.meta.url).href)}
    import { migrate } from ${JSON.stringify(new URL('../../db/migrate.ts', import.meta.url).href)}
    const db = await openDatabase(${JSON.stringify(url)})
    console.log(await migrate(db, new Date()))
    db.close()
  `
  const start = () => promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program])

  const ended = await Promise.all([start(), start(), start(), start()])

  expect(ended.map(({ stdout }) => stdout)).toEqual(Array.from({ length: 4 }, () => `${LATEST}\n`))
  const db = await open(url)
  expect(await tables(db)).toEqual(ALL)
  expect(await versions(db)).toHaveLength(LATEST)
})

test.each([
  ['in its first statement', 'CREATE TABL b (x)'],
  ['in its last statement', 'CREATE TABLE b (x); INSERT INTO a VALUES (2); CREATE TABLE a (x)'],
])('a migration that fails %s leaves the version and the schema unchanged', async (_, broken) => {
  const url = `file:${join(await temporaryFolder(), 'panel.db')}`
  const db = await open(url)
  const first = 'CREATE TABLE a (x); INSERT INTO a VALUES (1)'
  await migrate(db, AT, [first])

  await expect(migrate(db, AT, [first, broken, 'CREATE TABLE c (x)'])).rejects.toThrow(StorageError)

  expect(await tables(db)).toEqual(['a', 'schema_version'])
  expect(await db.query(z.unknown(), 'SELECT x FROM a')).toEqual([{ x: 1 }])
  expect(await versions(db)).toEqual([{ version: 1, applied_at: NOW }])
  expect(await migrate(db, AT, [first, 'CREATE TABLE c (x)'])).toBe(2)
})

test('a database of a newer program is refused and not changed', async () => {
  const url = `file:${join(await temporaryFolder(), 'panel.db')}`
  const newer = await openDatabase(url)
  await migrate(newer, AT, ['CREATE TABLE a (x)', 'CREATE TABLE b (x)'])
  newer.close()
  const db = await open(url)

  await expect(migrate(db, AT, ['CREATE TABLE a (x)'])).rejects.toThrow(/version 2.*plus récente/)

  expect(await tables(db)).toEqual(['a', 'b', 'schema_version'])
  expect(await versions(db)).toHaveLength(2)
})

test('sessions of users under names that no account can have are over, with audit entries; others continue', async () => {
  const db = await open()
  await migrate(db, AT, MIGRATIONS.slice(0, 6))
  const names = [
    'bob:style',
    'bob/role',
    'bob smith',
    'bob\nroot',
    'bob\u009b2J',
    'bob',
    'zoë',
    'DOM\\bob',
    'a-b_c.d@e',
  ]
  for (const [at, name] of names.entries()) {
    await db.run('INSERT INTO users (id, username, is_admin, created_at) VALUES (?, ?, 1, ?)', [at + 1, name, NOW])
    await db.run(
      `INSERT INTO sessions (id, user_id, token_hash, expires_at, user_agent, ip, created_at) VALUES (?1, ?1, ?1, ?2, '', '', ?2)`,
      [at + 1, NOW],
    )
  }

  await migrate(db, AT, MIGRATIONS.slice(0, 7))

  const Row = z.object({ id: z.number() })
  expect((await db.query(Row, 'SELECT id FROM sessions ORDER BY id')).map(({ id }) => names[id - 1])).toEqual(
    names.slice(5),
  )
  expect(await db.query(z.unknown(), 'SELECT session_id FROM ended_sessions ORDER BY session_id')).toHaveLength(5)
  expect(await db.query(z.unknown(), 'SELECT username FROM users WHERE is_admin = 1')).toHaveLength(4)
  const entries = await db.query(
    z.unknown(),
    `SELECT target, details FROM audit WHERE action = 'account_ended' ORDER BY id`,
  )
  expect(entries).toEqual(names.slice(0, 5).map((target) => ({ target, details: '{"reason":"name"}' })))
})

test('the quick schema of the tests is what the migrations make', async () => {
  const [migrated, quick] = [await open(), await open()]
  await migrate(migrated, AT)

  await makeSchema(quick, AT)

  const Named = z.record(z.string(), z.unknown())
  const schemaOf = (db: Database) =>
    db.query(
      Named,
      `SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name <> 'sqlite_sequence' ORDER BY type, name`,
    )
  expect(await schemaOf(quick)).toEqual(await schemaOf(migrated))
  // A migration dates the modules of the panel itself.
  const undated = (rows: unknown) => JSON.stringify(rows).replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'then')
  for (const name of await tables(migrated)) {
    const rows = `SELECT * FROM ${name}`
    expect(undated(await quick.query(Named, rows))).toBe(undated(await migrated.query(Named, rows)))
  }
})
