import { createClient } from '@libsql/client'
import { decodeJwt } from 'jose'
import { afterAll, expect, inject, vi } from 'vitest'
import * as z from 'zod'
import { openDatabase } from '../../db/libsql/client.ts'
import { type DemoHost, startDemoHost } from '../../demo/host.ts'
import { createLog } from '../../platform/log.ts'
import { createSecrets, loadSecretKey } from '../../platform/secrets.ts'
import { startServer } from '../../serve/server.ts'
import { createSessions } from '../../sessions/sessions.ts'
import { type OnTestFinished, temporaryFolder } from '../db/folder.ts'
import { audited } from '../functions/answers.ts'
import { type Sent, send as sendTo } from '../send.ts'

/** The service's timestamp format. */
export const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

export const DAY_MS = 86_400_000

export interface SignedIn {
  username: string
  id: number
  /** The session's id. */
  sid: number
  token: string
  cookie: string
  from: string
}

export type Panel = Awaited<ReturnType<typeof startPanel>>

const Login = z.object({ access_token: z.string(), user: z.object({ id: z.number() }) })
const Claims = z.object({ sid: z.string() })
const SessionRow = z.object({
  id: z.number(),
  user_id: z.number(),
  token_hash: z.string(),
  expires_at: z.string(),
  user_agent: z.string(),
  ip: z.string(),
  created_at: z.string(),
  last_used_at: z.string().nullable(),
})
const UserRow = z.object({
  id: z.number(),
  username: z.string(),
  is_admin: z.number(),
  lang: z.string(),
  theme: z.string(),
  sidebar_position: z.string(),
  last_login_at: z.string().nullable(),
})

/** Accounts that a test may have to itself; the password is the name. */
const ACCOUNTS = Object.fromEntries(
  Array.from({ length: 90 }, (_, n) => `user${n}`).map((name, n) => [
    name,
    { password: name, uid: 2000 + n, groups: [name] },
  ]),
)

let addresses = 0

/** Returns a client address that no other test of the file has. */
export function newAddress(): string {
  addresses += 1
  return `10.20.${Math.floor(addresses / 200)}.${(addresses % 200) + 1}`
}

/** A host with spare accounts, for all tests of a file unless `onFinished` says otherwise. */
export async function startHost(onFinished: OnTestFinished = afterAll): Promise<DemoHost> {
  const demo = await startDemoHost({
    lineMs: 0,
    wrongMs: 20,
    users: {
      ...ACCOUNTS,
      superuser: { password: 'superuser', uid: 0, groups: ['superuser'] },
      wheel: { password: 'wheel', uid: 3001, groups: ['wheel'], sudo: 'password' },
      leftover: { password: 'leftover', uid: 3006, groups: ['wheel'] },
      manager: { password: 'manager', uid: 3002, groups: ['manager', 'admin'] },
      operator: { password: 'operator', uid: 3003, groups: ['operator', 'ops'] },
      shellless: { password: 'shellless', uid: 3004, groups: ['shellless', 'sudo'], shell: 'nologin' },
      expired: { password: 'expired', uid: 3005, groups: ['expired'], expired: true },
    },
  })
  onFinished(() => demo.close())
  return demo
}

/**
 * The whole service on a free port with its own host and database, or with those of another one that it runs `beside`;
 * for all tests of a file unless `onFinished` says otherwise.
 */
export async function startPanel(
  { env = {}, beside }: { env?: Record<string, string>; beside?: { demo: DemoHost; folder: string } } = {},
  onFinished: OnTestFinished = afterAll,
) {
  const demo = beside?.demo ?? (await startHost(onFinished))
  const folder = beside?.folder ?? (await temporaryFolder(onFinished))
  const { url, stop } = await startServer({
    PANEL_PORT: '0',
    PANEL_DATA_DIR: folder,
    PANEL_LOG_LEVEL: 'silent',
    PANEL_JWT_KEY: inject('signingKey').pem,
    PANEL_TRUSTED_PROXIES: '127.0.0.1',
    PANEL_SSH_HOST: `127.0.0.1:${demo.port}`,
    PANEL_SSH_USERNAME: demo.service.username,
    PANEL_SSH_PASSWORD: demo.service.password,
    ...env,
  })
  onFinished(() => stop())
  /** The service's database, opened as another process. */
  const db = await openDatabase(`file:${folder}/panel.db`)
  onFinished(() => db.close())
  const names = Object.keys(ACCOUNTS)

  const send = (method: string, path: string, sent?: Sent) => sendTo(url, method, path, sent)

  const attempt = (username: string, password: string, { from = newAddress(), ...more }: Sent = {}) =>
    send('POST', '/api/auth/login', { body: { username, password }, from, ...more })

  return {
    url,
    stop,
    folder,
    demo,
    /** How often the host was asked whether somebody's password is right. The service's own sign-ins do not count. */
    asked: () => demo.signIns.filter((username) => username !== demo.service.username).length,
    db,
    send,
    /** Attempts a login, from a new address unless one is given. */
    attempt,
    /** Signs in, and expects success. */
    async login(username: string, password = username, { from = newAddress(), ...more }: Sent = {}): Promise<SignedIn> {
      const response = await attempt(username, password, { from, ...more })
      expect(response.status).toBe(200)
      const { access_token: token, user } = Login.parse(await response.json())
      const sid = Number(Claims.parse(decodeJwt(token)).sid)
      return { username, id: user.id, sid, token, cookie: cookieOf(response).value, from }
    },
    /** Returns the name of an unused account. */
    freshName(): string {
      const name = names.shift()
      if (name === undefined) throw new Error('no account is left')
      return name
    },
    /** Returns the audit entries of an address, oldest first. */
    auditOf: async (from: string) => (await audited(db)).filter(({ ip }) => ip === from),
    sessionsOf: (username: string) =>
      db.query(
        SessionRow,
        'SELECT * FROM sessions WHERE user_id = (SELECT id FROM users WHERE username = ?) ORDER BY id',
        [username],
      ),
    async sessionIdsOf(username: string): Promise<number[]> {
      return (await this.sessionsOf(username)).map(({ id }) => id)
    },
    async userOf(username: string) {
      const [row] = await db.query(UserRow, 'SELECT * FROM users WHERE username = ?', [username])
      return row
    },
    /** Does the work while that table is missing. */
    async without<result>(table: string, work: () => Promise<result>): Promise<result> {
      await db.script(`ALTER TABLE ${table} RENAME TO gone_${table}`)
      try {
        return await work()
      } finally {
        await db.script(`ALTER TABLE gone_${table} RENAME TO ${table}`)
      }
    },
    /** Does the work while another process holds a write transaction. */
    async whileLocked<result>(work: () => Promise<result>): Promise<result> {
      const client = createClient({ url: `file:${folder}/panel.db` })
      const transaction = await client.transaction('write')
      try {
        return await work()
      } finally {
        await transaction.rollback()
        client.close()
      }
    },
    /** Does the work while that setting has that value. */
    async withSetting<result>(key: string, value: string, work: () => Promise<result>): Promise<result> {
      const [before] = await db.query(z.object({ value: z.string() }), 'SELECT value FROM settings WHERE key = ?', [
        key,
      ])
      const set = (text: string) =>
        db.run(`INSERT INTO settings VALUES (?, ?, '') ON CONFLICT (key) DO UPDATE SET value = excluded.value`, [
          key,
          text,
        ])
      await set(value)
      try {
        return await work()
      } finally {
        await set(before?.value ?? '')
      }
    },
    /** Deletes only the user's record: the sessions stay, as in a database without foreign keys. */
    async forgetUser(username: string): Promise<void> {
      await db.script('PRAGMA foreign_keys = OFF')
      await db.run('DELETE FROM users WHERE username = ?', [username])
      await db.script('PRAGMA foreign_keys = ON')
    },
    /** Starts an upgrade that the caller follows; returns its id. */
    async run(token: string, target: string): Promise<string> {
      const response = await send('POST', '/api/updates/run', { token, body: { target } })
      return z.object({ job_id: z.string() }).parse(await response.json()).job_id
    },
    /** Signs a token like the service, this many seconds ago. */
    async signer(secondsAgo: number) {
      const { log } = createLog({ level: 'silent', write: () => {} })
      const secrets = createSecrets(await loadSecretKey(folder))
      const clock = () => new Date(Date.now() - secondsAgo * 1000)
      return createSessions({ db, secrets, clock, log, jwtKey: undefined, refreshDays: 7 })
    },
  }
}

/** Does the work while the service's clock is ahead by this much. */
export async function later<result>(ms: number, work: () => Promise<result>): Promise<result> {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms })
  try {
    return await work()
  } finally {
    vi.useRealTimers()
  }
}

/** Returns the answer's only cookie; attribute names are in lower case, and those without a value are ''. */
export function cookieOf(response: Response) {
  return parseCookie(response.headers.getSetCookie())
}

export function parseCookie(headers: readonly string[]) {
  expect(headers).toHaveLength(1)
  const [pair = '', ...rest] = (headers[0] ?? '').split(/; */)
  const [name = '', value = ''] = split(pair)
  return {
    name,
    value,
    attributes: Object.fromEntries(
      rest.map((attribute) => {
        const [key = '', text = ''] = split(attribute)
        return [key.toLowerCase(), text]
      }),
    ),
  }
}

function split(text: string): [string, string] {
  const at = text.indexOf('=')
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}
