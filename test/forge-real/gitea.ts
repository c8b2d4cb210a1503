import { execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { Agent, fetch } from 'undici'
import { vi } from 'vitest'
import * as z from 'zod'
import { freePort } from '../free-port.ts'

const run = promisify(execFile)

export const ORG = 'modules'
/** The administrator, and an account that belongs to no organisation. */
export const ADMIN = 'chief'
export const STRANGER = 'stranger'
const PASSWORD = 'a-password-for-tests-1'

/** Scopes that the service needs, as its documentation names them. */
export const READS = 'read:organization,read:repository'

export interface Gitea {
  /** Where the forge listens, without a path. */
  url: string
  /** A token with all rights. */
  token: string
  /** The folder of the organisation's bare repositories. */
  repositories: string
  /** The file of the certificate in PEM that the forge has signed itself; undefined without TLS. */
  certificate: string | undefined
  /** Sends a request to the API, and rejects unless it is answered with 2xx. */
  api(method: string, path: string, body?: unknown): Promise<unknown>
  /** Returns a new token with these scopes. */
  tokenFor(username: string, scopes: string): Promise<string>
  /** The processor time in seconds that it has used so far, with the programs that it has started. */
  cpuSeconds(): Promise<number>
  /** Stops and continues the process: a forge that accepts connections and answers nothing. */
  freeze(): void
  thaw(): void
  close(): Promise<void>
}

/**
 * Starts the forge of run.sh on a free port of the loopback, with SQLite in a temporary folder, one organisation and
 * two accounts. `rootUrl` is the address that people use, when it is another one: the forge writes it into its answers.
 */
export async function startGitea({ tls = false, rootUrl }: { tls?: boolean; rootUrl?: string } = {}): Promise<Gitea> {
  const program = process.env.TEST_GITEA
  if (!program) throw new Error('TEST_GITEA is missing: run "npm run test:forge".')
  const folder = await mkdtemp(join(tmpdir(), 'ops-panel-forge-'))
  const port = await freePort()
  const url = `${tls ? 'https' : 'http'}://127.0.0.1:${port}`
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    GITEA_WORK_DIR: folder,
    // The name of the same setting in a Forgejo.
    FORGEJO_WORK_DIR: folder,
  }
  const cli = async (...args: string[]) =>
    (await run(program, ['--config', join(folder, 'app.ini'), ...args], { cwd: folder, env, timeout: 60_000 })).stdout
  await writeFile(join(folder, 'app.ini'), settings({ program, folder, port, tls, rootUrl: rootUrl ?? `${url}/` }))
  const certificate = tls ? join(folder, 'cert.pem') : undefined
  if (certificate) await cli('cert', '--host', '127.0.0.1')
  await cli('migrate')
  const create = (name: string, ...more: string[]) =>
    cli(
      ...['admin', 'user', 'create', '--username', name, '--password', PASSWORD, '--email', `${name}@forge.test`],
      ...['--must-change-password=false', ...more],
    )
  await create(ADMIN, '--admin')
  await create(STRANGER)
  const token = (
    await cli(
      ...['admin', 'user', 'generate-access-token', '--username', ADMIN, '--token-name', 'all'],
      ...['--scopes', 'all', '--raw'],
    )
  )
    .trim()
    .split('\n')
    .at(-1)
  if (!token) throw new Error('the forge gave no token')

  const log = await open(join(folder, 'log'), 'w')
  const service = spawn(program, ['--config', join(folder, 'app.ini'), 'web'], {
    cwd: folder,
    env,
    stdio: ['ignore', log.fd, log.fd],
  })
  const ended = once(service, 'exit')
  await log.close()
  const ca = certificate && (await readFile(certificate))
  const dispatcher = new Agent(ca ? { connect: { ca } } : {})
  const api: Gitea['api'] = async (method, path, body) => {
    const response = await fetch(`${url}/api/v1${path}`, {
      dispatcher,
      method,
      headers: { authorization: `token ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }
  // By the service, because a second program finds the database locked now and then.
  const tokenFor = async (username: string, scopes: string) => {
    const response = await fetch(`${url}/api/v1/users/${username}/tokens`, {
      dispatcher,
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${username}:${PASSWORD}`).toString('base64')}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ name: `test-${randomUUID()}`, scopes: scopes.split(',') }),
    })
    return z.object({ sha1: z.string() }).parse(await response.json()).sha1
  }
  const close = async () => {
    service.kill('SIGCONT')
    service.kill('SIGTERM')
    await ended
    await dispatcher.destroy()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await vi.waitFor(() => api('GET', '/version'), { timeout: 60_000, interval: 50 })
  } catch (cause) {
    const said = await readFile(join(folder, 'log'), 'utf8')
    await close()
    throw new Error(`the forge did not start:\n${said.slice(-5_000)}`, { cause })
  }
  await api('POST', '/orgs', { username: ORG })
  return {
    url,
    token,
    repositories: join(folder, 'repositories', ORG),
    certificate,
    api,
    tokenFor,
    async cpuSeconds() {
      const fields = (await readFile(`/proc/${service.pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? []
      // utime, stime, cutime and cstime, in hundredths.
      return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) / 100
    },
    freeze: () => void service.kill('SIGSTOP'),
    thaw: () => void service.kill('SIGCONT'),
    close,
  }
}

function settings({
  program,
  folder,
  port,
  tls,
  rootUrl,
}: {
  program: string
  folder: string
  port: number
  tls: boolean
  rootUrl: string
}): string {
  const beside = join(dirname(program), 'static')
  return `
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = ${port}
ROOT_URL = ${rootUrl}
${tls ? `PROTOCOL = https\nCERT_FILE = ${join(folder, 'cert.pem')}\nKEY_FILE = ${join(folder, 'key.pem')}` : ''}
${existsSync(beside) ? `STATIC_ROOT_PATH = ${beside}` : ''}
APP_DATA_PATH = ${join(folder, 'data')}
DISABLE_SSH = true
OFFLINE_MODE = true
LFS_START_SERVER = true
[database]
DB_TYPE = sqlite3
PATH = ${join(folder, 'forge.db')}
[repository]
ROOT = ${join(folder, 'repositories')}
DEFAULT_BRANCH = main
[security]
INSTALL_LOCK = true
SECRET_KEY = for-tests-only
PASSWORD_HASH_ALGO = pbkdf2$1$10
[migrations]
ALLOW_LOCALNETWORKS = true
[actions]
ENABLED = false
[indexer]
ISSUE_INDEXER_TYPE = db
[cron]
ENABLED = false
[log]
MODE = console
LEVEL = warn
`
}
