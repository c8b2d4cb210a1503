import { expect, test } from 'vitest'
import { retry } from '../../platform/retry.ts'

/** Work that fails a number of times before it returns `done`. */
function failing(times: number) {
  let calls = 0
  return {
    calls: () => calls,
    async work() {
      calls += 1
      if (calls <= times) throw new Error(`failure ${calls}`)
      return 'done'
    },
  }
}

test('work is repeated until it succeeds, and each failure is passed on with the number of those before it', async () => {
  const { work, calls } = failing(2)
  const failures: [string, number][] = []

  const result = await retry(work, (error, before) => {
    failures.push([String(error), before])
    return 1
  })

  expect([result, calls()]).toEqual(['done', 3])
  expect(failures).toEqual([
    ['Error: failure 1', 0],
    ['Error: failure 2', 1],
  ])
})

test('without a further pause the last error is thrown', async () => {
  const { work, calls } = failing(5)

  await expect(retry(work, (_, before) => [1, 1][before])).rejects.toThrow('failure 3')
  expect(calls()).toBe(3)
})

test('an abort ends the pause, and the work is not called again', async () => {
  const { work, calls } = failing(5)
  const ending = new AbortController()
  const ended = retry(work, () => 60_000, ending.signal)

  setImmediate(() => ending.abort())

  await expect(ended).rejects.toMatchObject({ name: 'AbortError' })
  expect(calls()).toBe(1)
})
