import type { PageName } from '../routes.ts'

/** After `g`, each of these letters opens a page. */
export const DESTINATIONS = {
  d: 'dashboard',
  u: 'updates',
  c: 'containers',
  s: 'schedules',
  t: 'terminal',
  m: 'modules',
  n: 'notifications',
  r: 'settings',
  l: 'logs',
  a: 'audit',
  p: 'account',
} as const satisfies Readonly<Record<string, PageName>>

/** The command of a key. `wait` waits for the letter of a page; `press` activates the element that has this key. */
export type Command =
  | { do: 'palette' | 'help' | 'wait' | 'stopWaiting' }
  | { do: 'go'; page: PageName }
  | { do: 'press'; key: '/' | 'f' }

/** A key event and its context. */
export interface Pressed {
  key: string
  ctrlKey: boolean
  metaKey: boolean
  altKey: boolean
  repeat: boolean
  /** `closed`: a dialog is open. Keys typed in a terminal never arrive here. */
  where: 'page' | 'field' | 'closed'
}

interface Settings {
  /** Whether keys without Ctrl or Cmd count. Voice input may trigger many of them. */
  singleKeys: boolean
  isMac: boolean
  /** In ms; only differences matter. */
  now: number
}

/** After `g`, a letter counts for this long: a forgotten `g` must not change the page later. */
export const WAIT_MS = 3_000

/** Interprets keys one after another; returns undefined for keys that the panel does not use. */
export function createKeys(): (pressed: Pressed, settings: Settings) => Command | undefined {
  let waitingSince: number | undefined
  return ({ key, ctrlKey, metaKey, altKey, repeat, where }, { singleKeys, isMac, now }) => {
    const isWaiting = waitingSince !== undefined && now - waitingSince <= WAIT_MS
    // Shift alone is part of the next key.
    if (key === 'Shift') return undefined
    waitingSince = undefined
    const letter = key.length === 1 ? key.toLowerCase() : key
    // On a Mac, Ctrl K deletes to the end of the line in fields.
    const isPaletteKey = isMac ? metaKey && !ctrlKey : ctrlKey && !metaKey
    if (letter === 'k' && isPaletteKey && !altKey && where !== 'closed') return { do: 'palette' }
    if (!singleKeys || where !== 'page' || ctrlKey || metaKey || altKey || repeat)
      return isWaiting ? { do: 'stopWaiting' } : undefined
    if (isWaiting) return isDestination(letter) ? { do: 'go', page: DESTINATIONS[letter] } : { do: 'stopWaiting' }
    if (letter === 'g') {
      waitingSince = now
      return { do: 'wait' }
    }
    if (letter === '?') return { do: 'help' }
    if (letter === '/' || letter === 'f') return { do: 'press', key: letter }
    return undefined
  }
}

function isDestination(letter: string): letter is keyof typeof DESTINATIONS {
  return Object.hasOwn(DESTINATIONS, letter)
}
