import { expect, test } from 'vitest'
import { stillRefused } from '../../../panel/nouns/refused.ts'

const sent = { name: '', waves: [{ targets: [], pause: -1 }, { targets: [] }], settings: { port: 0 } }
const errors = {
  name: 'a',
  'waves.0.targets': 'b',
  'waves.1.targets': 'c',
  'settings.port': 'd',
  'settings.token': 'e',
}
const left = (typed: unknown) => Object.keys(stillRefused(errors, { sent, typed }))

test('nothing was changed: every field is still refused', () => {
  expect(left(structuredClone(sent))).toEqual(Object.keys(errors))
})

test.each([
  ['a name', { ...sent, name: 'x' }, 'name'],
  ['a target of one wave', { ...sent, waves: [{ targets: ['host'], pause: -1 }, { targets: [] }] }, 'waves.0.targets'],
  ['a number', { ...sent, settings: { port: 25 } }, 'settings.port'],
  ['a secret, which is left out while it is empty', { ...sent, settings: { port: 0, token: 'x' } }, 'settings.token'],
  ['a wave that is gone', { ...sent, waves: [{ targets: [], pause: -1 }] }, 'waves.1.targets'],
])('%s: only its own error goes away', (_, typed, field) => {
  expect(left(typed)).toEqual(Object.keys(errors).filter((each) => each !== field))
})

test('a value that is typed back is refused again', () => {
  expect(left({ ...sent, name: 'x' })).not.toContain('name')
  expect(left({ ...sent, name: '' })).toContain('name')
})
