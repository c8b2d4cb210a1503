import { expect, test } from 'vitest'
import { createLoginThrottle } from '../../ssh/login-throttle.ts'
import { createWaitingLogins, type WaitingLogin } from '../../ssh/login/waiting-logins.ts'

const [KNOWN, STRANGER, FAILING] = [-3, 0, 4]
const LONG_MS = 60_000

/** A store whose clock can be moved on. */
function store(state: 'off' | 'unknown' = 'off') {
  const throttle = createLoginThrottle()
  throttle.configure({ state })
  const ended: string[] = []
  let moved = 0
  const now = () => performance.now() + moved
  const waiting = createWaitingLogins<WaitingLogin & { name: string }>(throttle, now)
  const login = (name: string, { from = name, rank = STRANGER, ms = LONG_MS } = {}) => ({
    name,
    from,
    rank,
    prompts: [{ text: 'Code:', echo: false }],
    until: now() + ms,
    end: () => void ended.push(name),
  })
  return {
    waiting,
    throttle,
    ended: () => ended,
    advance(ms: number) {
      moved += ms
    },
    add: (...given: Parameters<typeof login>) => waiting.add(login(...given)),
  }
}

test('a login is found until it is taken, and taken once', () => {
  const { waiting, add, ended } = store()
  const id = add('alice') ?? ''

  expect(waiting.find(id)?.name).toBe('alice')
  expect(waiting.take(id)?.name).toBe('alice')

  expect(waiting.find(id)).toBeUndefined()
  expect(waiting.take(id)).toBeUndefined()
  expect(waiting.take('unknown')).toBeUndefined()
  expect(ended()).toEqual([])
})

test('twenty wait; the twenty-first of the same rank ends at once', () => {
  const { add, ended } = store()

  const ids = Array.from({ length: 25 }, (_, n) => add(`person ${n}`))

  expect(ids.filter((id) => id !== undefined)).toHaveLength(20)
  expect(new Set(ids).size).toBe(21)
  expect(ended()).toEqual(['person 20', 'person 21', 'person 22', 'person 23', 'person 24'])
})

test('one address holds three', () => {
  const { waiting, add, ended } = store()
  const [first = ''] = ['a', 'b', 'c'].map((name) => add(name, { from: '192.0.2.1' }))

  expect(add('d', { from: '192.0.2.1' })).toBeUndefined()
  expect(add('e', { from: '192.0.2.2' })).toBeDefined()
  waiting.take(first)
  expect(add('f', { from: '192.0.2.1' })).toBeDefined()

  expect(ended()).toEqual(['d'])
})

test('a better address displaces the oldest of the worst ones, and no equal one', () => {
  const { add, ended } = store()
  for (let n = 0; n < 18; n += 1) add(`stranger ${n}`)
  add('failing 1', { rank: FAILING })
  add('failing 2', { rank: FAILING })

  expect(add('another', { rank: FAILING })).toBeUndefined()
  expect(add('known 1', { rank: KNOWN })).toBeDefined()
  expect(add('known 2', { rank: KNOWN })).toBeDefined()
  expect(add('known 3', { rank: KNOWN })).toBeDefined()

  expect(ended()).toEqual(['another', 'failing 1', 'failing 2', 'stranger 0'])
})

test('a login that nobody answers ends in time, and one that comes too late never waits', async () => {
  const { waiting, add, ended } = store()
  const id = add('slow', { ms: 30 }) ?? ''

  await expect.poll(ended).toEqual(['slow'])
  expect(waiting.find(id)).toBeUndefined()
  expect(add('late', { ms: 0 })).toBeUndefined()
  expect(ended()).toEqual(['slow', 'late'])
})

test('where sshd penalizes such ends, they do not all come at once, and every one comes before sshd’s own', async () => {
  const { waiting, add, ended, advance } = store('unknown')
  const ids = Array.from({ length: 12 }, (_, n) => add(`person ${n}`, { ms: 20 }) ?? '')

  await expect.poll(() => ids.filter((id) => waiting.find(id))).toEqual([])

  expect(ended()).toHaveLength(10)
  advance(15_000)
  await expect.poll(ended, { timeout: 5_000 }).toHaveLength(12)
})

test('where sshd penalizes wrong passwords, logins that nobody answers leave them their room', async () => {
  const { waiting, add, throttle, ended, advance } = store('unknown')
  for (let n = 0; n < 3; n += 1) throttle.failed()
  const id = add('person', { ms: 20 }) ?? ''

  await expect.poll(() => waiting.find(id)).toBeUndefined()

  expect(ended()).toEqual([])
  advance(15_000)
  await expect.poll(ended, { timeout: 5_000 }).toEqual(['person'])
})
