import { signal } from '@preact/signals'

const KEPT = 'ops-panel.single-keys'

/** Whether keys without Ctrl or Cmd do something. It is a matter of the device, a voice in the place of a keyboard say: kept in the browser. */
export const singleKeys = signal(kept())

export function switchSingleKeys(on: boolean): void {
  singleKeys.value = on
  try {
    if (on) localStorage.removeItem(KEPT)
    else localStorage.setItem(KEPT, 'off')
  } catch {
    // It lasts as long as the page is not loaded anew.
  }
}

function kept(): boolean {
  try {
    return localStorage.getItem(KEPT) !== 'off'
  } catch {
    return true
  }
}
