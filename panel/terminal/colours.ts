import type { ITheme } from '@xterm/xterm'

/** The design tokens of the terminal's colours. */
const TOKENS = {
  background: '--surface',
  foreground: '--text',
  cursor: '--accent',
  cursorAccent: '--surface',
  selectionBackground: '--fill',
  selectionForeground: '--on-fill',
  selectionInactiveBackground: '--line',
  scrollbarSliderBackground: '--line',
  scrollbarSliderHoverBackground: '--control',
  scrollbarSliderActiveBackground: '--control',
  black: '--raised',
  red: '--err',
  green: '--ok',
  yellow: '--warn',
  blue: '--accent',
  magenta: '--magenta',
  cyan: '--cyan',
  white: '--text',
  brightBlack: '--dim',
  brightRed: '--err',
  brightGreen: '--ok',
  brightYellow: '--warn',
  brightBlue: '--accent',
  brightMagenta: '--magenta',
  brightCyan: '--cyan',
  brightWhite: '--text',
} as const satisfies ITheme

/** The current colours of the panel. The value of a token is only text, so an element resolves it. */
export function colours(): ITheme {
  const probe = document.createElement('span')
  document.body.append(probe)
  const theme = Object.fromEntries(
    Object.entries(TOKENS).map(([name, token]) => {
      probe.style.color = `var(${token})`
      return [name, getComputedStyle(probe).color]
    }),
  )
  probe.remove()
  return theme
}

/** Calls `changed` when the colours of the panel may have changed. Returns a function that stops this. */
export function onColours(changed: () => void): () => void {
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const chosen = new MutationObserver(changed)
  chosen.observe(document.documentElement, { attributeFilter: ['data-theme'] })
  dark.addEventListener('change', changed)
  return () => {
    chosen.disconnect()
    dark.removeEventListener('change', changed)
  }
}
