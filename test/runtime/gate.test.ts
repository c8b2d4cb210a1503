import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createGate } from '../../runtime/gate.ts'

/** Work whose beginning is seen and whose end is given. */
function controlled(names: readonly string[]) {
  const begun: string[] = []
  const ends = new Map<string, { resolve(value: string): void; reject(error: Error): void }>()
  const work = (name: string) => () => {
    begun.push(name)
    return new Promise<string>((resolve, reject) => ends.set(name, { resolve, reject }))
  }
  return { begun, work: names.map(work), end: (name: string) => ends.get(name)?.resolve(name), ends }
}

test('lets as many in as it should; the others wait and come in order', async () => {
  const gate = createGate({ running: 2, waiting: 10 })
  const { begun, work, end } = controlled(['a', 'b', 'c', 'd'])
  const results = work.map((one) => gate.enter(one))
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

test('refuses, without running it, what would be one too many', async () => {
  const gate = createGate({ running: 1, waiting: 1 })
  const { begun, work, end } = controlled(['a', 'b', 'c'])
  const [first, second, third] = work.map((one) => gate.enter(one))

  expect(await third).toBeUndefined()
  end('a')
  await first
  await setImmediate()
  end('b')
  expect(await second).toEqual({ result: 'b' })
  expect(begun).toEqual(['a', 'b'])
})

test('work that throws, at once or later, frees its place', async () => {
  const gate = createGate({ running: 1, waiting: 1 })
  const { work, ends } = controlled(['a'])
  const [a] = work.map((one) => gate.enter(one))
  const next = gate.enter(async () => 'next')
  await setImmediate()

  ends.get('a')?.reject(new Error('later'))
  await expect(a).rejects.toThrow('later')
  expect(await next).toEqual({ result: 'next' })
  const atOnce = gate.enter(() => {
    throw new Error('at once')
  })
  await expect(atOnce).rejects.toThrow('at once')
  expect(await gate.enter(async () => 'again')).toEqual({ result: 'again' })
})

test('never lets in more at once, and loses nobody, in a crowd', async () => {
  const gate = createGate({ running: 3, waiting: 1000 })
  let inside = 0
  let most = 0
  const crowd = Array.from({ length: 300 }, (_, at) =>
    gate.enter(async () => {
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
