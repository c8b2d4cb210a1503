import { expect, test } from 'vitest'
import { safeLink, shortcutsIn } from '../../../panel/nouns/links.ts'
import { PADDED_LINKS, SAFE_LINKS, UNSAFE_LINKS } from '../../links.ts'

test.each([...UNSAFE_LINKS, ...PADDED_LINKS, null, undefined])('%j is not a safe link', (href) => {
  expect(safeLink(href)).toBeUndefined()
})

test.each(SAFE_LINKS)('%s is a safe link, also with spaces around it', (href) => {
  expect([safeLink(href), safeLink(`\t ${href} \n`)]).toEqual([href, href])
})

test('stored shortcuts with an unsafe address are left out', () => {
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
