import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createUserLimit } from '../../platform/user-limit.ts'

const IDLE_MS = 30_000

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

async function* pieces() {
  for (let n = 0; n < 3; n += 1) yield String(n)
}

test('a user has a limited number of slots, separate for each service and user', () => {
  const [one, other] = [{}, {}]
  const { read: enter } = createUserLimit(2, IDLE_MS)

  expect([1, 1, 1].map((user) => enter(one, user, pieces()) !== undefined)).toEqual([true, true, false])
  expect(enter(one, 2, pieces())).toBeDefined()
  expect(enter(other, 1, pieces())).toBeDefined()
})

test('the end of a response frees its slot, and so does a reader that leaves, before the first piece too', async () => {
  const service = {}
  const { read: enter } = createUserLimit(1, IDLE_MS)

  const read: string[] = []
  for await (const piece of enter(service, 1, pieces()) ?? []) read.push(piece)
  expect(read).toEqual(['0', '1', '2'])
  for await (const piece of enter(service, 1, pieces()) ?? []) if (piece === '1') break
  await enter(service, 1, pieces())?.return?.()

  expect(enter(service, 1, pieces())).toBeDefined()
})

test('a failure frees the slot', async () => {
  const service = {}
  const { read: enter } = createUserLimit(1, IDLE_MS)
  async function* fails() {
    yield '0'
    throw new Error('no database')
  }
  const failing = enter(service, 1, fails())

  await failing?.next()
  await expect(failing?.next()).rejects.toThrow('no database')

  expect(enter(service, 1, pieces())).toBeDefined()
})

test('a response that nobody reads from gives way to another, and continues when a slot is free', async () => {
  const service = {}
  const { read: enter } = createUserLimit(1, IDLE_MS)
  const stalled = enter(service, 1, pieces())
  await stalled?.next()

  vi.advanceTimersByTime(IDLE_MS - 1)
  expect(enter(service, 1, pieces())).toBeUndefined()
  vi.advanceTimersByTime(1)
  const next = enter(service, 1, pieces())
  expect(next).toBeDefined()
  await next?.return?.()

  expect(await stalled?.next()).toEqual({ done: false, value: '1' })
  expect(enter(service, 1, pieces())).toBeUndefined()
})

test('a response that has given way breaks off when no slot is free', async () => {
  const service = {}
  const { read: enter } = createUserLimit(1, IDLE_MS)
  const stalled = enter(service, 1, pieces())
  vi.advanceTimersByTime(IDLE_MS)
  enter(service, 1, pieces())

  await expect(stalled?.next()).rejects.toThrow('at once')
})
