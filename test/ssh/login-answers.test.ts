import { expect, test } from 'vitest'
import type { Account } from '../../demo/account.ts'
import type { Checked } from '../../ssh/login-check.ts'
import { hostOf, startDemo } from '../runtime/demo.ts'

const CODE = { prompt: 'Verification code: ', answer: '123456' }
const person = (uid: number, asks: Account['asks'] = [CODE]): Account => ({
  password: 'pw',
  uid,
  groups: ['people'],
  ...(asks && { asks }),
})
const IN = { claim: { identity: { uid: 1200 } } }

async function hostThatAsks(options: { asksPeople?: boolean; answeredMs?: number } = {}) {
  const demo = await startDemo({ users: { alice: person(1200), bob: person(1201) } })
  const { host, lines } = await hostOf(demo, {}, options)
  /** Signs in up to the question, and returns its id. */
  const asked = async (username = 'alice', from = '192.0.2.1') =>
    idOf(await host.signIn(username, 'pw', { from, asks: true }))
  return { demo, host, lines, asked }
}

function idOf(checked: Checked | string | undefined): string {
  if (typeof checked !== 'object' || !('asked' in checked)) throw new Error(`the host has not asked: ${checked}`)
  return checked.asked.id
}

test('the host’s question is passed on, and the right answer goes on with the same connection', async () => {
  const { demo, host } = await hostThatAsks()

  const checked = await host.signIn('alice', 'pw', { from: '192.0.2.1', asks: true })
  const id = idOf(checked)

  expect(checked).toEqual({ asked: { id, prompts: [{ text: 'Verification code:', echo: false }] } })
  expect(demo.connections).toBe(1)
  expect(await host.answer(id, ['123456'])).toMatchObject(IN)
  expect(demo.signIns).toEqual(['alice'])
  await expect.poll(() => demo.connections).toBe(0)
})

test('several rounds follow each other, each with an id of its own', async () => {
  const asks = [CODE, { prompt: 'New password: ', answer: 'n' }, { prompt: 'Again: ', echo: true, answer: 'n' }]
  const demo = await startDemo({ users: { alice: person(1200, asks) } })
  const { host } = await hostOf(demo)

  const first = idOf(await host.signIn('alice', 'pw', { asks: true }))
  const second = idOf(await host.answer(first, ['123456']))
  const third = idOf(await host.answer(second, ['n']))

  expect(new Set([first, second, third]).size).toBe(3)
  expect(await host.answer(first, ['123456'])).toBe('gone')
  expect(await host.answer(third, ['n'])).toMatchObject(IN)
})

test('a wrong answer is refused, its connection ends, and the id is used up', async () => {
  const { demo, host, asked } = await hostThatAsks()
  const id = await asked()

  await expect(host.answer(id, ['000000'])).rejects.toMatchObject({ reason: 'bad_credentials' })

  expect(await host.answer(id, ['123456'])).toBe('gone')
  await expect.poll(() => demo.connections).toBe(0)
})

test('another number of answers than of questions goes nowhere, and the host still waits', async () => {
  const { host, asked } = await hostThatAsks()
  const id = await asked()

  expect(await host.answer(id, [])).toBe('miscounted')
  expect(await host.answer(id, ['123456', '1'])).toBe('miscounted')

  expect(await host.answer(id, ['123456'])).toMatchObject(IN)
})

test('of two answers at once one counts', async () => {
  const { host, asked } = await hostThatAsks()
  const id = await asked()

  const answers = await Promise.all([host.answer(id, ['123456']), host.answer(id, ['123456'])])

  expect(answers.filter((answer) => answer === 'gone')).toHaveLength(1)
  expect(answers.filter((answer) => typeof answer === 'object')).toMatchObject([IN])
})

test('logins that wait take no slot of others, and are no failures of their address', async () => {
  const { demo, host, asked } = await hostThatAsks()
  for (let n = 0; n < 20; n += 1) await asked('bob', `192.0.2.${n}`)

  const began = performance.now()
  expect(await host.signIn('demo', 'demo', { from: '192.0.2.1' })).toMatchObject({ claim: { identity: { uid: 1000 } } })

  expect(performance.now() - began).toBeLessThan(2_000)
  expect(demo.connections).toBeGreaterThanOrEqual(20)
})

test('of twenty-five logins at once that the host asks, twenty wait and five are sent away', async () => {
  const names = Array.from({ length: 25 }, (_, n) => `person${n}`)
  const demo = await startDemo({ users: Object.fromEntries(names.map((name, n) => [name, person(1300 + n)])) })
  const { host } = await hostOf(demo)

  const answers = await Promise.all(
    names.map((name, n) => host.signIn(name, 'pw', { from: `192.0.2.${n}`, asks: true })),
  )

  const waiting = answers.filter((answer) => answer !== undefined).map(idOf)
  expect(waiting).toHaveLength(20)
  await expect.poll(() => demo.connections).toBe(20)
  const ends = await Promise.all(waiting.map((id) => host.answer(id, ['123456'])))
  expect(ends).toMatchObject(ends.map(() => ({ claim: { identity: { groups: ['people'] } } })))
})

test('a login that nobody answers ends in time', async () => {
  const { demo, host, asked } = await hostThatAsks({ answeredMs: 500 })
  const id = await asked()

  await expect.poll(() => demo.connections).toBe(0)

  expect(await host.answer(id, ['123456'])).toBe('gone')
})

test('a login whose host gives up waiting is gone, and makes room', async () => {
  const { demo, host, asked } = await hostThatAsks()
  const ids = [await asked(), await asked(), await asked()]
  expect(await host.answer(ids[0] ?? '', [])).toBe('miscounted')

  demo.cut()

  for (const id of ids) await expect.poll(() => host.answer(id, [])).toBe('gone')
  expect(await host.answer(await asked(), ['123456'])).toMatchObject(IN)
})

test('the end of the service ends what waits', async () => {
  const { demo, host, asked } = await hostThatAsks()
  await asked()
  await asked('bob')

  host.close()

  await expect.poll(() => demo.connections).toBe(0)
})

test.each([
  ['where the caller cannot ask', {}, {}],
  ['in a process that may be frozen', { asksPeople: false }, { asks: true }],
])('%s, the login says so and nothing waits', async (_, options, given) => {
  const { demo, host } = await hostThatAsks(options)

  await expect(host.signIn('alice', 'pw', given)).rejects.toMatchObject({ reason: 'asks_more' })

  await expect.poll(() => demo.connections).toBe(0)
})

test('a service account whose host asks more says so, and is not tried again at once', async () => {
  const demo = await startDemo({ users: { robot: person(0) } })
  const { host } = await hostOf(demo, { username: 'robot', password: 'pw' })

  for (let n = 0; n < 3; n += 1)
    await expect(host.exec(['id', '-u'])).rejects.toMatchObject({
      reason: 'asks_more',
      message: 'l’hôte demande plus que le mot de passe de robot',
    })

  expect(demo.signIns).toEqual(['robot'])
})

test('no answer and no password reach the log', async () => {
  const { host, lines, asked } = await hostThatAsks()
  const secret = 'answer-3f9c1b'

  await expect(host.answer(await asked(), [secret])).rejects.toMatchObject({ reason: 'bad_credentials' })

  expect(lines().join('\n')).not.toContain(secret)
})
