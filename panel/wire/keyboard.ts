import { signal } from '@preact/signals'

const STORAGE_KEY = 'ops-panel.single-keys'

/** Whether shortcuts without Ctrl or Cmd work. It depends on the device, for example one with voice input, so the browser stores it. */
export const singleKeys = signal(kept())

export function switchSingleKeys(on: boolean): void {
  singleKeys.value = on
  try {
    if (on) localStorage.removeItem(STORAGE_KEY)
    else localStorage.setItem(STORAGE_KEY, 'off')
  } catch {
    // Without storage, it lasts until the page is reloaded.
  }
}

function kept(): boolean {
  try {
    return localStorage.getItem(STORAGE_KEY) !== 'off'
  } catch {
    return true
  }
}

export const isMac = /\b(Macintosh|iPhone|iPad)\b/.test(navigator.userAgent)

/** The shortcut of the palette as this keyboard labels it, and as `aria-keyshortcuts` needs it. */
export const PALETTE_KEY = isMac ? '⌘ K' : 'Ctrl K'
export const PALETTE_SHORTCUT = isMac ? 'Meta+K' : 'Control+K'
