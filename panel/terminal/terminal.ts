import { FitAddon } from '@xterm/addon-fit'
import { Terminal } from '@xterm/xterm'
import css from '@xterm/xterm/css/xterm.css' with { type: 'text' }
import { createFlood } from '../nouns/flood.ts'
import { colours, onColours } from './colours.ts'
import { addSheet, withSheets } from './csp-shim.ts'

export interface ScreenOptions {
  /** What screen readers call the place where one types. */
  label: string
  /** What stands in the place of so many bytes that were not shown. */
  saySkipped(bytes: number): string
  /** What was typed or pasted, or what a program asked the terminal. */
  onTyped(bytes: Uint8Array<ArrayBuffer>): void
  onSize(size: Size): void
  /** Somebody wants to leave by key: to a terminal, Tab is a key as any other. */
  onLeave(): void
}

export interface Size {
  cols: number
  rows: number
}

/** What shows a shell. It lives on while it is not in the page. */
export interface Screen {
  /** Shows it in `box`, as large as that is. Returns its size. */
  show(box: HTMLElement): Size
  write(bytes: Uint8Array): void
  /** Types a text, as if by hand. */
  type(text: string): void
  paste(text: string): void
  focus(): void
  selection(): string
  /** Whether arrows are to be typed as programs ask for that take the whole screen. */
  isApplication(): boolean
  /** Whether screen readers are told of every line. */
  speak(on: boolean): void
  /** For another shell: as at the beginning, with what was shown above. */
  renew(): void
  dispose(): void
}

const base = new CSSStyleSheet()
base.replaceSync(css)
addSheet(base)

const LINES_KEPT = 5_000
/** Ends a sequence that was cut, and its colours. ECMA-48: CAN, SGR. */
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
    // Programs choose colours for a black screen; here it may be white.
    minimumContrastRatio: 4.5,
    scrollback: LINES_KEPT,
    theme: colours(),
  })
  const fit = new FitAddon()
  terminal.loadAddon(fit)
  const forget = onColours(() => {
    terminal.options.theme = colours()
  })
  terminal.onData((text) => onTyped(utf8.encode(text)))
  // Where the mouse is, by old programs: bytes, not text.
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
      // A full reset would take away what was shown. And who leaves a second screen without being on it lands at the top.
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

/** Some systems keep Ctrl Shift Escape for themselves: Ctrl Shift F6 does the same. */
function isLeaving({ ctrlKey, shiftKey, key }: KeyboardEvent): boolean {
  return ctrlKey && shiftKey && (key === 'Escape' || key === 'F6')
}
