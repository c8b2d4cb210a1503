import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, copyFile, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { createClient } from '@libsql/client'
import { expect, inject } from 'vitest'
import { addAuditEntry } from '../../../db/audit.ts'
import { openDatabase } from '../../../db/libsql/client.ts'
import { saveLayout } from '../../../db/dashboard-layouts.ts'
import { addJob } from '../../../db/job-start.ts'
import { endJob } from '../../../db/jobs.ts'
import { admitHit } from '../../../db/rate-hits.ts'
import { addSession, endSessions } from '../../../db/sessions.ts'
import { saveUser } from '../../../db/users.ts'
import { createSettings } from '../../../functions/services.ts'
import { readConfig } from '../../../platform/config.ts'
import { createLog } from '../../../platform/log.ts'
import { createSecrets } from '../../../platform/secrets.ts'
import { createSessions } from '../../../sessions/sessions.ts'
import { openExisting, openStorage } from '../../../db/storage.ts'
import { explain } from '../../../cli/terminal.ts'
import { isCode } from '../../../platform/files.ts'
import { NOW } from '../../db/database.ts'
import { type OnTestFinished, temporaryFolder } from '../../db/folder.ts'
import { appendOutput } from '../../db/job.ts'
import { typeCommand } from '../console.ts'
import { bearerOf } from '../../bearer.ts'

const PROGRAM = join(import.meta.dirname, '../../../serve/main.ts')
/** The job whose output the data contain. */
const JOB = '11111111-2222-4333-8444-555555555555'

const clock = () => new Date(NOW)
const { log } = createLog({ level: 'silent', write: () => {} })

export type Data = Awaited<ReturnType<typeof makeData>>

/**
 * The data of a used and stopped service: a row in every table, two secrets, a signing key and a session. libSQL keeps
 * a closed file open, with its lock, until garbage collection. The data are therefore a copy that this process has
 * never opened, and tests inspect a folder that a command still uses through a copy too.
 */
export async function makeData(host: string, onFinished: OnTestFinished, env: Record<string, string> = {}) {
  const [made, folder] = [await temporaryFolder(onFinished), await temporaryFolder(onFinished)]
  const { db, secrets } = await openStorage(readConfig({ PANEL_DATA_DIR: made, ...env }), clock)
  const password = randomBytes(18).toString('base64url')
  const apiToken = `root@pam!panel=${randomBytes(16).toString('hex')}`
  const settings = createSettings({ db, secrets, clock, log })
  await settings.install({ ssh_host: host, ssh_username: 'panel', ssh_password: password, hypervisor_token: apiToken })
  const { pem } = inject('signingKey')
  const sessions = await createSessions({ db, secrets, clock, log, jwtKey: pem, refreshDays: 7 })
  const { id } = await saveUser(db, 'alice', true, NOW)
  const open = async () => {
    const { token, hash, expires } = await sessions.refreshToken(id)
    const session = {
      user_id: id,
      token_hash: hash,
      expires_at: expires.toISOString(),
      user_agent: 'test',
      ip: '::1',
      proven_by: 'password',
    } as const
    return { refresh: token, sid: await addSession(db, session, NOW) }
  }
  const ended = await open()
  const { refresh, sid } = await open()
  await endSessions(db, { userId: id, id: ended.sid }, NOW)
  const access = await sessions.accessToken(
    bearerOf({ id, username: 'alice', isAdmin: true, sid: String(sid) }, new Date(NOW)),
  )
  const row = { id: JOB, kind: 'upgrade', args: '{}', queue: 'host', target: 'host', started_at: NOW, started_by: id }
  const job = await addJob(db, row, { owner: 'test', leaseMs: 1_000 })
  await appendOutput(db, job, { offset: 0, bytes: Buffer.from([0xc3, 0xa9, 0x0a, 0x00, 0x1b]) }, 5)
  await endJob(db, job, { status: 'success', error: null, error_code: null, exit_code: 0 }, { now: NOW })
  await saveLayout(db, id, '[]', NOW)
  await admitHit(db, 'login', '::1', { limit: 5, windowMs: 60_000, nowMs: clock().getTime() })
  const entry = { action: 'login_success', user_id: id, username: 'alice', target: null, ip: '::1', details: null }
  await addAuditEntry(db, entry, NOW)
  await db.close()
  for (const name of ['panel.db', ...(env.PANEL_SECRET_KEY === undefined ? ['secret.key'] : [])]) {
    await copyFile(join(made, name), join(folder, name))
    // The mode that the program sets.
    await chmod(join(folder, name), 0o600)
  }
  return { folder, host, userId: id, sid, password, apiToken, refresh, access, pem }
}

/** Copies a folder for the running test. */
export async function copyOf(folder: string): Promise<string> {
  const copy = await temporaryFolder()
  for (const name of await readdir(folder)) await copyIfThere(join(folder, name), join(copy, name))
  return copy
}

/** SQLite removes its journals at any time. */
async function copyIfThere(file: string, copy: string): Promise<void> {
  try {
    await copyFile(file, copy)
  } catch (error) {
    if (!isCode(error, 'ENOENT')) throw error
  }
}

/** Returns the name of a new folder of the running test, which does not exist yet. */
export async function noFolder(): Promise<string> {
  return join(await temporaryFolder(), 'data')
}

/** Runs a command in this process, and returns what a separate process would have answered. */
export async function type(env: Record<string, string>, ...words: string[]) {
  const db = await openDatabase(':memory:')
  try {
    const context = { db, secrets: createSecrets(Buffer.alloc(32)), config: readConfig(env), clock, log }
    const report = await typeCommand(context, words)
    return { code: report.ok ? 0 : 1, stdout: `${report.text}\n`, stderr: '' }
  } catch (error) {
    return { code: 1, stdout: '', stderr: `ops-panel : ${explain(error, `« ${words[0]} » a échoué`)}\n` }
  } finally {
    await db.close()
  }
}

/** Timeout of tests that start the program: on a busy machine each start takes seconds. */
export const PROGRAM_MS = 60_000

/**
 * Runs the program in a separate process that may write no file of more than this many blocks, of 512 bytes or 1 KB.
 */
export async function runLimited(blocks: number, env: Record<string, string>, ...args: string[]) {
  const line = ['-c', `ulimit -f ${blocks}; exec "$0" "$@"`, process.execPath, PROGRAM, ...args]
  const child = spawn('sh', line, { env: { PATH: process.env.PATH ?? '', ...env } })
  const [stdout, stderr] = [text(child.stdout), text(child.stderr)]
  await once(child, 'close')
  return { code: child.exitCode, stdout: await stdout, stderr: await stderr }
}

/** The answer of a command that did nothing. */
export const refusal = (told: string) => ({ code: 1, stdout: '', stderr: `ops-panel : ${told}\n` })

/** Returns a hash of every file of a folder; undefined without a folder. */
export async function contents(folder: string): Promise<Record<string, string> | undefined> {
  const names = await readdir(folder).catch(() => undefined)
  if (!names) return undefined
  const files = names.sort().map(async (name) => [name, await fingerprint(join(folder, name))] as const)
  return Object.fromEntries(await Promise.all(files))
}

export async function fingerprint(file: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(file))
    .digest('hex')
}

export async function modes(...files: string[]): Promise<string[]> {
  return Promise.all(files.map(async (file) => ((await stat(file)).mode & 0o777).toString(8)))
}

/** Returns every row of every table of an undamaged database, and its schema. */
export async function everything(file: string): Promise<Record<string, Rows>> {
  return withCopy(file, async (query) => {
    expect(await query('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
    const schema = await query('SELECT type, name, sql FROM sqlite_schema ORDER BY type, name')
    const found: Record<string, Rows> = { sqlite_schema: schema }
    for (const { name } of schema.filter((row) => row.type === 'table'))
      found[`${name}`] = await query(`SELECT * FROM "${name}" ORDER BY rowid`)
    return found
  })
}

type Rows = Record<string, unknown>[]

/** Reads a copy of a database with its logs: the file itself is neither opened nor changed. */
export async function withCopy<result>(
  file: string,
  work: (query: (sql: string) => Promise<Rows>) => Promise<result>,
): Promise<result> {
  const folder = await mkdtemp(join(tmpdir(), 'ops-panel-test-'))
  try {
    const copy = join(folder, 'copy.db')
    await copyFile(file, copy)
    for (const log of ['-wal', '-journal']) await copyIfThere(`${file}${log}`, `${copy}${log}`)
    return await withFile(copy, work)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Opens a file unchanged, without giving it a write-ahead log. */
export async function withFile<result>(
  file: string,
  work: (query: (sql: string) => Promise<Rows>) => Promise<result>,
): Promise<result> {
  const client = createClient({ url: `file:${file}`, concurrency: 1 })
  const plain = (value: unknown) => (value instanceof ArrayBuffer ? Buffer.from(value).toString('hex') : value)
  try {
    return await work(async (sql) => {
      const { columns, rows } = await client.execute(sql)
      return rows.map((row) => Object.fromEntries(columns.map((name) => [name, plain(row[name])])))
    })
  } finally {
    client.close()
  }
}

/** Checks that a service with that database and that key can use its secrets and its sessions. */
export async function expectToServe(folder: string, data: Data, env: Record<string, string> = {}): Promise<void> {
  const copy = await copyOf(folder)
  const { db, secrets } = await openExisting(readConfig({ ...env, PANEL_DATA_DIR: copy }))
  try {
    const settings = createSettings({ db, secrets, clock, log })
    expect(await settings.sshAccount()).toMatchObject({ host: data.host, password: data.password })
    const sessions = await createSessions({ db, secrets, clock, log, jwtKey: undefined, refreshDays: 7 })
    expect(await sessions.verify(data.access)).toMatchObject({ id: data.userId, sid: String(data.sid) })
    expect(await sessions.verifyRefresh(data.refresh)).toBe(data.userId)
    // If it could not open the private half, it would have created a new key.
    expect((await sessions.publishedKeys()).map(({ kid }) => kid)).toEqual([inject('signingKey').kid])
  } finally {
    await db.close()
  }
}
