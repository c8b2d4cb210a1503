import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startTasks, type Task } from '../../runtime/task.ts'
import { testApp } from '../app.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})

afterEach(() => {
  vi.useRealTimers()
})

const services = async () => (await testApp([])).services

/** A task that ends at once and counts its runs. */
function counting(every: number, name = 'counting') {
  const runs = { count: 0 }
  const task: Task<unknown> = {
    name,
    every,
    async run() {
      runs.count += 1
    },
  }
  return { task, runs }
}

/** A task whose runs end when the test says so. */
function controlled(every: number) {
  const ends: (() => void)[] = []
  const state = { begun: 0, running: 0, most: 0 }
  const task: Task<unknown> = {
    name: 'controlled',
    every,
    run: () => {
      state.begun += 1
      state.running += 1
      state.most = Math.max(state.most, state.running)
      return new Promise((resolve) =>
        ends.push(() => {
          state.running -= 1
          resolve()
        }),
      )
    },
  }
  return { task, state, end: () => ends.shift()?.() }
}

test('a task runs first after two seconds, and then at its interval', async () => {
  const { task, runs } = counting(60)
  startTasks([task], await services())

  await vi.advanceTimersByTimeAsync(1_999)
  expect(runs.count).toBe(0)
  await vi.advanceTimersByTimeAsync(1)
  expect(runs.count).toBe(1)
  await vi.advanceTimersByTimeAsync(59_999)
  expect(runs.count).toBe(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(runs.count).toBe(2)
  await vi.advanceTimersByTimeAsync(600_000)
  expect(runs.count).toBe(12)
})

test('a task with a shorter interval does not wait longer for its first run', async () => {
  const { task, runs } = counting(1)
  startTasks([task], await services())

  await vi.advanceTimersByTimeAsync(1_000)

  expect(runs.count).toBe(1)
})

test('a task receives the services', async () => {
  const given: unknown[] = []
  const all = await services()
  startTasks([{ name: 'looking', every: 10, run: async (context) => void given.push(context) }], all)

  await vi.advanceTimersByTimeAsync(2_000)

  expect(given).toEqual([all])
})

test('a task never overlaps itself: the interval starts at the end of a run', async () => {
  const { task, state, end } = controlled(10)
  startTasks([task], await services())

  await vi.advanceTimersByTimeAsync(100_000)
  expect(state).toMatchObject({ begun: 1, running: 1 })
  end()
  await vi.advanceTimersByTimeAsync(9_999)
  expect(state.begun).toBe(1)
  await vi.advanceTimersByTimeAsync(1)

  expect(state).toEqual({ begun: 2, running: 1, most: 1 })
})

test('a hung task delays no other task', async () => {
  const { task: hanging } = controlled(10)
  const { task, runs } = counting(10)
  startTasks([hanging, task], await services())

  await vi.advanceTimersByTimeAsync(32_000)

  expect(runs.count).toBe(4)
})

test.each([
  ['rejects', () => Promise.reject(new Error('the disk is full'))],
  [
    'throws',
    () => {
      throw new Error('the disk is full')
    },
  ],
])('a run that %s is logged with the name of the task, and the next one still follows', async (_, fail) => {
  const app = await testApp([])
  let count = 0
  const task: Task<unknown> = {
    name: 'failing',
    every: 10,
    run() {
      count += 1
      return fail()
    },
  }
  const { task: other, runs } = counting(10)
  startTasks([task, other], app.services)

  await vi.advanceTimersByTimeAsync(12_000)

  expect([count, runs.count]).toEqual([2, 2])
  const errors = app.lines().filter((line) => line.includes('"level":"error"'))
  expect(errors).toHaveLength(2)
  for (const line of errors) {
    expect(line).toContain('"task":"failing"')
    expect(line).toContain('the disk is full')
  }
})

test('stopping waits for the current run, and begins no other', async () => {
  const { task, state, end } = controlled(10)
  const { task: other, runs } = counting(10)
  const tasks = startTasks([task, other], await services())
  await vi.advanceTimersByTimeAsync(2_000)
  let stopped = false

  const stopping = tasks.stop().then(() => {
    stopped = true
  })
  await vi.advanceTimersByTimeAsync(5_000)
  expect(stopped).toBe(false)
  end()
  await stopping
  await vi.advanceTimersByTimeAsync(100_000)

  expect(state).toMatchObject({ begun: 1, running: 0 })
  expect(runs.count).toBe(1)
  expect(vi.getTimerCount()).toBe(0)
})

test('after a stop before its first run, a task never runs', async () => {
  const { task, runs } = counting(10)
  const tasks = startTasks([task], await services())

  await tasks.stop()
  await tasks.stop()
  await vi.advanceTimersByTimeAsync(100_000)

  expect(runs.count).toBe(0)
  expect(vi.getTimerCount()).toBe(0)
})
