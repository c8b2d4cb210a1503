import { randomBytes } from 'node:crypto'
import { watch } from 'node:fs'
import { chmod, chown, copyFile, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient } from '@libsql/client'
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../../db/libsql/client.ts'
import { migrate, SCHEMA_VERSION } from '../../../db/migrate.ts'
import { sql as first } from '../../../db/migrations/0001-first.ts'
import { openStorage } from '../../../db/storage.ts'
import { readConfig } from '../../../platform/config.ts'
import { makeFolder } from '../../../platform/files.ts'
import { NOW } from '../../db/database.ts'
import { temporaryFolder } from '../../db/folder.ts'
import { runProgram, STARTING_FAST, startProgram } from '../../serve/program.ts'
import {
  contents,
  copyOf,
  type Data,
  everything,
  expectToServe,
  fingerprint,
  makeData,
  modes,
  noFolder,
  PROGRAM_MS,
  refusal,
  runLimited,
  type,
  withFile,
} from './data.ts'

/** The suffixes of the old files. */
const KEPT = `.avant-${NOW.replaceAll(/[:.]/g, '-')}`
const SESSIONS =
  'Les sessions et les jetons d’API d’alors valent de nouveau : « sessions end », « keys rotate --revoke » et « tokens revoke » y mettent fin.\n'
const WRONG_KEY = refusal('la clé n’est pas celle de cette sauvegarde : elle n’en déchiffre aucun secret.')

const WHOLE_ONLY = /^ops-panel : \S+ n’est pas une sauvegarde entière \(.+\)\.\n$/

type Everything = Awaited<ReturnType<typeof everything>>

/** The contents of the backup, and of the folder before. */
let saved: { data: Data; rows: Everything }
let other: { data: Data; rows: Everything }
/** The folder with the backup and its key. */
let backups: string

beforeAll(async () => {
  const made = async (host: string) => {
    const data = await makeData(host, afterAll)
    return { data, rows: await everything(join(data.folder, 'panel.db')) }
  }
  ;[saved, other] = [await made('saved.test'), await made('other.test')]
  backups = await temporaryFolder(afterAll)
  expect((await type({ PANEL_DATA_DIR: saved.data.folder }, 'backup', join(backups, 'b.db'))).code).toBe(0)
})

/** Makes a backup with its key for this test, and a folder with other data. */
async function place() {
  const [away, folder] = [await copyOf(backups), await copyOf(other.data.folder)]
  const file = join(away, 'b.db')
  return {
    away,
    file,
    folder,
    database: join(folder, 'panel.db'),
    restore: (into = folder, env: Record<string, string> = {}) =>
      type({ PANEL_DATA_DIR: into, ...env }, 'restore', file),
  }
}

const keyOf = async (folder: string) => (await readFile(join(folder, 'secret.key'), 'utf8')).trim()

test(
  'a service restored into a new folder has its secrets and its sessions',
  async () => {
    const { away, file } = await place()
    const [folder, before] = [await noFolder(), await contents(away)]

    const answer = await runProgram({ PANEL_DATA_DIR: folder }, 'restore', file)

    expect(answer).toEqual({ code: 0, stdout: `Restauré : ${folder}/panel.db\n${SESSIONS}`, stderr: '' })
    expect((await readdir(folder)).sort()).toEqual(['panel.db', 'secret.key'])
    expect(await modes(folder, join(folder, 'panel.db'), join(folder, 'secret.key'))).toEqual(['700', '600', '600'])
    expect(await everything(join(folder, 'panel.db'))).toEqual(saved.rows)
    await expectToServe(folder, saved.data)
    expect(await contents(away)).toEqual(before)
  },
  PROGRAM_MS,
)

test('restored files are accessible to the owner only, whatever their mode and the umask', async () => {
  const { file, restore } = await place()
  for (const suffix of ['', '.key']) await chmod(`${file}${suffix}`, 0o644)
  const folder = join(await noFolder(), 'deep')
  const umask = process.umask(0)
  onTestFinished(() => void process.umask(umask))

  expect((await restore(folder)).code).toBe(0)

  expect(await modes(folder, join(folder, 'panel.db'), join(folder, 'secret.key'))).toEqual(['700', '600', '600'])
})

test('a restore keeps the old database and its key next to the new ones, with their rows', async () => {
  const { away, folder, database, restore } = await place()
  const before = await contents(away)
  const key = await keyOf(folder)

  expect(await restore()).toEqual({
    code: 0,
    stdout: `Restauré : ${database}\nL’ancienne base est gardée : ${database}${KEPT}\n${SESSIONS}`,
    stderr: '',
  })

  // SQLite’s own journal of the old one goes when the process ends.
  const names = (await readdir(folder)).filter((name) => name !== 'panel.db-journal').sort()
  expect(names).toEqual(['panel.db', `panel.db${KEPT}`, 'secret.key', `secret.key${KEPT}`])
  expect(new Set(await modes(...names.map((name) => join(folder, name))))).toEqual(new Set(['600']))
  expect(await everything(database)).toEqual(saved.rows)
  await expectToServe(folder, saved.data)
  expect(await everything(`${database}${KEPT}`)).toEqual(other.rows)
  expect((await readFile(join(folder, `secret.key${KEPT}`), 'utf8')).trim()).toBe(key)
  expect(await contents(away)).toEqual(before)

  // Moved back to their places, they work as before.
  const again = await temporaryFolder()
  for (const name of ['panel.db', 'secret.key']) await copyFile(join(folder, `${name}${KEPT}`), join(again, name))
  await expectToServe(again, other.data)
})

test('a restore with the same key in place leaves the key unchanged, and keeps no copy', async () => {
  const { file } = await place()
  const folder = await copyOf(saved.data.folder)
  const before = await stat(join(folder, 'secret.key'))

  expect((await type({ PANEL_DATA_DIR: folder }, 'restore', file)).code).toBe(0)

  expect((await readdir(folder)).filter((name) => name.startsWith('secret.key'))).toEqual(['secret.key'])
  expect((await stat(join(folder, 'secret.key'))).ino).toBe(before.ino)
  await expectToServe(folder, saved.data)
})

test(
  'writes that a killed service left in its log are kept with the old database',
  async () => {
    const { file } = await place()
    const folder = await temporaryFolder()
    const env = {
      PANEL_DATA_DIR: folder,
      PANEL_JWT_KEY: inject('signingKey').pem,
      PANEL_SSH_HOST: 'killed.test',
    }
    const service = startProgram(env)
    await service.said('"ready"')
    service.kill('SIGKILL')
    await service.ended
    expect((await stat(join(folder, 'panel.db-wal'))).size).toBeGreaterThan(0)
    const before = await everything(join(folder, 'panel.db'))
    expect(before.settings).toEqual([expect.objectContaining({ key: 'ssh_host', value: 'killed.test' })])

    expect((await type({ PANEL_DATA_DIR: folder }, 'restore', file)).code).toBe(0)

    // The single file is enough to restore from.
    const kept = await temporaryFolder()
    await copyFile(join(folder, `panel.db${KEPT}`), join(kept, 'panel.db'))
    expect(await everything(join(kept, 'panel.db'))).toEqual(before)
    expect(await readdir(folder)).not.toContain('panel.db-wal')
    expect(await everything(join(folder, 'panel.db'))).toEqual(saved.rows)
  },
  PROGRAM_MS,
)

test(
  'while a service runs, a restore is refused, changes nothing, and the service continues',
  async () => {
    const { file } = await place()
    const folder = await copyOf(other.data.folder)
    const service = startProgram({ PANEL_DATA_DIR: folder, PANEL_JWT_KEY: inject('signingKey').pem })
    await service.said('"ready"')
    const url = /"url":"([^"]+)"/.exec(service.stdout())?.[1] ?? ''
    // The service has tasks that write.
    service.kill('SIGSTOP')
    const before = await contents(folder)

    expect(await runProgram({ PANEL_DATA_DIR: folder }, 'restore', file)).toEqual(
      refusal('un service utilise cette base : arrêtez-le, puis recommencez.'),
    )

    expect(await contents(folder)).toEqual(before)
    service.kill('SIGCONT')
    expect((await fetch(`${url}/api/health`)).status).toBe(200)
    service.kill('SIGTERM')
    expect(await service.ended).toBe(0)
    expect(service.stdout()).not.toContain('"level":50')
    expect((await type({ PANEL_DATA_DIR: folder }, 'restore', file)).code).toBe(0)
    await expectToServe(folder, saved.data)
  },
  PROGRAM_MS,
)

/** Creates a file with a table of another program. */
const foreign = (file: string) => withFile(file, (query) => query('CREATE TABLE other (id INTEGER)'))

const NO_BACKUP: [name: string, make: (file: string, size: number) => Promise<unknown>][] = [
  ['that is cut off in the middle', (file, size) => truncate(file, size / 2)],
  ['without its last byte', (file, size) => truncate(file, size - 1)],
  ['with a damaged page', (file, size) => damage(file, size / 2)],
  ['that is no database', (file) => writeFile(file, 'hello, world\n'.repeat(5_000))],
  ['that is empty', (file) => writeFile(file, '')],
  ['of another program', (file) => rm(file).then(() => foreign(file))],
]

/** Overwrites a page. */
async function damage(file: string, at: number): Promise<void> {
  const bytes = await readFile(file)
  await writeFile(file, Buffer.concat([bytes.subarray(0, at), randomBytes(16_384), bytes.subarray(at + 16_384)]))
}

test.each(NO_BACKUP)('a file %s is refused, and nothing is changed', async (_, make) => {
  const { away, file, folder, restore } = await place()
  await make(file, (await stat(file)).size)
  const [before, files, fresh] = [await contents(folder), await contents(away), await noFolder()]

  for (const target of [folder, fresh]) {
    const { code, stdout, stderr } = await restore(target)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(WHOLE_ONLY)
    expect(stderr).toContain(`: ${file} `)
  }

  expect(await contents(folder)).toEqual(before)
  expect((await contents(fresh)) ?? {}).toEqual({})
  expect(await contents(away)).toEqual(files)
})

test('a missing file is refused, and no folder is created', async () => {
  const { file, restore } = await place()
  await rm(file)
  const fresh = await noFolder()

  expect(await restore(fresh)).toEqual(refusal(`il n’y a pas de fichier ${file}.`))

  expect(await contents(fresh)).toBeUndefined()
})

test('a backup of a newer service is refused, and nothing is changed', async () => {
  const { file, folder, restore } = await place()
  await withFile(file, (query) => query(`INSERT INTO schema_version VALUES (${SCHEMA_VERSION + 1}, '')`))
  const [before, bytes] = [await contents(folder), await fingerprint(file)]

  expect(await restore()).toEqual(
    refusal(`${file} vient d’une version plus récente : mettez d’abord ce programme à jour.`),
  )

  expect(await contents(folder)).toEqual(before)
  expect(await fingerprint(file)).toBe(bytes)
})

test('a backup of an older service is restored, and migrated when the service starts', async () => {
  const [making, away] = [await temporaryFolder(), await temporaryFolder()]
  const older = await openDatabase(`file:${making}/panel.db`)
  await migrate(older, new Date(NOW), [first])
  await older.run(`INSERT INTO settings VALUES ('ssh_host', 'old.test', '')`)
  await older.close()
  await writeFile(join(making, 'secret.key'), `${randomBytes(32).toString('base64')}\n`)
  const file = join(away, 'b.db')
  expect((await type({ PANEL_DATA_DIR: making }, 'backup', file)).code).toBe(0)
  const folder = await noFolder()

  expect((await type({ PANEL_DATA_DIR: folder }, 'restore', file)).code).toBe(0)

  expect((await everything(join(folder, 'panel.db'))).schema_version).toHaveLength(1)
  const copy = await copyOf(folder)
  const { db } = await openStorage(readConfig({ PANEL_DATA_DIR: copy }), () => new Date(NOW))
  await db.close()
  const { schema_version: versions, settings } = await everything(join(copy, 'panel.db'))
  expect(versions).toHaveLength(SCHEMA_VERSION)
  expect(settings).toEqual([{ key: 'ssh_host', value: 'old.test', updated_at: '' }])
  expect(await keyOf(folder)).toBe(await keyOf(making))
})

test('a backup with a wrong key next to it is refused unchanged, and is restored once its own is there', async () => {
  const { away, file, folder, restore } = await place()
  const [before, key] = [await contents(folder), await readFile(`${file}.key`)]
  await copyFile(join(folder, 'secret.key'), `${file}.key`)
  const files = await contents(away)

  expect(await restore()).toEqual(WRONG_KEY)

  expect(await contents(folder)).toEqual(before)
  expect(await contents(away)).toEqual(files)
  await writeFile(`${file}.key`, key)
  expect((await restore()).code).toBe(0)
  await expectToServe(folder, saved.data)
})

test('a secret that an earlier key sealed does not prevent a restore', async () => {
  const { file, folder, restore } = await place()
  await withFile(file, (query) => query(`UPDATE settings SET value = 'v1.AAAA' WHERE key = 'hypervisor_token'`))

  expect((await restore()).code).toBe(0)

  await expectToServe(folder, saved.data)
})

test('where PANEL_SECRET_KEY is not the key of the backup, it is refused, and nothing is changed', async () => {
  const { file, folder, restore } = await place()
  const [before, fresh] = [await contents(folder), await noFolder()]
  const env = { PANEL_SECRET_KEY: randomBytes(32).toString('base64') }

  for (const target of [folder, fresh])
    expect(await restore(target, env)).toEqual(
      refusal(
        `PANEL_SECRET_KEY n’est pas la clé de cette sauvegarde : donnez-lui celle de ${file}.key, ou retirez-la.`,
      ),
    )

  expect(await contents(folder)).toEqual(before)
  expect(await contents(fresh)).toBeUndefined()
})

test('where PANEL_SECRET_KEY is not the key of a backup without a key file, the backup is refused', async () => {
  const { file, folder, restore } = await place()
  await rm(`${file}.key`)
  const before = await contents(folder)

  expect(await restore(folder, { PANEL_SECRET_KEY: randomBytes(32).toString('base64') })).toEqual(WRONG_KEY)

  expect(await contents(folder)).toEqual(before)
})

test.each([true, false])(
  'where PANEL_SECRET_KEY is the right key, no key is written (next to the backup: %s)',
  async (there) => {
    const { file, restore } = await place()
    if (!there) await rm(`${file}.key`)
    const folder = await noFolder()
    const env = { PANEL_SECRET_KEY: await keyOf(saved.data.folder) }

    expect((await restore(folder, env)).code).toBe(0)

    expect(await readdir(folder)).toEqual(['panel.db'])
    await expectToServe(folder, saved.data, env)
  },
)

test('nothing is restored when neither the key of the backup nor another key exists', async () => {
  const { file, folder, restore } = await place()
  await rm(`${file}.key`)
  await rm(join(folder, 'secret.key'))
  const [before, fresh] = [await contents(folder), await noFolder()]

  for (const target of [folder, fresh])
    expect(await restore(target)).toEqual(
      refusal(`la clé des secrets manque : remettez ${file}.key, ou indiquez PANEL_SECRET_KEY.`),
    )

  expect(await contents(folder)).toEqual(before)
  expect(await contents(fresh)).toBeUndefined()
})

test.each([
  ['is empty', ''],
  ['is too short', `${randomBytes(16).toString('base64')}\n`],
  ['is too long', `${randomBytes(33).toString('base64')}\n`],
])('when the key next to the backup %s, nothing is restored, even if another key exists', async (_, text) => {
  const { file, folder, restore } = await place()
  await writeFile(`${file}.key`, text)
  const [before, fresh] = [await contents(folder), await noFolder()]

  for (const target of [folder, fresh])
    expect(await restore(target)).toEqual(refusal(`${file}.key ne contient pas 32 octets en base64.`))

  expect(await contents(folder)).toEqual(before)
  expect(await contents(fresh)).toBeUndefined()
})

test('a backup without its key file is restored with the existing key', async () => {
  const { file } = await place()
  await rm(`${file}.key`)
  const folder = await copyOf(saved.data.folder)
  const key = await keyOf(folder)

  expect((await type({ PANEL_DATA_DIR: folder }, 'restore', file)).code).toBe(0)

  expect(await keyOf(folder)).toBe(key)
  await expectToServe(folder, saved.data)
})

test('a backup without its key file is refused when the existing key is another one', async () => {
  const { file, folder, restore } = await place()
  await rm(`${file}.key`)
  const before = await contents(folder)

  expect(await restore()).toEqual(WRONG_KEY)

  expect(await contents(folder)).toEqual(before)
})

test.each([
  ['cut off in the middle', (file: string, size: number) => truncate(file, size / 2)],
  ['that is no database', (file: string) => writeFile(file, randomBytes(100_000))],
])('a database %s is replaced by the restore, and kept byte for byte, with its logs', async (_, make) => {
  const { folder, database, restore } = await place()
  await make(database, (await stat(database)).size)
  for (const log of ['-wal', '-shm']) await writeFile(`${database}${log}`, randomBytes(10_000))
  const { 'secret.key': key, ...broken } = { ...(await contents(folder)) }

  expect((await restore()).code).toBe(0)

  const { 'panel.db': restored, 'secret.key': ownKey, ...kept } = { ...(await contents(folder)) }
  const renamed = Object.entries(broken).map(([name, bytes]) => [name.replace('panel.db', `panel.db${KEPT}`), bytes])
  expect(kept).toEqual({ ...Object.fromEntries(renamed), [`secret.key${KEPT}`]: key })
  expect(restored).toBe(await fingerprint(join(backups, 'b.db')))
  expect(ownKey).toBe(await fingerprint(join(backups, 'b.db.key')))
  expect(await everything(database)).toEqual(saved.rows)
  await expectToServe(folder, saved.data)
})

test.each([
  ['without its last byte', (file: string, size: number) => truncate(file, size - 1)],
  ['with a damaged page', (file: string, size: number) => damage(file, size / 2)],
  ['that is empty', (file: string) => writeFile(file, '')],
  ['of another program', (file: string) => rm(file).then(() => foreign(file))],
])('a database %s is replaced by the restore, and its contents are kept', async (_, make) => {
  const { folder, database, restore } = await place()
  await make(database, (await stat(database)).size)
  const broken = await readFile(database)
  for (const log of ['-wal', '-shm']) await writeFile(`${database}${log}`, randomBytes(10_000))

  expect((await restore()).code).toBe(0)

  const kept = await readFile(`${database}${KEPT}`)
  // The header says that there is no write-ahead log any more.
  expect(kept.subarray(100, Math.max(100, broken.length)).equals(broken.subarray(100))).toBe(true)
  const names = await readdir(folder)
  for (const log of ['-wal', '-shm']) expect(names).not.toContain(`panel.db${log}`)
  expect(await everything(database)).toEqual(saved.rows)
  await expectToServe(folder, saved.data)
})

test('the restored database does not read logs that another database left behind', async () => {
  const { file } = await place()
  const folder = await temporaryFolder()
  for (const log of ['-wal', '-shm']) await writeFile(join(folder, `panel.db${log}`), randomBytes(10_000))

  expect((await type({ PANEL_DATA_DIR: folder }, 'restore', file)).code).toBe(0)

  expect((await readdir(folder)).sort()).toEqual(['panel.db', 'secret.key'])
  await expectToServe(folder, saved.data)
})

test('the restored database does not apply a journal that another database left behind', async () => {
  const { file } = await place()
  const [folder, unfinished] = [await temporaryFolder(), await copyOf(other.data.folder)]
  await writeFile(join(folder, 'panel.db-journal'), await hotJournal(join(unfinished, 'panel.db')))

  expect((await type({ PANEL_DATA_DIR: folder }, 'restore', file)).code).toBe(0)

  expect(await everything(join(folder, 'panel.db'))).toEqual(saved.rows)
  expect((await readdir(folder)).sort()).toEqual(['panel.db', 'secret.key'])
})

/** The rollback journal of a transaction in progress. */
async function hotJournal(file: string): Promise<Buffer> {
  const client = createClient({ url: `file:${file}`, concurrency: 1 })
  // With this little memory the journal is on the disk before the transaction ends.
  await client.executeMultiple('PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1')
  const transaction = await client.transaction('write')
  try {
    await transaction.execute(`UPDATE settings SET value = 'unfinished'`)
    await transaction.execute('CREATE TABLE large (x)')
    await transaction.execute(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
                               INSERT INTO large SELECT randomblob(10000) FROM n`)
    return await readFile(`${file}-journal`)
  } finally {
    await transaction.rollback()
    client.close()
  }
}

test('a manual copy of a stopped service’s database is restored like a backup', async () => {
  const [away, folder] = [await copyOf(saved.data.folder), await copyOf(other.data.folder)]
  const file = join(away, 'panel.db')
  await copyFile(join(away, 'secret.key'), `${file}.key`)
  const before = await contents(away)

  expect((await type({ PANEL_DATA_DIR: folder }, 'restore', file)).code).toBe(0)

  expect(await contents(away)).toEqual(before)
  expect(await everything(join(folder, 'panel.db'))).toEqual(saved.rows)
  await expectToServe(folder, saved.data)
  expect((await readdir(folder)).filter((name) => name.includes('.restore'))).toEqual([])
})

test.each(['-wal', '-journal'])('the copied file of a service is refused while its %s is next to it', async (log) => {
  const { away, file, folder, restore } = await place()
  await writeFile(`${file}${log}`, 'rows')
  const [before, files] = [await contents(folder), await contents(away)]

  expect(await restore()).toEqual(
    refusal(
      `${file}${log} l’accompagne : c’est la base d’un service, pas une sauvegarde. Faites-en une avec « backup ».`,
    ),
  )

  expect(await contents(folder)).toEqual(before)
  expect(await contents(away)).toEqual(files)
  // An empty log contains nothing.
  await writeFile(`${file}${log}`, '')
  expect((await restore()).code).toBe(0)
  expect(await everything(join(folder, 'panel.db'))).toEqual(saved.rows)
})

test('after an interrupted restore, another one works and removes what the first left', async () => {
  const { folder, database, restore } = await place()
  const left = `${database}.restore-7d1c7f0e-6a43-4b3e-9c1c-0e6a5d0f2b11`
  for (const suffix of ['', '-wal', '-shm']) await writeFile(`${left}${suffix}`, randomBytes(100_000), { mode: 0o644 })

  expect((await restore()).code).toBe(0)

  expect((await readdir(folder)).filter((name) => name.includes('.restore'))).toEqual([])
  expect(await modes(database)).toEqual(['600'])
  expect(await everything(database)).toEqual(saved.rows)
  await expectToServe(folder, saved.data)
})

test('a backup next to the database is not mistaken for a leftover of an earlier restore', async () => {
  const { file, folder, database } = await place()
  const near = `${database}.restore-me`
  for (const suffix of ['', '.key']) await copyFile(`${file}${suffix}`, `${near}${suffix}`)

  expect((await type({ PANEL_DATA_DIR: folder }, 'restore', near)).code).toBe(0)

  expect(await everything(database)).toEqual(saved.rows)
  expect(await fingerprint(near)).toBe(await fingerprint(file))
  expect(await readFile(`${near}.key`, 'utf8')).toBe(await readFile(`${file}.key`, 'utf8'))
})

test.each(['panel.db', 'secret.key'])('a restore never replaces an earlier kept %s', async (name) => {
  const { folder, database, restore } = await place()
  await writeFile(join(folder, `${name}${KEPT}`), 'precious')

  expect(await restore()).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('EEXIST') })

  expect(await readFile(join(folder, `${name}${KEPT}`), 'utf8')).toBe('precious')
  const kept = name === 'panel.db' ? database : `${database}${KEPT}`
  expect(await everything(kept)).toEqual(other.rows)
  expect(await keyOf(folder)).toBe(await keyOf(other.data.folder))
  expect((await readdir(folder)).filter((each) => each.includes('.restore'))).toEqual([])
})

test('a name may contain characters with a special meaning in an address', async () => {
  const { file } = await place()
  const odd = join(await temporaryFolder(), 'a %41?mode=memory#é')
  await makeFolder(odd)
  const folder = join(odd, 'data %42')
  const renamed = join(odd, 'b %43?#.db')
  for (const suffix of ['', '.key']) await copyFile(`${file}${suffix}`, `${renamed}${suffix}`)

  expect((await type({ PANEL_DATA_DIR: folder }, 'restore', renamed)).code).toBe(0)
  expect((await type({ PANEL_DATA_DIR: folder }, 'restore', renamed)).code).toBe(0)
  expect((await type({ PANEL_DATA_DIR: folder }, 'backup', join(odd, 'c %44?#.db'))).code).toBe(0)

  expect((await readdir(folder)).filter((name) => !/-(wal|shm|journal)$/.test(name)).sort()).toEqual([
    'panel.db',
    `panel.db${KEPT}`,
    'secret.key',
  ])
  expect((await readdir(odd)).sort()).toEqual([
    'b %43?#.db',
    'b %43?#.db.key',
    'c %44?#.db',
    'c %44?#.db.key',
    'data %42',
  ])
  expect(await everything(join(folder, 'panel.db'))).toEqual(saved.rows)
  expect(await everything(join(odd, 'c %44?#.db'))).toEqual(saved.rows)
})

test('after a restore interrupted between database and key, another one installs the key', async () => {
  const { file, folder, database, restore } = await place()
  await copyFile(file, database)
  const key = await keyOf(folder)

  expect((await restore()).code).toBe(0)

  expect((await readFile(join(folder, `secret.key${KEPT}`), 'utf8')).trim()).toBe(key)
  expect(await everything(database)).toEqual(saved.rows)
  await expectToServe(folder, saved.data)
})

/** The operations of a restore on these names, in this order. */
const STEPS: [event: 'change' | 'rename', name: RegExp][] = [
  ['rename', /^panel\.db\.restore-[^.]+$/],
  ['rename', /^panel\.db-journal$/],
  ['change', /^panel\.db$/],
  ['rename', /^panel\.db\.avant-/],
  ['rename', /^panel\.db$/],
  ['rename', /^secret\.key\.avant-/],
]

test(
  'a restore killed at any moment leaves a whole database, old or new, and can be repeated',
  async () => {
    const rounds = STEPS.map(async ([step, what]) => {
      const { file, folder, database, restore } = await place()
      const program = startProgram({ PANEL_DATA_DIR: folder }, 'restore', file)
      const watcher = watch(folder, (event, name) => {
        if (event === step && what.test(name ?? '')) program.kill('SIGKILL')
      })
      const code = await program.ended
      watcher.close()

      expect([other.rows, saved.rows]).toContainEqual(await everything(database))
      expect((await restore()).code).toBe(0)
      expect(await everything(database)).toEqual(saved.rows)
      await expectToServe(folder, saved.data)
      const names = await readdir(folder)
      expect(names.filter((name) => name.includes('.restore'))).toEqual([])
      // The old database has not gone either, nor has its key.
      const kept = names.filter((name) => /^panel\.db\.avant-[^.]+Z$/.test(name))
      const keptRows = await Promise.all(kept.map((name) => everything(join(folder, name))))
      expect(keptRows).toContainEqual(other.rows)
      const keys = names.filter((name) => name.startsWith('secret.key.avant-'))
      const keptKeys = await Promise.all(keys.map((name) => readFile(join(folder, name), 'utf8')))
      expect(new Set(keptKeys)).toEqual(new Set([`${await keyOf(other.data.folder)}\n`]))
      return code
    })

    // Some restores ended before the kill, but not all.
    expect(await Promise.all(rounds)).toContain(null)
  },
  PROGRAM_MS,
)

test(
  'a full disk leaves everything unchanged',
  async () => {
    const { file, folder } = await place()
    const before = await contents(folder)
    // Not enough for the backup: 200 KB, or twice that with blocks of 1 KB.
    expect((await stat(file)).size).toBeGreaterThan(400 * 1024)

    expect(await runLimited(400, { ...STARTING_FAST, PANEL_DATA_DIR: folder }, 'restore', file)).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^ops-panel : « restore » a échoué : .+\n$/),
    })

    expect(await contents(folder)).toEqual(before)
  },
  PROGRAM_MS,
)

test('restored files belong to the owner of the previous data, or of the folder', async () => {
  const { file } = await place()
  // Only root can change the owner of files.
  const owner = process.getuid?.() === 0 ? [12_345, 12_346] : [process.getuid?.(), process.getgid?.()]
  const [uid = 0, gid = 0] = owner
  const [folder, empty] = [await copyOf(other.data.folder), await temporaryFolder()]
  await chown(join(folder, 'panel.db'), uid, gid)
  await chown(empty, uid, gid)

  for (const target of [folder, empty]) {
    expect((await type({ PANEL_DATA_DIR: target }, 'restore', file)).code).toBe(0)
    for (const name of ['panel.db', 'secret.key']) {
      const made = await stat(join(target, name))
      expect([made.uid, made.gid]).toEqual([uid, gid])
    }
  }
})

test('a remote database is refused, and nothing is written', async () => {
  const { file, folder, restore } = await place()
  const before = await contents(folder)

  expect(await restore(folder, { PANEL_DATABASE_URL: 'libsql://db.test' })).toEqual(
    refusal('la base est distante : restaurez-la sur son serveur.'),
  )

  expect(await contents(folder)).toEqual(before)
  expect((await stat(file)).size).toBeGreaterThan(0)
})
