import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { takeEach } from '../../ssh/channel.ts'

const piece = (text: string) => Buffer.from(text)

test('each chunk is passed on at once and unchanged, until the stream ends', async () => {
  const stream = new PassThrough()
  const taken: string[] = []
  const ended = takeEach(stream, (bytes) => {
    taken.push(bytes.toString())
    return undefined
  })

  stream.write(piece('one'))
  stream.write(piece('two'))
  await nextTurn()
  expect(taken).toEqual(['one', 'two'])
  stream.end(piece('three'))

  await ended
  expect(taken).toEqual(['one', 'two', 'three'])
})

test('no chunk arrives while the receiver is busy, and all arrive later', async () => {
  const stream = new PassThrough()
  const taken: string[] = []
  let ready = () => {}
  const ended = takeEach(stream, (bytes) => {
    taken.push(bytes.toString())
    return taken.length === 1
      ? new Promise((resolve) => {
          ready = resolve
        })
      : undefined
  })
  stream.write(piece('one'))
  stream.write(piece('two'))
  stream.end(piece('three'))

  await nextTurn()
  expect(taken).toEqual(['one'])
  ready()

  await ended
  expect(taken).toEqual(['one', 'two', 'three'])
})

test.each([
  [
    'throws',
    () => {
      throw new Error('no more')
    },
  ],
  ['rejects', () => Promise.reject(new Error('no more'))],
] as const)('a receiver that %s gets no more chunks', async (_, take) => {
  const stream = new PassThrough()
  let asked = 0
  const ended = takeEach(stream, () => {
    asked += 1
    return take()
  })
  stream.write(piece('one'))

  await expect(ended).rejects.toThrow('no more')
  stream.write(piece('two'))
  stream.resume()
  await nextTurn()
  expect(asked).toBe(1)
  expect(stream.listenerCount('data')).toBe(0)
})

test('the read ends after the last chunk is taken, and fails when taking it fails', async () => {
  for (const [settle, outcome] of [
    [() => Promise.resolve(), 'ended'],
    [() => Promise.reject(new Error('not stored')), 'not stored'],
  ] as const) {
    const stream = new PassThrough()
    let takeIt = () => {}
    const taken = new Promise<void>((resolve) => {
      takeIt = resolve
    })
    const received: string[] = []
    stream.end(piece('one and only'))
    await nextTurn()
    const ended = takeEach(stream, () => taken.then(settle)).then(
      () => received.push('ended'),
      (error: Error) => received.push(error.message),
    )

    await nextTurn()
    expect(received).toEqual([])
    takeIt()

    await ended
    expect(received).toEqual([outcome])
  }
})

test('a failing stream rejects, and a finished one resolves', async () => {
  const failing = new PassThrough()
  const received = takeEach(failing, () => undefined)
  failing.destroy(new Error('broken'))
  await expect(received).rejects.toThrow('broken')

  const over = new PassThrough()
  const closed = once(over, 'close')
  over.end()
  over.resume()
  await closed
  await takeEach(over, () => undefined)
})

test('a destroyed stream resolves the read', async () => {
  const stream = new PassThrough()
  const ended = takeEach(stream, () => undefined)

  stream.destroy()

  await ended
})
