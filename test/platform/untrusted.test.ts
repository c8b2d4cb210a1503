import { expect, test } from 'vitest'
import { parseJson, readUpTo } from '../../platform/untrusted.ts'

/** A stream of chunks of one byte each, with the number of chunks that were pulled and whether it was cancelled. */
function stream(size: number) {
  const seen = { pulled: 0, cancelled: false }
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (seen.pulled === size) return controller.close()
        seen.pulled += 1
        controller.enqueue(Buffer.from('x'))
      },
      cancel() {
        seen.cancelled = true
      },
    },
    { highWaterMark: 0 },
  )
  return { body, seen }
}

test.each([0, 1, 9, 10])('a body of %i bytes is read whole when the limit is 10 bytes', async (size) => {
  const { body, seen } = stream(size)

  expect((await readUpTo(10, body))?.toString()).toBe('x'.repeat(size))
  expect(seen).toEqual({ pulled: size, cancelled: false })
})

test('a body over the limit is cancelled at the first byte beyond it', async () => {
  const { body, seen } = stream(1_000)

  expect(await readUpTo(10, body)).toBeUndefined()
  expect(seen).toEqual({ pulled: 11, cancelled: true })
})

test('no body is an empty one', async () => {
  expect(await readUpTo(10, null)).toEqual(Buffer.alloc(0))
})

test('a body that breaks off rejects with its own error', async () => {
  const broken = new Error('broken off')
  const body = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(broken) })

  await expect(readUpTo(10, body)).rejects.toBe(broken)
})

test('the bytes stay as they came, a byte order mark and invalid UTF-8 included', async () => {
  const bytes = Buffer.from([0xef, 0xbb, 0xbf, 0xff, 0x00])

  expect(await readUpTo(10, new Response(bytes).body)).toEqual(bytes)
})

test.each([
  ['{"a":[1]}', { a: [1] }],
  ['null', null],
  ['"a"', 'a'],
  ['', undefined],
  ['{', undefined],
  ['undefined', undefined],
  ['\uFEFF{}', undefined],
])('%j is parsed to %j', (text, expected) => {
  expect(parseJson(text)).toEqual(expected)
})
