import { expect, test } from 'vitest'
import { createFlood, MAX_WAITING, TAIL } from '../../../panel/nouns/flood.ts'

/** A screen that shows what it was given when it is told to, and what it has been given. */
function screen() {
  const given: string[] = []
  const left: (() => void)[] = []
  const write = createFlood({
    show(bytes, shown) {
      given.push(Buffer.from(bytes).toString())
      left.push(shown)
    },
    showGap: (bytes) => given.push(`[${bytes}]`),
  })
  return {
    given,
    write: (text: string) => write(Buffer.from(text)),
    /** Shows all that it has been given, and what is given meanwhile. */
    catchUp() {
      for (let next = left.shift(); next; next = left.shift()) next()
    },
    showOne: () => left.shift()?.(),
  }
}

const LOT = 'y\n'.repeat(1024 * 1024)

test('slow output is shown as it comes', () => {
  const { given, write, catchUp } = screen()

  for (let n = 0; n < 10; n += 1) {
    write(LOT)
    catchUp()
  }

  expect(given.join('') === LOT.repeat(10)).toBe(true)
})

test('fast output loses its middle, which is counted; its end with the prompt is shown', () => {
  const { given, write, catchUp } = screen()
  for (let n = 0; n < 10; n += 1) write(LOT)
  write('^C\r\nroot@web:~# ')
  expect(given.length).toBe(3)

  catchUp()

  const [first, second, third, gap, tail = '', ...more] = given
  expect([first, second, third].every((each) => each === LOT)).toBe(true)
  expect(more).toEqual([])
  expect(tail).toMatch(/^(y\n)+\^C\r\nroot@web:~# $/)
  expect(tail.length).toBeLessThanOrEqual(TAIL)
  expect(gap).toBe(`[${7 * LOT.length + '^C\r\nroot@web:~# '.length - tail.length}]`)
})

test('a short backlog is not skipped, and the order stays', () => {
  const { given, write, catchUp, showOne } = screen()
  for (let n = 0; n < 3; n += 1) write(LOT)
  write('a')
  // There is room now, but not for what comes after something that waits.
  showOne()
  write('b')

  catchUp()
  write('c')

  expect(given.slice(3).join('|')).toBe('ab|c')
})

test('a line without an end is cut to its last part too', () => {
  const { given, write, catchUp } = screen()
  write('x'.repeat(MAX_WAITING + 1))
  write('y'.repeat(3 * TAIL))

  catchUp()

  expect(given.slice(1)).toEqual([`[${2 * TAIL}]`, 'y'.repeat(TAIL)])
})

test('output after a flood is shown normally, and the next gap is counted separately', () => {
  const { given, write, catchUp } = screen()
  const flood = () => {
    write('x'.repeat(MAX_WAITING + 1))
    write('y'.repeat(2 * TAIL))
    catchUp()
  }

  flood()
  flood()

  expect(given.filter((each) => each.startsWith('['))).toEqual([`[${TAIL}]`, `[${TAIL}]`])
})
