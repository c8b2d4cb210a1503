import { fail } from '../../functions/services.ts'
import { beforeEach, expect, test } from 'vitest'
import { JobLost } from '../../jobs/follow.ts'
import { LeaseLost } from '../../jobs/output.ts'
import { retryHost } from '../../jobs/retry.ts'
import { createLog } from '../../platform/log.ts'
import { speakFrench } from '../../runtime/input.ts'
import { SshError } from '../../ssh/connection.ts'

const lost = () => new SshError('lost', 'la connexion a été perdue')
const MINUTE = 60_000

beforeEach(() => speakFrench())

/** Retries work with a clock that the work itself moves, and counts the attempts. */
function attempts(signal = new AbortController().signal) {
  const { log, lines } = createLog({ level: 'debug', write: () => {} })
  let now = 1_000
  let count = 0
  return {
    lines,
    count: () => count,
    pass(ms: number) {
      now += ms
    },
    /** `work` receives the number of attempts before this one. */
    begin: <result>(work: (before: number, connected: () => void) => result) =>
      retryHost({ log, signal, job: 'job', clock: () => now }, async (connected) => work(count++, connected)),
  }
}

test('work that succeeds runs once', async () => {
  const { begin, count } = attempts()

  expect(await begin(() => 'done')).toBe('done')

  expect(count()).toBe(1)
})

test.each(['lost', 'unreachable', 'refused', 'host_key_changed', 'bad_credentials'] as const)(
  'a connection that fails (%s) is retried, and the log says so',
  async (reason) => {
    const { begin, count, lines } = attempts()

    const result = await begin((before) => {
      if (before === 0) throw new SshError(reason, 'fait')
      return 'done'
    })

    expect([result, count()]).toEqual(['done', 2])
    expect(lines().filter((line) => line.includes('fait'))).toHaveLength(1)
  },
)

test('work is retried while the settings are incomplete', async () => {
  const { begin } = attempts()

  expect(
    await begin((before) => {
      if (before === 0) throw fail('ssh_incomplete')
      return 'done'
    }),
  ).toBe('done')
})

test.each([
  ['a job that the host has lost', new JobLost('job_folder_missing')],
  ['a job that another instance follows', new LeaseLost('elsewhere')],
  ['a failure of the service’s own', new TypeError('wrong')],
])('%s is not retried', async (_, error) => {
  const { begin, count } = attempts()

  await expect(
    begin(() => {
      throw error
    }),
  ).rejects.toBe(error)

  expect(count()).toBe(1)
})

test('the retries end with the last error after five minutes without an answer, not before', async () => {
  const { begin, count, pass } = attempts()
  const passing = [0, 5 * MINUTE - 1, 1, 0]

  const error = await begin((before) => {
    pass(passing[before] ?? 0)
    throw new SshError('unreachable', `essai ${before}`)
  }).catch((reason: unknown) => reason)

  expect(error).toMatchObject({ reason: 'unreachable', message: 'essai 2' })
  expect(count()).toBe(3)
})

test('a connection to the host restarts the five minutes', async () => {
  const { begin, count, pass } = attempts()

  const result = await begin((before, connected) => {
    if (before === 3) return 'done'
    pass(4 * MINUTE)
    connected()
    throw lost()
  })

  expect([result, count()]).toEqual(['done', 4])
})

test('a refused password is retried for thirty seconds only', async () => {
  const { begin, count, pass } = attempts()
  const passing = [0, 29_999, 1, 0]

  const error = await begin((before) => {
    pass(passing[before] ?? 0)
    throw new SshError('bad_credentials', 'refusé')
  }).catch((reason: unknown) => reason)

  expect(error).toMatchObject({ reason: 'bad_credentials' })
  expect(count()).toBe(3)
})

test('the pauses grow, and start again after a connection to the host', async () => {
  const { begin } = attempts()
  const at: number[] = []

  await begin((before, connected) => {
    at.push(performance.now())
    if (before === 2) connected()
    if (before < 3) throw lost()
  })

  const pauses = at.slice(1).map((time, index) => time - (at[index] ?? 0))
  // Timers may fire a millisecond early.
  expect(pauses[0]).toBeGreaterThanOrEqual(248)
  expect(pauses[1]).toBeGreaterThanOrEqual(498)
  expect(pauses[2]).toBeGreaterThanOrEqual(248)
  expect(pauses[2]).toBeLessThan(pauses[1] ?? 0)
})

test('a release of the job ends the pause at once', async () => {
  const release = new AbortController()
  const { begin, count } = attempts(release.signal)
  const ended = begin(() => {
    throw lost()
  }).catch((reason: unknown) => reason)
  await expect.poll(count).toBe(1)

  release.abort()

  expect(await ended).toMatchObject({ name: 'AbortError' })
  expect(count()).toBe(1)
})

test('the short time of a refused password begins with its refusal, however long the host was away before', async () => {
  const { begin, count, pass } = attempts()

  const error = await begin((before) => {
    pass(before === 0 ? 2 * MINUTE : 20_000)
    throw before === 0 ? lost() : new SshError('bad_credentials', 'refusé')
  }).catch((reason: unknown) => reason)

  expect(error).toMatchObject({ reason: 'bad_credentials' })
  // Refused after 0, 20 and 40 seconds: the last time is over 30.
  expect(count()).toBe(4)
})
