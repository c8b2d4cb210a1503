import type { PageName } from '../routes.ts'

/** After `g`, each of these goes to a page. */
export const DESTINATIONS = {
  d: 'dashboard',
  u: 'updates',
  c: 'containers',
  t: 'terminal',
  m: 'modules',
  r: 'settings',
  l: 'logs',
  a: 'audit',
  p: 'account',
} as const satisfies Readonly<Record<string, PageName>>

/** What a key asks for. `wait` is for the letter of a page; `press` for what the page has under this key. */
export type Command =
  | { do: 'palette' | 'help' | 'wait' | 'stopWaiting' }
  | { do: 'go'; page: PageName }
  | { do: 'press'; key: '/' | 'f' }

/** A key as a browser tells of it, and where. */
export interface Pressed {
  key: string
  ctrlKey: boolean
  metaKey: boolean
  altKey: boolean
  repeat: boolean
  /** `closed`: a dialog asks something. A terminal keeps its keys to itself: they do not come here. */
  where: 'page' | 'field' | 'closed'
}

interface Settings {
  /** Whether keys without Ctrl or Cmd count: who speaks to a computer may set off many of them. */
  singleKeys: boolean
  isMac: boolean
  /** In ms; only differences matter. */
  now: number
}

/** So long a `g` waits for its letter: one that was forgotten must not lead away later. */
export const WAIT_MS = 3_000

/** Understands keys one after another; undefined is for keys that are none of the panel's. */
export function createKeys(): (pressed: Pressed, settings: Settings) => Command | undefined {
  let waitingSince: number | undefined
  return ({ key, ctrlKey, metaKey, altKey, repeat, where }, { singleKeys, isMac, now }) => {
    const isWaiting = waitingSince !== undefined && now - waitingSince <= WAIT_MS
    // Shift alone is on the way to another key.
    if (key === 'Shift') return undefined
    waitingSince = undefined
    const letter = key.length === 1 ? key.toLowerCase() : key
    // In the fields of a Mac, Ctrl K erases to the end of the line.
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
