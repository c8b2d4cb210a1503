import { expect, test } from 'vitest'
import { AnswerTooLong, readLines } from '../../ssh/channel.ts'

const asItIs = (line: string) => (line === '' ? undefined : line)

test('each line is read in order, including an unterminated last one', async () => {
  expect(await readLines('one\n\ntwo\r\nthree', asItIs)).toEqual(['one', 'two\r', 'three'])
  expect(await readLines('', asItIs)).toEqual([])
})

test.each([
  { what: 'short', text: 'x\n'.repeat(100_000), turns: 200 },
  { what: 'long', text: `${'x'.repeat(4_000)}\n`.repeat(1_000), turns: 50 },
])('the event loop turns while many $what lines are read', async ({ text, turns }) => {
  let turned = 0
  let reading = true
  const turn = () => {
    turned += 1
    if (reading) setImmediate(turn)
  }
  setImmediate(turn)

  expect(await readLines(text, () => undefined)).toEqual([])
  reading = false

  expect(turned).toBeGreaterThanOrEqual(turns)
})

test('ten thousand items are a list, and one more is refused', async () => {
  expect(await readLines('x\n'.repeat(10_000), asItIs)).toHaveLength(10_000)
  await expect(readLines('x\n'.repeat(10_001), asItIs)).rejects.toThrow(AnswerTooLong)
})

test('a line of four thousand characters is read, and one of a megabyte refuses the list', async () => {
  expect(await readLines(`${'x'.repeat(4_096)}\n`, asItIs)).toHaveLength(1)
  await expect(readLines(`one\n${'x'.repeat(1_000_000)}\ntwo\n`, asItIs)).rejects.toThrow(AnswerTooLong)
})
