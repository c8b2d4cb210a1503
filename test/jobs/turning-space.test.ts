import { expect, test } from 'vitest'
import { createTurningSpace } from '../../jobs/turning-space.ts'

test('copies last while the other space is filled; what finds no room is left as it is', () => {
  const space = createTurningSpace(8)
  const packet = Buffer.from('abcd')
  const first = space.keep(packet)
  packet.fill('x')
  const second = space.keep(Buffer.from('efgh'))
  const late = Buffer.from('i')
  expect(space.keep(late)).toBe(late)

  space.turn()
  space.keep(Buffer.from('12345678'))
  expect(`${first}${second}`).toBe('abcdefgh')

  space.turn()
  expect(`${space.keep(Buffer.from('AB'))}`).toBe('AB')
  expect(`${first}${second}`).toBe('ABcdefgh')
})
