import { FitAddon } from '@xterm/addon-fit'
import { Terminal } from '@xterm/xterm'
import css from '@xterm/xterm/css/xterm.css' with { type: 'text' }
import { createFlood } from '../nouns/flood.ts'
import { colours, onColours } from './colours.ts'
import { addSheet, withSheets } from './csp-shim.ts'

export interface ScreenOptions {
  /** The accessible name of the input area. */
  label: string
  /** The text in place of skipped bytes. */
  saySkipped(bytes: number): string
  /** Called with typed or pasted bytes, and with the terminal's answers to programs. */
  onTyped(bytes: Uint8Array<ArrayBuffer>): void
  onSize(size: Size): void
  /** Called when the user leaves the terminal by key; inside a terminal, Tab is an ordinary key. */
  onLeave(): void
}

export interface Size {
  cols: number
  rows: number
}

/** Renders a shell. It stays alive while it is not in the page. */
export interface Screen {
  /** Shows the screen in `box`, in its full size. Returns the size in characters. */
  show(box: HTMLElement): Size
  write(bytes: Uint8Array): void
  /** Types a text as if by hand. */
  type(text: string): void
  paste(text: string): void
  focus(): void
  selection(): string
  /** Whether the program asked for application cursor keys. */
  isApplication(): boolean
  /** Whether screen readers announce every line. */
  speak(on: boolean): void
  /** Resets the screen for another shell and keeps the earlier output above it. */
  renew(): void
  dispose(): void
}

const base = new CSSStyleSheet()
base.replaceSync(css)
addSheet(base)

const SCROLLBACK_LINES = 5_000
/** Ends a cut sequence and its colours. ECMA-48: CAN, SGR. */
const CUT = '\x18\x1b[m\r\n'
const utf8 = new TextEncoder()

export function createScreen({ label, saySkipped, onTyped, onSize, onLeave }: ScreenOptions): Screen {
  Terminal.strings.promptLabel = label
  const calm = matchMedia('(prefers-reduced-motion: reduce)').matches
  const element = document.createElement('div')
  element.className = 'screen'
  const terminal = new Terminal({
    cursorBlink: !calm,
    fontFamily: getComputedStyle(document.documentElement).getPropertyValue('--mono'),
    fontSize: 14,
    // Programs choose colours for a black screen, but this one may be white.
    minimumContrastRatio: 4.5,
    scrollback: SCROLLBACK_LINES,
    theme: colours(),
  })
  const fit = new FitAddon()
  terminal.loadAddon(fit)
  const forget = onColours(() => {
    terminal.options.theme = colours()
  })
  terminal.onData((text) => onTyped(utf8.encode(text)))
  // Old programs read mouse positions as bytes, not text.
  terminal.onBinary((text) => onTyped(Uint8Array.from(text, (byte) => byte.charCodeAt(0))))
  terminal.onResize(onSize)
  terminal.attachCustomKeyEventHandler((event) => {
    if (!isLeaving(event)) return true
    event.preventDefault()
    if (event.type === 'keydown') onLeave()
    return false
  })
  const write = createFlood({
    show: (bytes, shown) => terminal.write(bytes, shown),
    showGap: (bytes) => terminal.write(`${CUT}${saySkipped(bytes)}\r\n`),
  })
  const resized = new ResizeObserver(() => {
    if (element.isConnected && element.clientHeight > 0) fit.fit()
  })
  resized.observe(element)
  return {
    show(box) {
      box.replaceChildren(element)
      if (!terminal.element) withSheets(() => terminal.open(element))
      fit.fit()
      return { cols: terminal.cols, rows: terminal.rows }
    },
    write,
    type: (text) => terminal.input(text),
    paste: (text) => terminal.paste(text),
    focus: () => terminal.focus(),
    selection: () => terminal.getSelection(),
    isApplication: () => terminal.modes.applicationCursorKeysMode,
    speak(on) {
      terminal.options.screenReaderMode = on
    },
    renew() {
      // A full reset would erase the earlier output. Leaving the alternate screen without being on it would move the cursor to the top.
      if (terminal.buffer.active.type === 'alternate') terminal.write('\x1b[?1049l')
      terminal.write('\x1b[!p\x1b[?1000;1002;1003;1004;1006;2004l\x1b[m\r\n')
    },
    dispose() {
      forget()
      resized.disconnect()
      terminal.dispose()
      element.remove()
    },
  }
}

/** Some systems reserve Ctrl Shift Escape, so Ctrl Shift F6 does the same. */
function isLeaving({ ctrlKey, shiftKey, key }: KeyboardEvent): boolean {
  return ctrlKey && shiftKey && (key === 'Escape' || key === 'F6')
}
