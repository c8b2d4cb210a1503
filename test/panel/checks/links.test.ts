import { expect, test } from 'vitest'
import { safeLink } from '../../../panel/nouns/links.ts'
import { shortcutsIn } from '../../../panel/nouns/shortcuts.ts'
import { PADDED_LINKS, SAFE_LINKS, UNSAFE_LINKS } from '../../links.ts'

test.each([...UNSAFE_LINKS, ...PADDED_LINKS, null, undefined])('%j leads nowhere', (href) => {
  expect(safeLink(href)).toBeUndefined()
})

test.each(SAFE_LINKS)('%s is a link, with blanks around it too', (href) => {
  expect([safeLink(href), safeLink(`\t ${href} \n`)]).toEqual([href, href])
})

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
