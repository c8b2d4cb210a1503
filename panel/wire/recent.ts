import { signal } from '@preact/signals'
import { atSignOut } from './panel.ts'

const KEPT = 'ops-panel.recent'
const AT_MOST = 6

/** The commands that were chosen last in the palette, the newest first. */
export const recent = signal<readonly string[]>(kept())

export function remember(command: string): void {
  recent.value = [command, ...recent.value.filter((each) => each !== command)].slice(0, AT_MOST)
  try {
    localStorage.setItem(KEPT, JSON.stringify(recent.value))
  } catch {
    // They are known as long as the page is not loaded anew.
  }
}

function kept(): string[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(KEPT) ?? '[]')
    return Array.isArray(found) ? found.filter((each) => typeof each === 'string').slice(0, AT_MOST) : []
  } catch {
    return []
  }
}

atSignOut(() => {
  recent.value = []
  try {
    localStorage.removeItem(KEPT)
  } catch {
    // Nor were they kept.
  }
})
