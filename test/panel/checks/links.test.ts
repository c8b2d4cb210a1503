import { expect, test } from 'vitest'
import { safeLink } from '../../../panel/nouns/links.ts'
import { shortcutsIn } from '../../../panel/nouns/shortcuts.ts'

test.each([
  'javascript:alert(1)',
  'JavaScript:alert(1)',
  'java\nscript:alert(1)',
  '\u0001javascript:alert(1)',
  'data:text/html,x',
  'vbscript:x',
  '//evil.example',
  '/\\evil.example',
  '/\t/evil.example',
  'evil.example',
  'https:evil',
  'https://',
  '',
  null,
  undefined,
])('%j leads nowhere', (href) => {
  expect(safeLink(href)).toBeUndefined()
})

test.each(['/', '/updates?x=1', 'https://pve.example:8006/#v1', 'http://[::1]:3000/', 'HTTPS://EXAMPLE.ORG'])(
  '%s is a link',
  (href) => {
    expect(safeLink(href)).toBe(href)
  },
)

test('of stored shortcuts those with a safe address are shown', () => {
  const stored = [
    { label: 'Proxmox', href: 'https://pve.example' },
    { label: 'Evil', href: 'javascript:alert(1)' },
    { href: '/updates' },
    'no',
    null,
  ]
  expect(shortcutsIn(JSON.stringify(stored))).toEqual([
    { label: 'Proxmox', href: 'https://pve.example' },
    { label: '/updates', href: '/updates' },
  ])
  expect(['', 'no json', '{}', 'null'].map(shortcutsIn)).toEqual([[], [], [], []])
})
