import { restyled, type Style } from './ansi.ts'

/** A part of a line with one style. */
export interface Span {
  text: string
  style: Style
}

/** A line without escape sequences. `spans` is set only for a line that is not plain. */
export interface Line {
  text: string
  spans?: readonly Span[]
}

export interface Lines {
  /** Adds a chunk of the output, cut anywhere. Calls `onLine` for each completed line. */
  feed(text: string, onLine?: (line: string) => void): void
  /** The number of kept lines. The last line may be incomplete. */
  count(): number
  /** The number of dropped lines at the beginning. */
  dropped(): number
  at(index: number): Line
  /** All kept lines, separated by `\n`. */
  text(): string
}

/** The limit that keeps a browser window fast; a job may print a thousand times as much. */
const MAX_LINES = 200_000
const MAX_CHARACTERS = 48 * 1024 * 1024
/** The longest part of a line that is kept: some programs never end a line. */
const LONGEST_LINE = 16_384
/** The longest escape sequence; anything longer is not one. */
const LONGEST_SEQUENCE = 4_096
const TAB = 8

// CSI, OSC and other strings to their end, two-character sequences. ECMA-48, xterm's "Control Sequences".
// biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal's output is made of them.
const SEQUENCE = /^\u001b(?:\[([0-?]*)[ -/]*([@-~])|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)|[ -/]*[0-NO-WYZ`-~])/
// biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal's output is made of them.
const UNFINISHED = /^\u001b(?:$|\[[0-?]*[ -/]*$|[\]PX^_][^\u0007\u001b]*\u001b?$|[ -/]+$)/
/** The text up to the next control character. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal's output is made of them.
const PLAIN = /[^\u0000-\u001f\u007f]+/y

/** Interprets an output line by line as a terminal would: escape sequences, carriage returns and backspaces. */
export function createLines({ mostLines = MAX_LINES, mostCharacters = MAX_CHARACTERS } = {}): Lines {
  const ended: Line[] = []
  /** Entries of `ended` before this index are empty. */
  let first = 0
  let dropped = 0
  let characters = 0
  let rest = ''
  let style: Style = 0
  let text = ''
  let styles: Style[] | undefined
  let column = 0

  const write = (given: string) => {
    const added = given.slice(0, Math.max(0, LONGEST_LINE - column))
    if (column > text.length) text = text.padEnd(column)
    const end = column + added.length
    if (style !== 0 || styles) {
      styles ??= []
      for (let n = styles.length; n < column; n += 1) styles[n] = 0
      for (let n = column; n < end; n += 1) styles[n] = style
    }
    text = column === text.length ? text + added : text.slice(0, column) + added + text.slice(end)
    column = end
  }
  const line = (): Line => (styles?.some((each) => each !== 0) ? { text, spans: spansOf(text, styles) } : { text })
  const end = (onLine?: (line: string) => void) => {
    const whole = line()
    ended.push(whole)
    characters += whole.text.length
    onLine?.(whole.text)
    text = ''
    styles = undefined
    column = 0
    while (ended.length - first > mostLines || (characters > mostCharacters && ended.length - first > 1)) {
      characters -= ended[first]?.text.length ?? 0
      ended[first] = { text: '' }
      first += 1
      dropped += 1
    }
    // Copies only when at least half of the entries are empty.
    if (first > 1024 && first > ended.length / 2) {
      ended.splice(0, first)
      first = 0
    }
  }
  const erase = (how: string) => {
    if (how === '1') text = ' '.repeat(Math.min(column, text.length)) + text.slice(column)
    else if (how === '2') text = ''
    else text = text.slice(0, column)
    if (styles && text.length < styles.length) styles.length = text.length
  }

  return {
    feed(given, onLine) {
      const all = rest + given
      rest = ''
      let at = 0
      while (at < all.length) {
        PLAIN.lastIndex = at
        const [plain] = PLAIN.exec(all) ?? []
        if (plain !== undefined) {
          write(plain)
          at += plain.length
          continue
        }
        const control = all[at]
        if (control === '\u001b') {
          const ahead = all.slice(at, at + LONGEST_SEQUENCE)
          const [sequence, parameters = '', final] = SEQUENCE.exec(ahead) ?? []
          if (sequence === undefined && UNFINISHED.test(ahead) && ahead.length < LONGEST_SEQUENCE) {
            rest = ahead
            return
          }
          if (final === 'm') style = restyled(style, parameters)
          else if (final === 'K') erase(parameters)
          at += sequence?.length ?? 1
          continue
        }
        if (control === '\n') end(onLine)
        else if (control === '\r') column = 0
        else if (control === '\b') column = Math.max(0, column - 1)
        else if (control === '\t') write(' '.repeat(TAB - (column % TAB)))
        at += 1
      }
    },
    count: () => ended.length - first + (text === '' ? 0 : 1),
    dropped: () => dropped,
    at: (index) => (index < ended.length - first ? ended[first + index] : undefined) ?? line(),
    text() {
      const kept = ended.slice(first).map((each) => each.text)
      if (text !== '') kept.push(text)
      return kept.join('\n')
    },
  }
}

function spansOf(text: string, styles: readonly Style[]): Span[] {
  const spans: Span[] = []
  for (let from = 0; from < text.length; ) {
    const style = styles[from] ?? 0
    let to = from + 1
    while (to < text.length && (styles[to] ?? 0) === style) to += 1
    spans.push({ text: text.slice(from, to), style })
    from = to
  }
  return spans
}
