import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { addApiToken, type NewApiToken, removeApiToken } from '../../db/access/api-tokens.ts'
import { auditEntry } from '../../db/audit.ts'
import { confirmRights, saveUser } from '../../db/users.ts'
import { defineSocket } from '../../functions/services.ts'
import { newApiToken } from '../../sessions/sessions.ts'
import { START, testApp } from '../app.ts'
import { listening } from '../serve/listening.ts'
import { openSocket } from '../serve/service.ts'

const NOW = START.toISOString()
const PROBE = { summary: 'A probe', description: 'Made for a test.', sends: {}, closes: {} }
const probe = defineSocket({ ...PROBE, path: '/ws/probe', auth: 'user', targets: 'none', rateLimit: false, open() {} })
const works = defineSocket({
  ...PROBE,
  path: '/ws/works',
  auth: 'operator',
  targets: () => ['lxc:101'],
  rateLimit: false,
  open() {},
})
const proven = defineSocket({ ...PROBE, path: '/ws/proven', auth: 'user', stepUp: true, rateLimit: false, open() {} })
const entry = auditEntry(
  { action: 'token_revoked', user_id: null, username: null, target: null, ip: '', details: null },
  NOW,
)

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

async function start() {
  const app = await testApp([])
  const { url } = await listening(app.services, { sockets: [probe, works, proven] })
  const { id: userId } = await saveUser(app.db, 'alice', true, NOW)
  await confirmRights(app.db, userId, NOW)
  const add = async (token: Partial<NewApiToken> = {}) => {
    const made = newApiToken(app.secrets)
    const wanted = { user_id: userId, name: 'x', role: 'operator', targets: 'all', expires_at: null, ...token } as const
    const row = await addApiToken(app.db, { ...wanted, hash: made.hash }, { now: NOW, most: 50, entry })
    return { token: made.token, id: row?.id ?? 0 }
  }
  const open = async (socket: { path: string }, { token }: { token: string }) => {
    const opened = openSocket(url, socket.path, { token })
    await opened.opened
    return { ...opened, isOpen: () => opened.ws.readyState === opened.ws.OPEN }
  }
  /** Moves the clock of the service and its timers. */
  const pass = async (ms: number) => {
    app.advance(ms)
    await vi.advanceTimersByTimeAsync(ms)
  }
  return { ...app, userId, add, open, pass }
}

test('a socket of a token stays open without a renewal, for an hour', async () => {
  const { add, open, pass, db, userId } = await start()
  const socket = await open(probe, await add())

  for (let n = 0; n < 6; n += 1) {
    await confirmRights(db, userId, new Date(START.getTime() + n * 600_000).toISOString())
    await pass(600_000)
  }

  expect(socket.isOpen()).toBe(true)
})

test('a socket closes at once when its token is revoked here, and within 30 s when that happens elsewhere', async () => {
  const { add, open, pass, db, services } = await start()
  const [one, two, three] = [await add(), await add(), await add()]
  const sockets = await Promise.all([one, two, three].map((token) => open(probe, token)))

  await removeApiToken(db, one.id, entry)
  await services.sessions.endTokens({ id: one.id })
  expect(await sockets[0]?.end).toBe(4401)
  await removeApiToken(db, two.id, entry)
  await pass(30_000)
  expect(await sockets[1]?.end).toBe(4401)
  expect(sockets[2]?.isOpen()).toBe(true)
})

test('a socket closes when its token expires', async () => {
  const { add, open, pass } = await start()
  const short = await open(probe, await add({ expires_at: new Date(START.getTime() + 45_000).toISOString() }))
  const other = await open(probe, await add())

  await pass(30_000)
  await pass(14_000)
  expect(short.isOpen()).toBe(true)
  await pass(1_000)
  expect(await short.end).toBe(4401)
  expect(other.isOpen()).toBe(true)
})

test('a socket closes when the owner is barred, or loses the rights that it needs', async () => {
  const { add, open, pass, db } = await start()
  const token = await add()
  const [reads, operates] = [await open(probe, token), await open(works, token)]

  await db.run('UPDATE users SET is_admin = 0, operates = ? WHERE id > 0', ['["host"]'])
  await pass(30_000)
  expect(await operates.end).toBe(4403)
  expect(reads.isOpen()).toBe(true)

  await db.run('UPDATE users SET barred_at = ? WHERE id > 0', [NOW])
  await pass(30_000)
  expect(await reads.end).toBe(4401)
})

test('a token opens no socket of a foreign target, and none that needs a recent proof', async () => {
  const { add, open } = await start()
  const foreign = await open(works, await add({ targets: ['lxc:102'] }))
  expect(await foreign.end).toBe(4403)
  const own = await open(works, await add({ targets: ['lxc:101'] }))
  expect(own.isOpen()).toBe(true)
  const unproven = await open(proven, await add({ role: 'admin' }))
  expect(await unproven.end).toBe(4403)
})

test('a token that cannot be verified closes its socket as a failure of the service', async () => {
  const { add, open, pass, services } = await start()
  const socket = await open(probe, await add())
  services.db.query = () => Promise.reject(new Error('the database is away'))

  await pass(30_000)

  expect(await socket.end).toBe(1011)
})
