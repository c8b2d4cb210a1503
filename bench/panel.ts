import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { openDatabase } from '../db/libsql/client.ts'
import { migrate } from '../db/migrate.ts'
import { writeSettings } from '../db/settings.ts'
import { saveUser } from '../db/users.ts'
import { createLog } from '../platform/log.ts'
import { createSecrets } from '../platform/secrets.ts'
import { createSessions } from '../sessions/sessions.ts'
import { type Child, startChild } from './child.ts'
import { ROOT, SSH_PORT } from './host.ts'
import { bearerOf } from '../test/bearer.ts'

/** A running service with users who are signed in already. */
export interface Panel {
  url: string
  /** The data folder. */
  folder: string
  child: Child
  /** One access token for each user. */
  tokens: string[]
  stop(): Promise<void>
}

/** The address of a host and the account of the service there. */
export interface HostOfPanel {
  address: string
  username: string
  password: string
}

const RIG_HOST: HostOfPanel = { address: `127.0.0.1:${SSH_PORT}`, ...ROOT }

/** Starts the service on a fresh database, with the bench's host as its own unless another one is given. */
export async function startPanel({ users = 1, admin = false, host = RIG_HOST } = {}): Promise<Panel> {
  const folder = await mkdtemp(join(tmpdir(), 'ops-panel-bench-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    const secretKey = randomBytes(32)
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const jwtKey = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    const tokens = await signIn(`file:${folder}/panel.db`, { secretKey, jwtKey, users, admin })
    const child = await startChild('./service.ts', {
      flags: ['--expose-gc', ...(process.env.BENCH_NODE_FLAGS?.split(' ') ?? [])],
      environment: {
        PANEL_PORT: '0',
        PANEL_DATA_DIR: folder,
        PANEL_SECRET_KEY: secretKey.toString('base64'),
        PANEL_JWT_KEY: jwtKey,
        PANEL_TRUSTED_PROXIES: '127.0.0.0/8',
        PANEL_JOB_OUTPUT_MIB: '1024',
        PANEL_SSH_HOST: host.address,
        PANEL_SSH_USERNAME: host.username,
        PANEL_SSH_PASSWORD: host.password,
      },
    })
    const stop = async () => {
      await child.stop()
      await remove()
    }
    return { url: await child.ask(z.string(), { what: 'url' }), folder, child, tokens, stop }
  } catch (error) {
    await remove()
    throw error
  }
}

async function signIn(
  databaseUrl: string,
  { secretKey, jwtKey, users, admin }: { secretKey: Buffer; jwtKey: string; users: number; admin: boolean },
): Promise<string[]> {
  const clock = () => new Date()
  const { log } = createLog({ level: 'silent', write: () => {} })
  const db = await openDatabase(databaseUrl)
  try {
    await migrate(db, clock())
    // A check that starts by itself would disturb a row.
    await writeSettings(db, { checks_automatic: 'off' }, clock().toISOString())
    const sessions = await createSessions({
      db,
      secrets: createSecrets(secretKey),
      clock,
      log,
      jwtKey,
      refreshDays: 7,
    })
    const tokens: string[] = []
    for (let n = 1; n <= users; n++) {
      const { id, username } = await saveUser(db, `user-${n}`, admin, clock().toISOString())
      tokens.push(await sessions.accessToken(bearerOf({ id, username, isAdmin: admin }, clock())))
    }
    return tokens
  } finally {
    db.close()
  }
}
