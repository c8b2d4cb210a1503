import { expect, test } from 'vitest'
import { checkClose, checkFrame } from './declared-frames.ts'

const output = { type: 'update_output', topic: 'update:1', seq: 5, data: { chunk: 'Hello' } }

test('a declared frame passes, and so does one of a socket outside the service', () => {
  checkFrame('/ws/updates/1772366400-k3x9q2pa?from=3', JSON.stringify(output))
  checkFrame('/ws/terminal', '{"type":"exit","code":null,"reason":"Non."}')
  checkFrame('/ws/probe', '{"type":"whatever"}')
})

test.each([
  ['another type', { ...output, type: 'update_input' }],
  ['a field that is not declared', { ...output, host: 'pve1' }],
  ['one deeper down', { ...output, data: { chunk: 'Hello', offset: 0 } }],
  ['a field that is missing', { ...output, seq: undefined }],
  ['a field of another kind', { ...output, seq: -1 }],
])('a frame with %s is found', (_, frame) => {
  expect(() => checkFrame('/ws/updates/1', JSON.stringify(frame))).toThrow('does not declare')
})

test('an undeclared close code is found, and a close without a code is accepted', () => {
  checkClose('/ws/updates/1', 1000)
  checkClose('/ws/updates/1', 1006)
  expect(() => checkClose('/ws/updates/1', 1012)).toThrow('/ws/updates/:jobId does not declare 1012')
  expect(() => checkClose('/ws/updates/1', 1008)).not.toThrow()
})
