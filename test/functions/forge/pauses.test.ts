import { expect, test } from 'vitest'
import { createForgeConnection } from '../../../functions/forge/connection.ts'
import { createPauses } from '../../../functions/forge/pauses.ts'
import { startGitea } from './gitea.ts'

/** A time that passes by waiting alone. */
function timeline() {
  let now = 0
  const waits: number[] = []
  const pauses = createPauses({
    now: () => now,
    async wait(ms, signal) {
      signal.throwIfAborted()
      waits.push(ms)
      now += ms
    },
  })
  return { pauses, waits }
}

const limit = (headers: Record<string, string> = {}, status = 429) => ({ status, body: {}, headers })
const version = (connection: ReturnType<typeof createForgeConnection>, signal = new AbortController().signal) =>
  connection.get('/v1/version', { what: 'sa version', signal }, async (response) => {
    await response.arrayBuffer()
    return response.status
  })

/** A forge whose next answers are these, before it answers well. */
async function limited(...answers: ReturnType<typeof limit>[]) {
  const gitea = await startGitea()
  const good = gitea.answers['/api/v1/version']
  Object.defineProperty(gitea.answers, '/api/v1/version', { get: () => answers.shift() ?? good })
  return gitea
}

test.each([
  ['seconds', [limit({ 'retry-after': '7' })], [7_000]],
  ['a 503 with a time', [limit({ 'retry-after': '3' }, 503)], [3_000]],
  ['more than a minute', [limit({ 'retry-after': '86400' })], [60_000]],
  ['none at all', [limit({ 'retry-after': '0' })], [1_000]],
  ['no length', [limit(), limit({ 'retry-after': 'soon' }), limit()], [1_000, 2_000, 4_000]],
  [
    'a date',
    [limit({ 'retry-after': 'Wed, 21 Oct 2015 07:28:09 GMT', date: 'Wed, 21 Oct 2015 07:28:00 GMT' })],
    [9_000],
  ],
  ['a date that is over', [limit({ 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' })], [1_000]],
])('a pause of %s is kept, and the request is sent again', async (_, answers, expected) => {
  const { pauses, waits } = timeline()
  const gitea = await limited(...answers)

  expect(await version(createForgeConnection({ ...gitea, token: 'x', fingerprint: '' }, pauses))).toBe(200)

  expect(waits).toEqual(expected)
  expect(gitea.requests).toHaveLength(answers.length + 1)
})

test('a 503 without a time is an answer', async () => {
  const { pauses, waits } = timeline()
  const gitea = await limited(limit({}, 503))

  expect(await version(createForgeConnection({ ...gitea, token: undefined }, pauses))).toBe(503)
  expect(waits).toEqual([])
})

test('a good answer makes the next pause short again', async () => {
  const { pauses, waits } = timeline()
  const connection = createForgeConnection({ ...(await limited(limit(), limit())), token: undefined }, pauses)
  await version(connection)
  const again = createForgeConnection({ ...(await limited(limit())), token: undefined }, pauses)

  await version(again)

  expect(waits).toEqual([1_000, 2_000, 1_000])
})

test('all requests to a forge wait for its pause, and those to others do not', async () => {
  const now = 0
  const waiting = new Map<() => void, number>()
  const pauses = createPauses({
    now: () => now,
    wait: (ms, signal) =>
      new Promise((resolve, reject) => {
        waiting.set(resolve, ms)
        signal.addEventListener('abort', () => reject(signal.reason))
      }),
  })
  const [gitea, other] = [await limited(limit({ 'retry-after': '30' })), await startGitea()]
  const ending = new AbortController()
  const first = version(createForgeConnection({ ...gitea, token: undefined }, pauses), ending.signal)
  await expect.poll(() => waiting.size).toBe(1)

  const second = version(createForgeConnection({ ...gitea, token: 'x' }, pauses), ending.signal)
  await expect.poll(() => waiting.size).toBe(2)

  expect([...waiting.values()]).toEqual([30_000, 30_000])
  expect(gitea.requests).toHaveLength(1)
  expect(await version(createForgeConnection({ ...other, token: undefined }, pauses))).toBe(200)
  ending.abort()
  const told = `${gitea.url} limite les requêtes : réessayez dans 30 s`
  await expect(first).rejects.toMatchObject({ name: 'ForgeError', reason: 'unreachable', message: told })
  await expect(second).rejects.toMatchObject({ message: told })
})

test('requests that were refused together pause once', () => {
  const { pauses } = timeline()

  for (let n = 0; n < 6; n += 1) pauses.begin('https://forge.test', new Headers())

  expect(pauses.secondsLeft('https://forge.test')).toBe(1)
})

test('forges that limit requests and are never asked again are forgotten', () => {
  const { pauses } = timeline()

  for (let n = 0; n < 200; n += 1) pauses.begin(`https://forge${n}.test`, new Headers({ 'retry-after': '60' }))

  expect(pauses.secondsLeft('https://forge0.test')).toBe(0)
  expect(pauses.secondsLeft('https://forge199.test')).toBe(60)
})
