import { expect, test } from 'vitest'
import { createLoginThrottle } from '../../ssh/login-throttle.ts'

const [KNOWN, STRANGER, WRONG] = [-3, 0, 1]
const NEVER = Number.POSITIVE_INFINITY

/** OpenSSH's own rule: each failure adds to the remainder, and above `min` the address is refused. */
function createSshd({ authfail = 5, min = 15 } = {}) {
  let until = 0
  return {
    most: 0,
    fail(at: number) {
      until = Math.max(at, until) + authfail
      this.most = Math.max(this.most, until - at)
      // The tolerance of floating point.
      return until - at > min + 1e-6
    },
  }
}

function paced(state: 'unknown' | 'off' | 'exempt' = 'unknown') {
  let ms = 0
  const throttle = createLoginThrottle(() => ms)
  throttle.configure({ state })
  return {
    throttle,
    at: () => ms / 1000,
    pass(seconds: number) {
      ms += seconds * 1000
    },
    wrong(times: number) {
      for (let n = 0; n < times; n += 1) throttle.failed()
    },
  }
}

test.each(['off', 'exempt'] as const)('a host whose penalties are %s delays no check', (state) => {
  const { throttle, wrong } = paced(state)
  wrong(100)
  for (let n = 0; n < 6; n += 1) throttle.begin()

  expect([KNOWN, STRANGER, WRONG].map(throttle.delay)).toEqual([0, 0, 0])
})

test('right passwords cost nothing, however many there are', () => {
  const { throttle } = paced()
  for (let n = 0; n < 100; n += 1) {
    expect(throttle.delay(STRANGER)).toBe(0)
    throttle.begin()
    throttle.end('accepted')
  }
  throttle.begin()
  throttle.end('unknown')

  expect(throttle.delay(WRONG)).toBe(0)
})

test('known addresses keep room beside unknown ones, and unknown ones beside failing ones', () => {
  const { throttle } = paced()
  throttle.begin()
  expect([KNOWN, STRANGER, WRONG].map(throttle.delay)).toEqual([0, 0, NEVER])
  throttle.begin()
  expect([KNOWN, STRANGER, WRONG].map(throttle.delay)).toEqual([0, NEVER, NEVER])
  throttle.begin()
  expect([KNOWN, STRANGER, WRONG].map(throttle.delay)).toEqual([NEVER, NEVER, NEVER])
})

test('wrong passwords are spaced out, and elapsed ones are forgotten', () => {
  const { throttle, pass, wrong } = paced()
  wrong(1)
  expect([KNOWN, STRANGER, WRONG].map(throttle.delay)).toEqual([0, 500, 5_500])
  wrong(1)
  expect([KNOWN, STRANGER, WRONG].map(throttle.delay)).toEqual([500, 5_500, 10_500])
  pass(10.5)
  expect([KNOWN, STRANGER, WRONG].map(throttle.delay)).toEqual([0, 0, 0])
})

test('until the host identifies itself, three checks may run', () => {
  const { throttle } = paced()
  throttle.configure(undefined)
  for (const delay of [0, 0, 0, NEVER]) {
    expect(throttle.delay(WRONG)).toBe(delay)
    throttle.begin()
  }
})

test('where one wrong password exceeds the limit, no check waits', () => {
  const { throttle, wrong } = paced()
  throttle.configure({
    state: 'in_force',
    authfail: 86_400,
    noauth: 1,
    min: 15,
    version: '10.0',
    address: '192.0.2.1',
    exempt: '',
  })
  wrong(2)

  expect(throttle.delay(WRONG)).toBe(0)
})

test.each([
  [5, 15],
  [5, 5],
  [2, 15],
  [7, 20],
  [1, 3],
])('with random attempts of all ranks, sshd never reaches its limit (authfail %d, min %d)', (authfail, min) => {
  const { throttle, at, pass } = paced()
  throttle.configure({ state: 'in_force', authfail, noauth: 1, min, version: '10.0', address: '192.0.2.1', exempt: '' })
  const sshd = createSshd({ authfail, min })
  // Deterministic noise: the rank, PAM's delay, and sshd's delay in counting.
  let seed = 7
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed / 2_147_483_647
  }
  const underWay: { ends: number }[] = []
  const counts: number[] = []
  for (let step = 0; step < 20_000; step += 1) {
    pass(0.05)
    for (const one of underWay.filter(({ ends }) => ends <= at())) {
      underWay.splice(underWay.indexOf(one), 1)
      throttle.end('rejected')
      counts.push(at() + random() * 0.4)
    }
    for (const late of counts.filter((moment) => moment <= at())) {
      counts.splice(counts.indexOf(late), 1)
      expect(sshd.fail(late)).toBe(false)
    }
    const rank = [KNOWN, STRANGER, WRONG][Math.floor(random() * 3)] ?? 0
    if (throttle.delay(rank) === 0) {
      throttle.begin()
      underWay.push({ ends: at() + random() * 4 })
    }
  }
  // The throttle is not stricter than necessary either.
  expect(sshd.most).toBeGreaterThan(min - authfail)
})

test('a connection that ends at a question costs what sshd takes for it, and so many may end at once', () => {
  const { throttle, pass } = paced()
  for (let n = 0; n < 10; n += 1) throttle.abandoned()

  expect(throttle.delay(KNOWN)).toBeGreaterThan(0)
  pass(1)
  expect(throttle.delay(KNOWN)).toBe(0)
  expect(throttle.delay(WRONG)).toBeGreaterThan(0)
  expect(throttle.mostAbandoned(15)).toBe(25)
  throttle.configure({ state: 'off' })
  expect(throttle.mostAbandoned(15)).toBe(NEVER)
})

test.each([
  [5, 15, 15, 5],
  [0, 15, 15, NEVER],
  [20, 15, 15, 1],
])('where each costs %d s of %d, so many may end within %d s: %d', (noauth, min, seconds, most) => {
  const { throttle } = paced()
  throttle.configure({ state: 'in_force', authfail: 5, noauth, min, version: '10.0', address: '192.0.2.1', exempt: '' })

  expect(throttle.mostAbandoned(seconds)).toBe(most)
})
