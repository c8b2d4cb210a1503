import { signal } from '@preact/signals'
import type { IconNode } from 'lucide'
import type { Shortcut } from '../nouns/links.ts'
import { onSignOut } from './panel.ts'

const STORAGE_KEY = 'ops-panel.recent'
const MAX_RECENT = 6

/** The last commands chosen in the palette, newest first. */
export const recent = signal<readonly string[]>(kept())

export function remember(command: string): void {
  recent.value = [command, ...recent.value.filter((each) => each !== command)].slice(0, MAX_RECENT)
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify(recent.value))
  } catch {
    // Without storage, they are known until the page is reloaded.
  }
}

function kept(): string[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '[]')
    return Array.isArray(found) ? found.filter((each) => typeof each === 'string').slice(0, MAX_RECENT) : []
  } catch {
    return []
  }
}

onSignOut(() => {
  recent.value = []
  try {
    localStorage.removeItem(STORAGE_KEY)
  } catch {
    // Without storage there is nothing to remove.
  }
})

/** The links of dashboard shortcuts and modules; undefined until they are known. */
export const places = signal<readonly (Shortcut & { drawn?: IconNode })[]>()

onSignOut(() => {
  places.value = undefined
})
