import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../db/folder.ts'
import { refused } from '../functions/answers.ts'
import { newAddress, type Panel, startHost, startPanel } from './client.ts'

const panel = await startPanel()

const LOGIN = '/api/auth/login'

/** A cheap attempt: it is malformed, and counts. */
const knock = (from: string, at: Panel = panel) => at.send('POST', LOGIN, { from, body: '{' })

async function knocks(count: number, from: string, at: Panel = panel): Promise<number[]> {
  const statuses: number[] = []
  while (statuses.length < count) statuses.push((await knock(from, at)).status)
  return statuses
}

const admitted = (count: number) => Array.from({ length: count }, () => 400)

/** Simulates that this much time has passed since each attempt of the address. */
async function pass(seconds: number, from: string): Promise<void> {
  await panel.db.run('UPDATE rate_hits SET at_ms = at_ms - ? WHERE address = ?', [seconds * 1000, from])
}

const actionsOf = async (from: string) => (await panel.auditOf(from)).map(({ action }) => action)

test('limits, login: 5 attempts per minute per client address; the sixth is 429 with Retry-After and audited', async () => {
  const from = newAddress()
  expect(await knocks(5, from)).toEqual(admitted(5))
  expect(await actionsOf(from)).toEqual([])

  const response = await knock(from)

  const wait = Number(response.headers.get('retry-after'))
  expect(wait).toBeGreaterThan(50)
  expect(wait).toBeLessThanOrEqual(60)
  const { error } = await refused(response, 429, 'login_rate_limited')
  expect(error).toBe(`Trop de tentatives de connexion. Réessayez dans ${wait} s.`)
  expect(await actionsOf(from)).toEqual(['login_rate_limited'])
})

test('limits, login: successful, failed and malformed attempts count alike', async () => {
  const from = newAddress()
  const statuses = [
    (await panel.attempt('guest', 'guest', { from })).status,
    (await panel.attempt('guest', 'wrong', { from })).status,
    (await panel.attempt('', '', { from })).status,
    (await knock(from)).status,
    (await panel.withSetting('ssh_host', '', () => panel.attempt('guest', 'guest', { from }))).status,
    (await panel.attempt('guest', 'guest', { from })).status,
  ]

  expect(statuses).toEqual([200, 401, 400, 400, 503, 429])
  expect(await actionsOf(from)).toEqual(['login_success', 'login_failed', 'login_rate_limited'])
})

test('limits, login: a body over the limit counts too', async () => {
  const from = newAddress()
  const body = 'x'.repeat(2 * 1024 * 1024)
  for (let n = 0; n < 5; n++) expect((await panel.send('POST', LOGIN, { from, body })).status).toBe(413)

  expect((await knock(from)).status).toBe(429)
})

test('limits, login: the right password does not help an address over the limit, and the host is not asked', async () => {
  const from = newAddress()
  await knocks(5, from)
  const asked = panel.asked()

  await refused(await panel.attempt('guest', 'guest', { from }), 429, 'login_rate_limited')

  expect(panel.asked()).toBe(asked)
  expect(await actionsOf(from)).toEqual(['login_rate_limited'])
})

test('limits, login: it is per address: the same user from another address is not limited', async () => {
  const from = newAddress()
  await knocks(5, from)

  expect((await panel.attempt('guest', 'guest', { from })).status).toBe(429)
  expect((await panel.attempt('guest', 'guest')).status).toBe(200)
})

test('limits, login: it is not per user: an address that tries many names is limited', async () => {
  const from = newAddress()
  for (let n = 0; n < 5; n++) expect((await panel.attempt(`stranger${n}`, 'x', { from })).status).toBe(401)

  await refused(await panel.attempt('stranger5', 'x', { from }), 429, 'login_rate_limited')
})

test('limits, login: of simultaneous attempts exactly 5 are admitted', async () => {
  const from = newAddress()

  const answers = await Promise.all(Array.from({ length: 12 }, () => knock(from)))

  const statuses = answers.map(({ status }) => status).sort()
  expect(statuses).toEqual([...admitted(5), ...Array.from({ length: 7 }, () => 429)])
})

test('limits, login: a minute later the address is admitted again', async () => {
  const from = newAddress()
  await knocks(5, from)

  await pass(58, from)
  const late = await knock(from)
  expect(late.status).toBe(429)
  expect(Number(late.headers.get('retry-after'))).toBeLessThanOrEqual(2)

  await pass(2, from)
  expect(await knocks(6, from)).toEqual([...admitted(5), 429])
})

test('limits, login, contract: the window slides: each attempt is forgotten a minute after it was made', async () => {
  const from = newAddress()
  await knock(from)
  await pass(30, from)
  expect(await knocks(5, from)).toEqual([...admitted(4), 429])

  await pass(30, from)
  expect(await knocks(2, from)).toEqual([400, 429])

  await pass(30, from)
  expect(await knocks(5, from)).toEqual([...admitted(4), 429])
})

test('limits, login, contract: refused attempts do not extend the wait', async () => {
  const from = newAddress()
  await knocks(5, from)
  for (let n = 0; n < 4; n++) {
    await pass(14, from)
    expect(await knocks(2, from)).toEqual([429, 429])
  }

  // 56 of the 60 s are over; attempts refused meanwhile do not count.
  const wait = Number((await knock(from)).headers.get('retry-after'))
  expect(wait).toBeLessThanOrEqual(4)
  await pass(4, from)

  expect(await knocks(6, from)).toEqual([...admitted(5), 429])
})

test('limits, login: only login attempts count', async () => {
  const from = newAddress()
  for (let n = 0; n < 8; n++) {
    expect((await panel.send('POST', '/api/auth/refresh', { from })).status).toBe(401)
    expect((await panel.send('POST', '/api/auth/logout', { from })).status).toBe(200)
    expect((await panel.send('GET', '/api/auth/me', { from })).status).toBe(401)
    expect((await panel.send('GET', LOGIN, { from })).status).toBe(405)
  }

  expect(await knocks(6, from)).toEqual([...admitted(5), 429])
})

test('limits, login: a limited address can still refresh, read the profile and log out', async () => {
  const from = newAddress()
  const { token, cookie } = await panel.login('guest')
  await knocks(6, from)

  expect((await panel.send('POST', '/api/auth/refresh', { from, cookie })).status).toBe(200)
  expect((await panel.send('GET', '/api/auth/me', { from, token })).status).toBe(200)
  expect((await panel.send('POST', '/api/auth/logout', { from, token, cookie })).status).toBe(200)
})

test('limits, login, contract: X-Forwarded-For of a peer that is no trusted proxy does not count', async () => {
  const beside = { demo: panel.demo, folder: await temporaryFolder() }
  const open = await startPanel({ env: { PANEL_TRUSTED_PROXIES: '' }, beside }, onTestFinished)
  expect((await open.attempt('guest', 'guest', { from: newAddress() })).status).toBe(200)
  for (let n = 0; n < 4; n++) expect((await knock(newAddress(), open)).status).toBe(400)

  await refused(await knock(newAddress(), open), 429, 'login_rate_limited')

  expect((await open.sessionsOf('guest')).map(({ ip }) => ip)).toEqual(['127.0.0.1'])
  expect((await open.auditOf('127.0.0.1')).map(({ action }) => action)).toEqual(['login_success', 'login_rate_limited'])
})

test('limits, login, contract: of a trusted proxy, what a client puts before its own address does not count', async () => {
  const from = newAddress()
  for (let n = 0; n < 5; n++) expect((await knock(`${newAddress()}, ${from}`)).status).toBe(400)

  await refused(await knock(`${newAddress()}, ${from}`), 429, 'login_rate_limited')

  expect(await actionsOf(from)).toEqual(['login_rate_limited'])
})

test('limits, login, contract: for an invalid address in X-Forwarded-For the peer’s own counts', async () => {
  const beside = { demo: panel.demo, folder: await temporaryFolder() }
  const other = await startPanel({ beside }, onTestFinished)
  for (const text of ['unknown', '', 'a b', '<script>', 'unknown']) expect((await knock(text, other)).status).toBe(400)

  await refused(await other.send('POST', LOGIN, { body: '{' }), 429, 'login_rate_limited')

  expect((await other.auditOf('127.0.0.1')).map(({ action }) => action)).toEqual(['login_rate_limited'])
})

test('limits, login, contract: the count holds across instances that share a database', async () => {
  const from = newAddress()
  const second = await startPanel({ beside: panel }, onTestFinished)
  expect(await knocks(3, from)).toEqual(admitted(3))
  expect(await knocks(2, from, second)).toEqual(admitted(2))

  await refused(await knock(from), 429, 'login_rate_limited')
  await refused(await knock(from, second), 429, 'login_rate_limited')
})

test('limits, login, contract: of simultaneous attempts at two instances exactly 5 are admitted', async () => {
  const from = newAddress()
  const second = await startPanel({ beside: panel }, onTestFinished)

  const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => knock(from, n % 2 === 0 ? panel : second)))

  expect(answers.filter(({ status }) => status === 400)).toHaveLength(5)
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(7)
})

test('limits, login, contract: the count holds across a restart', async () => {
  const from = newAddress()
  const beside = { demo: await startHost(onTestFinished), folder: await temporaryFolder() }
  const before = await startPanel({ beside }, onTestFinished)
  expect(await knocks(5, from, before)).toEqual(admitted(5))
  await before.stop()

  const after = await startPanel({ beside }, onTestFinished)

  await refused(await knock(from, after), 429, 'login_rate_limited')
  expect(await knocks(1, newAddress(), after)).toEqual(admitted(1))
})

test('limits, access tokens: expires_in is 900 at login and at refresh', async () => {
  const response = await panel.attempt('guest', 'guest')
  const { cookie } = await panel.login('guest')

  expect(await response.json()).toMatchObject({ expires_in: 900 })
  expect(await (await panel.send('POST', '/api/auth/refresh', { cookie })).json()).toMatchObject({ expires_in: 900 })
})

test('limits, contract: logout, health and the key set have no limit; reads admit 100 in a row', async () => {
  const from = newAddress()
  const { token } = await panel.login(panel.freshName())
  const seen = new Set<number>()
  for (let n = 0; n < 100; n++) {
    seen.add((await panel.send('POST', '/api/auth/logout', { from })).status)
    seen.add((await panel.send('GET', '/api/health', { from })).status)
    seen.add((await panel.send('GET', '/.well-known/jwks.json', { from })).status)
    seen.add((await panel.send('GET', '/api/auth/me', { from, token })).status)
  }

  expect([...seen]).toEqual([200])
})
