import { expect, test } from 'vitest'
import { type Command, createKeys, type Pressed, WAIT_MS } from '../../../panel/nouns/keys.ts'

interface Given extends Partial<Pressed> {
  singleKeys?: boolean
  isMac?: boolean
  now?: number
}

function keyboard(always: Given = {}): (key: string, given?: Given) => Command | undefined {
  const keys = createKeys()
  return (key, given) => {
    const { singleKeys = true, isMac = false, now = 0, ...rest } = { ...always, ...given }
    const pressed = {
      key,
      ctrlKey: false,
      metaKey: false,
      altKey: false,
      repeat: false,
      where: 'page' as const,
      ...rest,
    }
    return keys(pressed, { singleKeys, isMac, now })
  }
}

test('g and a letter go to a page; g and another one go nowhere', () => {
  const press = keyboard()
  expect(press('g')).toEqual({ do: 'wait' })
  expect(press('u')).toEqual({ do: 'go', page: 'updates' })
  expect(press('u')).toBeUndefined()
  press('g')
  expect(press('x')).toEqual({ do: 'stopWaiting' })
  expect(press('u')).toBeUndefined()
})

test('a g that was forgotten does not lead away later', () => {
  const press = keyboard()
  press('g', { now: 1_000 })
  expect(press('u', { now: 1_001 + WAIT_MS })).toBeUndefined()
})

test('Escape takes a g back, and so does leaving for a field', () => {
  const press = keyboard()
  press('g')
  expect(press('Escape')).toEqual({ do: 'stopWaiting' })
  press('g')
  expect(press('u', { where: 'field' })).toEqual({ do: 'stopWaiting' })
  expect(press('u')).toBeUndefined()
})

test('capitals count as their letter, and Shift on the way to one is no answer', () => {
  const press = keyboard()
  press('G')
  expect(press('Shift')).toBeUndefined()
  expect(press('T')).toEqual({ do: 'go', page: 'terminal' })
})

test('/ and f press what the page has under them, ? shows the map', () => {
  const press = keyboard()
  expect(press('/')).toEqual({ do: 'press', key: '/' })
  expect(press('f')).toEqual({ do: 'press', key: 'f' })
  expect(press('?')).toEqual({ do: 'help' })
})

test.each(['field', 'closed'] as const)('no single key counts in a %s', (where) => {
  const press = keyboard({ where })
  for (const key of ['g', 'u', '/', 'f', '?']) expect(press(key)).toBeUndefined()
})

test('keys of the browser and keys that are held down are left alone', () => {
  const press = keyboard()
  expect(press('f', { ctrlKey: true })).toBeUndefined()
  expect(press('f', { metaKey: true })).toBeUndefined()
  expect(press('/', { altKey: true })).toBeUndefined()
  expect(press('f', { repeat: true })).toBeUndefined()
})

test('single keys can be switched off, and Ctrl K stays', () => {
  const press = keyboard({ singleKeys: false })
  for (const key of ['g', 'u', '/', 'f', '?']) expect(press(key)).toBeUndefined()
  expect(press('k', { ctrlKey: true })).toEqual({ do: 'palette' })
})

test('Ctrl K works in fields, and not where it erases to the end of the line', () => {
  const press = keyboard({ ctrlKey: true })
  expect(press('k', { where: 'field' })).toEqual({ do: 'palette' })
  expect(press('k', { where: 'closed' })).toBeUndefined()
  expect(press('k', { where: 'field', isMac: true })).toBeUndefined()
})

test('on a Mac it is Cmd K, everywhere but over a question', () => {
  const press = keyboard({ metaKey: true, isMac: true })
  expect(press('k', { where: 'field' })).toEqual({ do: 'palette' })
  expect(press('K')).toEqual({ do: 'palette' })
  expect(press('k', { where: 'closed' })).toBeUndefined()
  expect(press('k', { isMac: false })).toBeUndefined()
})
