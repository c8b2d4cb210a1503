import { expect, test } from 'vitest'
import { endOf, exitOf } from '../../../panel/nouns/shell.ts'

const exit = (frame: object) => exitOf(JSON.stringify({ type: 'exit', ...frame }))

test.each([
  ['an exit code is told', exit({ code: 3 }), 1000, { why: 'exit', code: 3 }],
  ['so is why there is none', exit({ code: null, reason: 'SSH.' }), 1000, { why: 'ended', reason: 'SSH.' }],
  ['or that nothing is known of it', exit({ code: null }), 1000, { why: 'ended' }],
  ['too many terminals', exit({ code: null, reason: 'Trop.' }), 1013, { why: 'busy' }],
  ['no such target', exit({ code: null, reason: 'Cible.' }), 1008, { why: 'refused', reason: 'Cible.' }],
  ['no exit, and a frame that was none', undefined, 1008, { why: 'refused' }],
  ['a session that has ended', undefined, 4401, { why: 'session' }],
  ['rights that were taken away', undefined, 4403, { why: 'forbidden' }],
  ['a service that stops', undefined, 1001, { why: 'gone' }],
  ['a service that cannot write', undefined, 1011, { why: 'gone' }],
  ['a connection that was cut', undefined, 1006, { why: 'lost' }],
])('%s', (_, last, closed, expected) => {
  expect(endOf(last, closed, true)).toEqual(expected)
})

test('a socket that never opened is distinguished from a cut one', () => {
  expect(endOf(undefined, 1006, false)).toEqual({ why: 'unanswered' })
})

test.each(['', '[]', 'null', '"exit"', '{"type":"resize","cols":80,"rows":24}', '{"type":"exit"'])(
  'a frame that is not an exit message is ignored: %s',
  (frame) => {
    expect(exitOf(frame)).toBeUndefined()
  },
)

test('known fields of a later service’s exit message are used', () => {
  expect(exit({ code: 'three', reason: 4, more: true })).toEqual({ code: null })
})
