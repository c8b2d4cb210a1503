import { expect, test } from 'vitest'
import login from '../../../functions/auth/login.post.ts'
import { testApp } from '../../app.ts'
import { audited } from '../answers.ts'
import type { App } from './client.ts'

const BODY = { username: 'bob', password: 'x' }
const HERE = '203.0.113.9'

/** Makes this many attempts from an address, and returns the statuses. */
async function attempts(app: App, count: number, from = HERE): Promise<number[]> {
  const statuses: number[] = []
  for (let n = 0; n < count; n += 1)
    statuses.push((await app.request('POST', '/api/auth/login', { body: BODY, from })).status)
  return statuses
}

const entries = async (app: App) => (await audited(app.db)).filter(({ action }) => action === 'login_rate_limited')

/** Returns the number of refusals that each entry reports. */
const reported = async (app: App, ip = HERE) =>
  (await entries(app)).filter((entry) => entry.ip === ip).map(({ details }) => details)

/** Makes the attempts one after the other, up to that number. */
const upTo = (last: number) => Array.from({ length: last }, (_, at) => at + 1)
const refused = (...counts: number[]) => counts.map((count) => (count === 1 ? null : { refused: count }))

test('the first hundred refusals of a flood are audited, then each doubling, with their number', async () => {
  const app = await testApp([login])

  const statuses = await attempts(app, 5 + 270)

  expect(statuses.slice(5)).toEqual(Array.from({ length: 270 }, () => 429))
  expect(await reported(app)).toEqual(refused(...upTo(100), 128, 256))
  expect((await entries(app)).every(({ username, target, ip }) => !username && !target && ip === HERE)).toBe(true)
  expect(app.signIns).toHaveLength(5)
})

test('every address has its own audit entry', async () => {
  const app = await testApp([login])

  await attempts(app, 5 + 7)
  await attempts(app, 5 + 2, '203.0.113.10')

  expect(await reported(app)).toEqual(refused(...upTo(7)))
  expect(await reported(app, '203.0.113.10')).toEqual(refused(1, 2))
})

test('all addresses of one IPv6 network count as one flood', async () => {
  const app = await testApp([login])

  await attempts(app, 5, '2001:db8::1')
  for (let n = 2; n < 12; n += 1) expect(await attempts(app, 1, `2001:db8::${n}`)).toEqual([429])

  expect((await entries(app)).map(({ details }) => details)).toEqual(refused(...upTo(10)))
})

test('a continuing flood counts as one, although attempts are admitted in between', async () => {
  const app = await testApp([login])
  for (let round = 0; round < 36; round += 1) {
    expect(await attempts(app, 5)).toEqual([200, 200, 200, 200, 200])
    app.advance(30_000)
    expect(await attempts(app, 2)).toEqual([429, 429])
    app.advance(29_999)
    expect(await attempts(app, 1)).toEqual([429])
    app.advance(1)
  }

  expect(await reported(app)).toEqual(refused(...upTo(100)))
})

test('after a minute without attempts, a flood is audited again', async () => {
  const app = await testApp([login])
  await attempts(app, 5 + 7)
  app.advance(60_000)

  expect(await attempts(app, 6)).toEqual([200, 200, 200, 200, 200, 429])

  expect(await reported(app)).toEqual(refused(...upTo(7), 1))
})

test('an attempt is refused when its audit entry cannot be written', async () => {
  const app = await testApp([login])
  await attempts(app, 5)
  await app.db.script('ALTER TABLE audit RENAME TO gone')

  expect(await attempts(app, 1)).toEqual([500])

  expect(app.signIns).toHaveLength(5)
})

test('a hundred refusals of impossible names are audited an hour, for all addresses together', async () => {
  const app = await testApp([login])
  const attempt = async (n: number) => {
    const body = { username: `bob:${n}`, password: 'x' }
    return (await app.request('POST', '/api/auth/login', { body, from: `2001:db8:0:${n.toString(16)}::1` })).status
  }
  const failed = async () => (await audited(app.db)).filter(({ action }) => action === 'login_failed').length

  for (let n = 0; n < 130; n += 1) expect(await attempt(n)).toBe(401)
  expect(await failed()).toBe(100)

  app.advance(3_600_000)
  expect(await attempt(1)).toBe(401)
  expect(await failed()).toBe(101)
  expect(app.signIns).toEqual([])
})

test('a thousand refusals an hour are audited in a flood from many addresses', async () => {
  const app = await testApp([login])
  const crowd = upTo(130).map((n) => `2001:db8:0:${n.toString(16)}::1`)
  for (const from of crowd) await attempts(app, 5 + 8, from)

  expect(await entries(app)).toHaveLength(1000)
})
