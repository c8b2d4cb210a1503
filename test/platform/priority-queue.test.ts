import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createPriorityQueue } from '../../platform/priority-queue.ts'

/** Work that records its beginning and ends on request. */
function controlled(names: readonly string[]) {
  const begun: string[] = []
  const ends = new Map<string, { resolve(value: string): void; reject(error: Error): void }>()
  const work = (name: string) => () => {
    begun.push(name)
    return new Promise<string>((resolve, reject) => ends.set(name, { resolve, reject }))
  }
  return { begun, work: names.map(work), end: (name: string) => ends.get(name)?.resolve(name), ends }
}

test('the queue runs up to its limit; further work waits in order', async () => {
  const queue = createPriorityQueue({ running: 2, waiting: 10 })
  const { begun, work, end } = controlled(['a', 'b', 'c', 'd'])
  const results = work.map((one) => queue.run(one))
  await setImmediate()
  expect(begun).toEqual(['a', 'b'])

  end('b')
  await setImmediate()
  expect(begun).toEqual(['a', 'b', 'c'])
  end('a')
  await setImmediate()
  expect(begun).toEqual(['a', 'b', 'c', 'd'])

  end('c')
  end('d')
  expect(await Promise.all(results)).toEqual(['a', 'b', 'c', 'd'].map((result) => ({ result })))
})

test('work beyond the limits is refused without running', async () => {
  const queue = createPriorityQueue({ running: 1, waiting: 1 })
  const { begun, work, end } = controlled(['a', 'b', 'c'])
  const [first, second, third] = work.map((one) => queue.run(one))

  expect(await third).toBeUndefined()
  end('a')
  await first
  await setImmediate()
  end('b')
  expect(await second).toEqual({ result: 'b' })
  expect(begun).toEqual(['a', 'b'])
})

test('work that throws, at once or later, frees its slot', async () => {
  const queue = createPriorityQueue({ running: 1, waiting: 1 })
  const { work, ends } = controlled(['a'])
  const [a] = work.map((one) => queue.run(one))
  const next = queue.run(async () => 'next')
  await setImmediate()

  ends.get('a')?.reject(new Error('later'))
  await expect(a).rejects.toThrow('later')
  expect(await next).toEqual({ result: 'next' })
  const atOnce = queue.run(() => {
    throw new Error('at once')
  })
  await expect(atOnce).rejects.toThrow('at once')
  expect(await queue.run(async () => 'again')).toEqual({ result: 'again' })
})

test('a crowd never exceeds the limit, and no work is lost', async () => {
  const queue = createPriorityQueue({ running: 3, waiting: 1000 })
  let inside = 0
  let most = 0
  const crowd = Array.from({ length: 300 }, (_, at) =>
    queue.run(async () => {
      inside += 1
      most = Math.max(most, inside)
      for (let turn = 0; turn < at % 4; turn += 1) await setImmediate()
      inside -= 1
      if (at % 7 === 0) throw new Error('on the way')
      return at
    }),
  )

  const ended = await Promise.allSettled(crowd)

  expect(most).toBe(3)
  expect(inside).toBe(0)
  expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(300 - 43)
})

/** One slot, which is taken, and a queue; each entry has a name. */
async function occupied(waiting: number) {
  const queue = createPriorityQueue({ running: 1, waiting })
  const order: string[] = []
  const { work, end } = controlled(['inside'])
  const [hold = async () => ''] = work
  const first = queue.run(hold)
  await setImmediate()
  return {
    order,
    /** Enters and, in its turn, finishes at once; settles with its outcome. */
    come: (name: string, rank?: number, signal?: AbortSignal) =>
      queue.run(
        async () => {
          order.push(name)
          return name
        },
        { ...(rank !== undefined && { rank }), ...(signal && { signal }) },
      ),
    async open() {
      end('inside')
      await first
    },
  }
}

test('the lowest rank goes first, and equal ranks keep their order', async () => {
  const { come, open, order } = await occupied(10)
  const results = [
    come('a2', 2),
    come('b0', 0),
    come('c2', 2),
    come('d'),
    come('e-1', -1),
    come('f1', 1),
    come('g0', 0),
  ]

  await open()
  await Promise.all(results)

  expect(order).toEqual(['e-1', 'b0', 'd', 'g0', 'f1', 'a2', 'c2'])
})

test('a full queue drops its last entry for a lower rank, and for no other', async () => {
  const { come, open, order } = await occupied(3)
  const [first, second, third] = [come('a', 1), come('b', 5), come('c', 5)]

  expect(await come('as high as the last', 5)).toBeUndefined()
  expect(await come('higher', 6)).toBeUndefined()
  const better = come('d', 4)
  expect(await third).toBeUndefined()
  const best = come('e', -1)
  expect(await second).toBeUndefined()
  await open()

  expect(await Promise.all([first, better, best])).toEqual([{ result: 'a' }, { result: 'd' }, { result: 'e' }])
  expect(order).toEqual(['e', 'a', 'd'])
})

test('without waiting places, nothing is displaced', async () => {
  const { come, open, order } = await occupied(0)

  expect(await come('a', -1)).toBeUndefined()
  await open()

  expect(order).toEqual([])
  expect(await come('b')).toEqual({ result: 'b' })
})

test('an entry that aborts leaves the queue, and its place is free', async () => {
  const { come, open, order } = await occupied(2)
  const leaving = new AbortController()
  const [gone, stays] = [come('gone', 0, leaving.signal), come('stays')]
  expect(await come('too many')).toBeUndefined()

  leaving.abort()
  expect(await gone).toBeUndefined()
  const late = come('late')
  await open()

  expect(await Promise.all([stays, late])).toEqual([{ result: 'stays' }, { result: 'late' }])
  expect(order).toEqual(['stays', 'late'])
})

test('an aborted signal neither waits nor displaces', async () => {
  const { come, open, order } = await occupied(1)
  const waiting = come('waiting', 5)

  expect(await come('gone', -1, AbortSignal.abort())).toBeUndefined()
  await open()

  expect(await waiting).toEqual({ result: 'waiting' })
  expect(order).toEqual(['waiting'])
})

test('an abort does not affect running or finished work', async () => {
  const queue = createPriorityQueue({ running: 1, waiting: 1 })
  const { work, end, begun } = controlled(['a', 'b'])
  const [a = async () => '', b = async () => ''] = work
  const [atOnce, afterWaiting] = [new AbortController(), new AbortController()]
  const [first, second] = [queue.run(a, { signal: atOnce.signal }), queue.run(b, { signal: afterWaiting.signal })]
  await setImmediate()

  atOnce.abort()
  await setImmediate()
  expect(begun).toEqual(['a'])
  end('a')
  expect(await first).toEqual({ result: 'a' })
  await setImmediate()
  afterWaiting.abort()
  end('b')

  expect(await second).toEqual({ result: 'b' })
  expect(await queue.run(async () => 'next')).toEqual({ result: 'next' })
})

test('an abort after displacement affects no other entry', async () => {
  const { come, open } = await occupied(1)
  const leaving = new AbortController()
  const displaced = come('displaced', 5, leaving.signal)
  const better = come('better', 0)
  expect(await displaced).toBeUndefined()

  leaving.abort()
  await open()

  expect(await better).toEqual({ result: 'better' })
})

test('delayed work begins when its time has come, and other work does not wait for it', async () => {
  let heldUntil = Number.POSITIVE_INFINITY
  const begun: number[] = []
  const pace = {
    delay: (rank: number) => (rank < 0 ? 0 : Math.max(0, heldUntil - performance.now())),
    begin: () => void begun.push(performance.now()),
  }
  const queue = createPriorityQueue({ running: 2, waiting: 10 }, pace)
  const order: string[] = []
  const run = (name: string, rank: number) => queue.run(async () => void order.push(name), { rank })
  const held = [run('first', 0), run('second', 0)]
  await setImmediate()
  expect(order).toEqual([])

  await run('known', -1)
  expect(order).toEqual(['known'])
  heldUntil = performance.now() + 30
  queue.recheck()
  await Promise.all(held)

  expect(order).toEqual(['known', 'first', 'second'])
  expect(begun[1]).toBeGreaterThanOrEqual(heldUntil)
  expect(begun).toHaveLength(3)
})

test('only a lower rank overtakes delayed work, and an abort leaves no timer', async () => {
  let held = true
  const queue = createPriorityQueue({ running: 5, waiting: 10 }, { delay: () => (held ? 60_000 : 0), begin: () => {} })
  const order: string[] = []
  const leave = new AbortController()
  const run = (name: string, rank: number, signal?: AbortSignal) =>
    queue.run(async () => void order.push(name), { rank, ...(signal && { signal }) })
  const gone = run('gone', 0, leave.signal)
  const all = [run('b', 1), run('a', 0)]
  leave.abort()
  expect(await gone).toBeUndefined()

  held = false
  all.push(run('c', 1))
  queue.recheck()
  await Promise.all(all)

  expect(order).toEqual(['a', 'b', 'c'])
})
