import { EventEmitter, once } from 'node:events'
import { expect, test } from 'vitest'
import { remoteCalls } from '../../db/libsql/remote-calls.ts'

/** Calls that the test answers or refuses. */
function calling(calls: ReturnType<typeof remoteCalls>) {
  const server = new EventEmitter()
  const made: string[] = []
  return {
    made,
    call: (name: string) =>
      calls(async () => {
        made.push(name)
        await once(server, name)
      }),
    answer: (name: string) => void server.emit(name),
    refuse: (error: Error) => void server.emit('error', error),
  }
}

test('a limited number of calls is made at a time, and the others in their order', async () => {
  const { call, answer, made } = calling(remoteCalls({ most: 2 }))
  const done = ['one', 'two', 'three', 'four'].map(call)

  expect(made).toEqual(['one', 'two'])
  answer('two')
  await done[1]
  await expect.poll(() => made).toEqual(['one', 'two', 'three'])
  answer('one')
  await expect.poll(() => made).toEqual(['one', 'two', 'three', 'four'])
  answer('three')
  answer('four')
  await Promise.all(done)
})

test('a failed call makes room for the next one, and rejects with its error', async () => {
  const { call, answer, refuse, made } = calling(remoteCalls({ most: 1 }))
  const [failed, next] = [call('one'), call('two')]

  refuse(new Error('refused'))
  await expect(failed).rejects.toThrow('refused')
  await expect.poll(() => made).toEqual(['one', 'two'])
  answer('two')
  await next
})

test('a call that times out before its turn is never made, and the next one is', async () => {
  const { call, answer, made } = calling(remoteCalls({ most: 1, timeoutMs: 20 }))
  const [silent, late] = [call('silent'), call('late')]

  await expect(silent).rejects.toThrow('no answer within 20 ms')
  await expect(late).rejects.toThrow('no answer within 20 ms')
  answer('silent')
  await new Promise((resolve) => setImmediate(resolve))
  const next = call('next')
  answer('next')
  await next

  expect(made).toEqual(['silent', 'next'])
})
