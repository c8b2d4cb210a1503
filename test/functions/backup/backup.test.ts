import { randomBytes } from 'node:crypto'
import { copyFile, open as openFile, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../../db/libsql/client.ts'
import { migrate, SCHEMA_VERSION } from '../../../db/migrate.ts'
import { sql as first } from '../../../db/migrations/0001-first.ts'
import { writeSettings } from '../../../db/settings.ts'
import { createSecrets, decodeKey } from '../../../platform/secrets.ts'
import { NOW, open } from '../../db/database.ts'
import { temporaryFolder } from '../../db/folder.ts'
import { type Canary, canary, password, search, token } from '../../property/canaries.ts'
import { startDemo } from '../../runtime/demo.ts'
import { runProgram, STARTING_FAST } from '../../serve/program.ts'
import { startService } from '../../serve/service.ts'
import {
  contents,
  copyOf,
  type Data,
  everything,
  makeData,
  modes,
  noFolder,
  PROGRAM_MS,
  refusal,
  runLimited,
  type,
  withCopy,
  withFile,
} from './data.ts'

/** Generous for a busy machine. */
const SOON = { timeout: 20_000 }

let data: Data
beforeAll(async () => {
  data = await makeData('pve.test', afterAll)
})

/** Makes a folder with that data, an empty one for the backup, and the command. */
async function place(from = data.folder, env: Record<string, string> = {}) {
  const [folder, away] = [await copyOf(from), await temporaryFolder()]
  const file = join(away, 'b.db')
  return { folder, away, file, backup: (to = file) => type({ PANEL_DATA_DIR: folder, ...env }, 'backup', to) }
}

test(
  'while a service runs and a job writes, each backup is complete and consistent',
  async () => {
    const demo = await startDemo()
    const [folder, away] = [await temporaryFolder(), await temporaryFolder()]
    const service = await startService(demo, { PANEL_DATA_DIR: folder })
    const beside = await open(`file:${folder}/panel.db`)
    // 4 MB, so that a copy takes longer than a few writes.
    await beside.run(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250)
    INSERT INTO audit (at, action, ip, details) SELECT '', 'logout', '', hex(randomblob(8000)) FROM n`)
    const done = new AbortController()
    onTestFinished(() => done.abort())
    demo.upgradeOutput = async function* () {
      // The output stays in memory: no more of it than the test reads, and an end in any case.
      for (let n = 0; n < 2_000 && !done.signal.aborted; n += 1) {
        yield `line ${n}\n`
        await pause(20)
      }
    }
    const id = await service.run('host')
    await expect.poll(async () => (await service.job(id))?.output.length ?? 0, SOON).toBeGreaterThan(0)
    // Two values that one transaction changes, repeatedly: read at different times they would differ.
    let round = 0
    const writer = (async () => {
      for (; round < 20_000 && !done.signal.aborted; round += 1) {
        await writeSettings(beside, { hypervisor_url: `${round}`, hypervisor_fingerprint: `${round}` }, NOW)
        await pause(2)
      }
    })()

    const from = round
    const names = ['one.db', 'two.db']
    const answers = names.map((name) => runProgram({ PANEL_DATA_DIR: folder }, 'backup', join(away, name)))
    for (const answer of await Promise.all(answers)) expect(answer).toMatchObject({ code: 0, stderr: '' })
    const until = round
    for (const name of names) {
      await withFile(join(away, name), async (query) => {
        expect(await query('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
        const [pair] = await query(`SELECT min(value + 0) AS least, max(value + 0) AS most FROM settings
                                  WHERE key IN ('hypervisor_url', 'hypervisor_fingerprint')`)
        expect(pair?.most).toBe(pair?.least)
        expect(pair?.most).toBeGreaterThanOrEqual(from - 1)
        expect(pair?.most).toBeLessThan(until)
        const jobs = await query(`SELECT status, output_size > 0 AS begun,
        output_size - (SELECT sum(length(chunk)) FROM job_output WHERE job_id = id) AS missing FROM jobs`)
        expect(jobs).toEqual([{ status: 'running', begun: 1, missing: 0 }])
      })
    }
    // Writes took place all the time.
    expect(until).toBeGreaterThan(from + 20)
    expect((await service.job(id))?.status).toBe('running')
    done.abort()
    await writer
    await expect.poll(async () => (await service.job(id))?.status, SOON).toBe('success')
    expect((await readdir(away)).sort()).toEqual(['one.db', 'one.db.key', 'two.db', 'two.db.key'])
  },
  PROGRAM_MS,
)

test('a backup contains every row of every table; only its two files remain, accessible to the owner only', async () => {
  const { folder, away, file, backup } = await place()
  const before = await everything(join(folder, 'panel.db'))

  expect(await backup()).toEqual({
    code: 0,
    stdout: `Sauvegarde : ${file}\nClé des secrets : ${file}.key — gardez-la ailleurs que la sauvegarde.\n`,
    stderr: '',
  })

  expect((await readdir(away)).sort()).toEqual(['b.db', 'b.db.key'])
  expect(await modes(file, `${file}.key`)).toEqual(['600', '600'])
  const copied = await everything(file)
  expect(copied).toEqual(before)
  // One user is the service itself.
  expect([copied.users, copied.jobs, copied.job_output, copied.audit].map((rows) => rows?.length)).toEqual([2, 1, 1, 1])
  expect(copied.signing_keys?.length).toBe(1)
  // The copied data stay as they were.
  expect(await everything(join(folder, 'panel.db'))).toEqual(before)
})

test('the key in the backup is the one of secret.key, and opens its secrets', async () => {
  const { folder, file, backup } = await place()

  expect((await backup()).code).toBe(0)

  const text = await readFile(`${file}.key`, 'utf8')
  expect(text).toBe(await readFile(join(folder, 'secret.key'), 'utf8'))
  const [row] = await withFile(file, (query) => query(`SELECT value FROM settings WHERE key = 'ssh_password'`))
  expect(createSecrets(decodeKey(text)).open('ssh_password', `${row?.value}`)).toBe(data.password)
})

test('the key in the backup is PANEL_SECRET_KEY when that is set', async () => {
  const env = { PANEL_SECRET_KEY: randomBytes(32).toString('base64') }
  const own = await makeData('own.test', onTestFinished, env)
  const { folder, file, backup } = await place(own.folder, env)
  await writeFile(join(folder, 'secret.key'), `${randomBytes(32).toString('base64')}\n`)

  expect((await backup()).code).toBe(0)

  expect(await readFile(`${file}.key`, 'utf8')).toBe(`${env.PANEL_SECRET_KEY}\n`)
  expect(await modes(`${file}.key`)).toEqual(['600'])
  const [row] = await withFile(file, (query) => query(`SELECT value FROM settings WHERE key = 'ssh_password'`))
  const secrets = createSecrets(Buffer.from(env.PANEL_SECRET_KEY, 'base64'))
  expect(secrets.open('ssh_password', `${row?.value}`)).toBe(own.password)
})

/** Secrets that must not be in a backup without its key. */
async function secretsOf({ folder, ...known }: Data): Promise<Canary[]> {
  const lines = known.pem.split('\n').filter((line) => line.length > 20 && !line.includes('-----'))
  return [
    canary('the secret key', decodeKey(await readFile(join(folder, 'secret.key'), 'utf8'))),
    password('the SSH password', known.password),
    canary('the hypervisor’s token', known.apiToken),
    ...token('the refresh token', known.refresh),
    ...token('the access token', known.access),
    // The first lines of a private key contain its public half, which may be known.
    ...lines.slice(8).map((line, at) => canary(`line ${at} of the signing key`, line)),
  ]
}

test('the backup without its key contains no secret in any form', async () => {
  const { file, backup } = await place()
  const secrets = await secretsOf(data)
  expect(secrets.length).toBeGreaterThan(20)

  expect((await backup()).code).toBe(0)

  expect(search(await readFile(file), secrets)).toEqual([])
  const names = (where: Buffer | string) => new Set(search(where, secrets).map(({ canary: name }) => name))
  // Checks that the search finds what exists.
  expect(names(await readFile(`${file}.key`))).toEqual(new Set(['the secret key']))
  await withFile(file, (query) =>
    query(`INSERT INTO settings VALUES ('a', '${data.password}', ''), ('b', '${data.refresh}', ''),
           ('c', '${Buffer.from(data.pem).toString('hex')}', ''), ('d', '${encodeURIComponent(data.apiToken)}', '')`),
  )
  const found = names(await readFile(file))
  expect(found).toContain('the SSH password')
  expect(found).toContain('the hypervisor’s token')
  expect(found).toContain('the refresh token')
  expect(found).toContain('line 3 of the signing key')
  expect(found).not.toContain('the access token')
})

test.each([
  ['<file>', ['']],
  ['<file>.key', ['.key']],
  ['each of the two', ['', '.key']],
])('where %s exists, nothing is overwritten or written', async (_, suffixes) => {
  const { away, file, backup } = await place()
  for (const suffix of suffixes) await writeFile(`${file}${suffix}`, 'precious')
  const before = await contents(away)

  expect(await backup()).toEqual(refusal(`${file}${suffixes[0]} existe déjà : rien n’a été écrasé.`))

  expect(await contents(away)).toEqual(before)
})

test('an existing file is not overwritten, even with the same key next to it', async () => {
  const { folder, away, file, backup } = await place()
  await writeFile(file, 'precious')
  await copyFile(join(folder, 'secret.key'), `${file}.key`)
  const before = await contents(away)

  expect(await backup()).toEqual(refusal(`${file} existe déjà : rien n’a été écrasé.`))

  expect(await contents(away)).toEqual(before)
})

test('an existing identical key, as left by an interrupted backup, stays unchanged', async () => {
  const { folder, away, file, backup } = await place()
  await copyFile(join(folder, 'secret.key'), `${file}.key`)
  const before = await stat(`${file}.key`)

  expect((await backup()).code).toBe(0)

  expect((await readdir(away)).sort()).toEqual(['b.db', 'b.db.key'])
  const after = await stat(`${file}.key`)
  expect([after.ino, after.mtimeMs]).toEqual([before.ino, before.mtimeMs])
  expect(await everything(file)).toEqual(await everything(join(folder, 'panel.db')))
})

test(
  'a missing target folder is reported, and nothing is written',
  async () => {
    const { folder, away } = await place()
    const before = await contents(folder)

    const answer = await runProgram({ PANEL_DATA_DIR: folder }, 'backup', join(away, 'no/b.db'))

    expect(answer).toEqual(refusal(`il n’y a pas de dossier ${away}/no.`))
    expect(answer.stderr).not.toContain('démarrer')
    expect(await readdir(away)).toEqual([])
    expect(await contents(folder)).toEqual(before)
  },
  PROGRAM_MS,
)

test(
  'a full disk leaves no part of a backup, and the database unchanged',
  async () => {
    const { folder, away, file } = await place()
    const before = await everything(join(folder, 'panel.db'))
    // Not enough for a copy: 200 KB, or twice that with blocks of 1 KB.
    expect((await stat(join(folder, 'panel.db'))).size).toBeGreaterThan(400 * 1024)

    expect(await runLimited(400, { ...STARTING_FAST, PANEL_DATA_DIR: folder }, 'backup', file)).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^ops-panel : « backup » a échoué : .+\n$/),
    })

    expect(await readdir(away)).toEqual([])
    expect(await everything(join(folder, 'panel.db'))).toEqual(before)
  },
  PROGRAM_MS,
)

test('a damaged database is not backed up, and nothing remains', async () => {
  const { folder, away, backup } = await place()
  const source = await openFile(join(folder, 'panel.db'), 'r+')
  const { size } = await source.stat()
  await source.write(randomBytes(size / 2), 0, size / 2, size / 4)
  await source.close()

  const { code, stdout, stderr } = await backup()

  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^ops-panel : la base de données est endommagée \(.*SQLITE_CORRUPT.*\)\. .*« restore ».*\n$/)
  expect(await readdir(away)).toEqual([])
})

test('a database of another program is not backed up, and nothing remains', async () => {
  const { folder, away, backup } = await place()
  await rm(join(folder, 'panel.db'))
  await withFile(join(folder, 'panel.db'), (query) => query('CREATE TABLE other (id INTEGER)'))

  expect(await backup()).toEqual(
    refusal('la base est celle d’un autre programme (tables other) : indiquez une autre PANEL_DATABASE_URL.'),
  )

  expect(await readdir(away)).toEqual([])
})

test('a dangling link is not followed, and no key remains next to it', async () => {
  const { away, file, backup } = await place()
  await symlink(join(away, 'gone'), file)

  expect((await backup()).code).toBe(1)

  expect(await readdir(away)).toEqual(['b.db'])
})

test('an existing key stays, even if the name of the backup is taken meanwhile', async () => {
  const { folder, away, file, backup } = await place()
  await symlink(join(away, 'gone'), file)
  await copyFile(join(folder, 'secret.key'), `${file}.key`)

  expect((await backup()).code).toBe(1)

  expect((await readdir(away)).sort()).toEqual(['b.db', 'b.db.key'])
})

test('the database of an older service is copied and keeps its version', async () => {
  const { folder, file, backup } = await place()
  await rm(join(folder, 'panel.db'))
  const making = join(await temporaryFolder(), 'panel.db')
  const older = await openDatabase(`file:${making}`)
  await migrate(older, new Date(NOW), [first])
  await older.run(`INSERT INTO settings VALUES ('ssh_host', 'old.test', '')`)
  await older.close()
  await copyFile(making, join(folder, 'panel.db'))
  const before = await everything(join(folder, 'panel.db'))

  expect((await backup()).code).toBe(0)

  expect(await everything(file)).toEqual(before)
  expect(await everything(join(folder, 'panel.db'))).toEqual(before)
  expect(before.schema_version).toEqual([{ version: 1, applied_at: NOW }])
})

test('the database of a service that is one version behind is copied and keeps its version', async () => {
  const { folder, file, backup } = await place()
  await withFile(join(folder, 'panel.db'), (query) =>
    query(`DELETE FROM schema_version WHERE version = ${SCHEMA_VERSION}`),
  )

  expect((await backup()).code).toBe(0)

  const version = `SELECT max(version) AS version FROM schema_version`
  for (const each of [file, join(folder, 'panel.db')])
    expect(await withCopy(each, (query) => query(version))).toEqual([{ version: SCHEMA_VERSION - 1 }])
})

test('a remote database is refused, and nothing is written', async () => {
  const { folder, away, file } = await place()
  const before = await contents(folder)

  expect(await type({ PANEL_DATA_DIR: folder, PANEL_DATABASE_URL: 'libsql://db.test' }, 'backup', file)).toEqual(
    refusal('la base est distante : sauvegardez-la avec les moyens de son serveur.'),
  )

  expect(await readdir(away)).toEqual([])
  expect(await contents(folder)).toEqual(before)
})

test('without data the backup fails, and none are created', async () => {
  const [folder, away] = [await noFolder(), await temporaryFolder()]

  expect(await type({ PANEL_DATA_DIR: folder }, 'backup', join(away, 'b.db'))).toEqual(
    refusal(`aucune base de données : ${folder}/panel.db. Indiquez PANEL_DATA_DIR.`),
  )

  expect(await contents(folder)).toBeUndefined()
  expect(await readdir(away)).toEqual([])
})

test('without a key the backup fails, and none is created', async () => {
  const { folder, away, backup } = await place()
  await rm(join(folder, 'secret.key'))
  const before = await contents(folder)

  expect(await backup()).toEqual(
    refusal(`aucune clé de chiffrement : ${folder}/secret.key. Indiquez PANEL_DATA_DIR ou PANEL_SECRET_KEY.`),
  )

  expect(await contents(folder)).toEqual(before)
  expect(await readdir(away)).toEqual([])
})
