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

test('g and a letter open a page; g and an unknown letter do nothing', () => {
  const press = keyboard()
  expect(press('g')).toEqual({ do: 'wait' })
  expect(press('u')).toEqual({ do: 'go', page: 'updates' })
  expect(press('u')).toBeUndefined()
  press('g')
  expect(press('x')).toEqual({ do: 'stopWaiting' })
  expect(press('u')).toBeUndefined()
})

test('a forgotten g has no effect later', () => {
  const press = keyboard()
  press('g', { now: 1_000 })
  expect(press('u', { now: 1_001 + WAIT_MS })).toBeUndefined()
})

test('Escape cancels g, and so does focusing a field', () => {
  const press = keyboard()
  press('g')
  expect(press('Escape')).toEqual({ do: 'stopWaiting' })
  press('g')
  expect(press('u', { where: 'field' })).toEqual({ do: 'stopWaiting' })
  expect(press('u')).toBeUndefined()
})

test('capital letters count, and Shift alone is ignored', () => {
  const press = keyboard()
  press('G')
  expect(press('Shift')).toBeUndefined()
  expect(press('T')).toEqual({ do: 'go', page: 'terminal' })
})

test('/ and f press the elements of the page, and ? shows the shortcuts', () => {
  const press = keyboard()
  expect(press('/')).toEqual({ do: 'press', key: '/' })
  expect(press('f')).toEqual({ do: 'press', key: 'f' })
  expect(press('?')).toEqual({ do: 'help' })
})

test.each(['field', 'closed'] as const)('single-key shortcuts do nothing in a %s', (where) => {
  const press = keyboard({ where })
  for (const key of ['g', 'u', '/', 'f', '?']) expect(press(key)).toBeUndefined()
})

test('browser shortcuts and repeated keys are ignored', () => {
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

test('Ctrl K works in fields, except on a Mac, where it deletes to the end of the line', () => {
  const press = keyboard({ ctrlKey: true })
  expect(press('k', { where: 'field' })).toEqual({ do: 'palette' })
  expect(press('k', { where: 'closed' })).toBeUndefined()
  expect(press('k', { where: 'field', isMac: true })).toBeUndefined()
})

test('on a Mac, Cmd K opens the palette everywhere except over a dialog', () => {
  const press = keyboard({ metaKey: true, isMac: true })
  expect(press('k', { where: 'field' })).toEqual({ do: 'palette' })
  expect(press('K')).toEqual({ do: 'palette' })
  expect(press('k', { where: 'closed' })).toBeUndefined()
  expect(press('k', { isMac: false })).toBeUndefined()
})
