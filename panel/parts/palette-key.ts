export const isMac = /\b(Macintosh|iPhone|iPad)\b/.test(navigator.userAgent)

/** The keys of the palette, as they stand on this keyboard, and as `aria-keyshortcuts` has them. */
export const PALETTE_KEY = isMac ? '⌘ K' : 'Ctrl K'
export const PALETTE_SHORTCUT = isMac ? 'Meta+K' : 'Control+K'
