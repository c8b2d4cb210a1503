import { PassThrough } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { takeEach } from '../../ssh/channel.ts'

const piece = (text: string) => Buffer.from(text)

test('each piece is handed over at once and as it came, until the stream ends', async () => {
  const stream = new PassThrough()
  const taken: string[] = []
  const ended = takeEach(stream, (bytes) => {
    taken.push(bytes.toString())
    return undefined
  })

  stream.write(piece('one'))
  stream.write(piece('two'))
  await pause(10)
  expect(taken).toEqual(['one', 'two'])
  stream.end(piece('three'))

  await ended
  expect(taken).toEqual(['one', 'two', 'three'])
})

test('nothing comes while the taker is not ready, and all of it later', async () => {
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

  await pause(20)
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
] as const)('a taker that %s is asked no more', async (_, take) => {
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
  await pause(10)
  expect(asked).toBe(1)
  expect(stream.listenerCount('data')).toBe(0)
})

test('the end waits for the last piece to be taken, and is no end when that fails', async () => {
  for (const [settle, outcome] of [
    [() => Promise.resolve(), 'ended'],
    [() => Promise.reject(new Error('not stored')), 'not stored'],
  ] as const) {
    const stream = new PassThrough()
    let taken = false
    stream.end(piece('one and only'))
    await pause(5)
    const ended = takeEach(stream, async () => {
      await pause(20)
      taken = true
      await settle()
    })

    const told = await ended.then(
      () => 'ended',
      (error: Error) => error.message,
    )

    expect([told, taken]).toEqual([outcome, true])
  }
})

test('a stream that fails is told as failed, and one that is over already as ended', async () => {
  const failing = new PassThrough()
  const told = takeEach(failing, () => undefined)
  failing.destroy(new Error('broken'))
  await expect(told).rejects.toThrow('broken')

  const over = new PassThrough()
  over.end()
  over.resume()
  await pause(5)
  await takeEach(over, () => undefined)
})

test('a stream that is destroyed has come to its end', async () => {
  const stream = new PassThrough()
  const ended = takeEach(stream, () => undefined)

  stream.destroy()

  await ended
})
