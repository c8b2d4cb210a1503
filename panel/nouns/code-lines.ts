/** A row of a text that people are to judge: one line of it, or a part of a long one. */
export interface CodeLine {
  /** The number of its line; undefined for the later parts of a long line. */
  number: number | undefined
  text: string
  /** Set in a comparison: a line that is new, one that is gone, or the place of what follows. */
  kind?: 'comes' | 'goes' | 'place'
}

/** Longer lines continue in the next row: a browser needs seconds for a line of a million characters. */
const LONGEST_ROW = 1_000

/** Splits a text into rows. Nothing of it is interpreted: a terminal would let a carriage return hide what stands before it. */
export function codeLines(text: string): CodeLine[] {
  const rows: CodeLine[] = []
  const lines = text.split('\n')
  // The end of the last line is none of its own.
  if (lines.at(-1) === '') lines.pop()
  for (const [at, line] of lines.entries()) pushLine(rows, { number: at + 1, text: line })
  return rows
}

function pushLine(rows: CodeLine[], line: CodeLine): void {
  if (line.text.length <= LONGEST_ROW) {
    rows.push(line)
    return
  }
  for (let from = 0; from < line.text.length; from += LONGEST_ROW)
    rows.push({
      ...line,
      number: from === 0 ? line.number : undefined,
      text: line.text.slice(from, from + LONGEST_ROW),
    })
}

/**
 * Characters that nobody sees, or that change the order of what is seen: controls but the tab, and the marks of Unicode for directions, joins,
 * lines and tags ("Trojan Source", CVE-2021-42574).
 */
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex lint/suspicious/noMisleadingCharacterClass: these are the ones that it looks for.
  /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb]|[\u{e0000}-\u{e0fff}]/gu

/** A part of a row; `code` stands for a character that would not be seen. */
export interface CodePart {
  text: string
  isUnseen: boolean
}

/** Splits a row at the characters that would not be seen, and names these: `U+202E`. */
export function partsOf(text: string): CodePart[] {
  const parts: CodePart[] = []
  let at = 0
  for (const { 0: found, index } of text.matchAll(UNSEEN)) {
    if (index > at) parts.push({ text: text.slice(at, index), isUnseen: false })
    const code = (found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
    parts.push({ text: `U+${code}`, isUnseen: true })
    at = index + found.length
  }
  if (at < text.length) parts.push({ text: text.slice(at), isUnseen: false })
  return parts
}

/** A text in which the characters that would not be seen are named: a name from outside reorders no sentence around it. */
export function legible(text: string): string {
  return partsOf(text)
    .map((part) => part.text)
    .join('')
}

/** How many characters of a text would not be seen. The ends of its lines do not count. */
export function unseenIn(text: string): number {
  let count = 0
  for (const { 0: found } of text.matchAll(UNSEEN)) if (found !== '\n') count += 1
  return count
}

/** Unchanged lines around a change. */
const AROUND = 3
/** Above this number of changed lines, all between the first and the last change is shown as replaced. */
const MOST_CHANGES = 1_000

/** Compares two texts line by line; the rows are those of a unified comparison. Empty for equal texts. */
export function comparedLines(before: string, after: string): CodeLine[] {
  const [olds, news] = [before.split('\n'), after.split('\n')]
  for (const lines of [olds, news]) if (lines.at(-1) === '') lines.pop()
  let first = 0
  while (first < olds.length && first < news.length && olds[first] === news[first]) first += 1
  let last = 0
  while (last < olds.length - first && last < news.length - first && olds.at(-1 - last) === news.at(-1 - last))
    last += 1
  const steps = stepsBetween(olds.slice(first, olds.length - last), news.slice(first, news.length - last))
  const all: Step[] = [
    ...olds.slice(0, first).map((text): Step => ({ kind: 'same', text })),
    ...steps,
    ...olds.slice(olds.length - last).map((text): Step => ({ kind: 'same', text })),
  ]
  return hunksOf(all)
}

interface Step {
  kind: 'same' | 'goes' | 'comes'
  text: string
}

/** The steps from one list of lines to the other: the fewest, unless there are too many (Myers, "An O(ND) difference algorithm"). */
function stepsBetween(olds: readonly string[], news: readonly string[]): Step[] {
  const [n, m] = [olds.length, news.length]
  const goes = (text: string): Step => ({ kind: 'goes', text })
  const comes = (text: string): Step => ({ kind: 'comes', text })
  const most = Math.min(n + m, MOST_CHANGES)
  const furthest = new Int32Array(2 * most + 3)
  const trace: Int32Array[] = []
  const middle = most + 1
  for (let d = 0; d <= most; d += 1) {
    trace.push(furthest.slice(middle - d - 1, middle + d + 2))
    for (let k = -d; k <= d; k += 2) {
      const at = (of: number) => furthest[middle + of] ?? 0
      let x = k === -d || (k !== d && at(k - 1) < at(k + 1)) ? at(k + 1) : at(k - 1) + 1
      while (x < n && x - k < m && olds[x] === news[x - k]) x += 1
      furthest[middle + k] = x
      if (x >= n && x - k >= m) return walkedBack(olds, news, trace)
    }
  }
  return [...olds.map(goes), ...news.map(comes)]
}

function walkedBack(olds: readonly string[], news: readonly string[], trace: readonly Int32Array[]): Step[] {
  const steps: Step[] = []
  let [x, y] = [olds.length, news.length]
  for (let d = trace.length - 1; d >= 0; d -= 1) {
    const before = trace[d]
    const at = (k: number) => before?.[k + d + 1] ?? 0
    const k = x - y
    const from = k === -d || (k !== d && at(k - 1) < at(k + 1)) ? k + 1 : k - 1
    const [fromX, fromY] = d === 0 ? [0, 0] : [at(from), at(from) - from]
    while (x > fromX && y > fromY) {
      x -= 1
      y -= 1
      steps.push({ kind: 'same', text: olds[x] ?? '' })
    }
    if (d === 0) break
    if (x === fromX) {
      y -= 1
      steps.push({ kind: 'comes', text: news[y] ?? '' })
    } else {
      x -= 1
      steps.push({ kind: 'goes', text: olds[x] ?? '' })
    }
  }
  return steps.reverse()
}

/** The changed steps with some unchanged ones around them, each run of them below its place. */
function hunksOf(steps: readonly Step[]): CodeLine[] {
  const isNear = new Uint8Array(steps.length)
  for (const [at, { kind }] of steps.entries())
    if (kind !== 'same') isNear.fill(1, Math.max(0, at - AROUND), at + AROUND + 1)
  const rows: CodeLine[] = []
  let [old, next] = [0, 0]
  for (const [at, { kind, text }] of steps.entries()) {
    if (kind !== 'comes') old += 1
    if (kind !== 'goes') next += 1
    if (isNear[at] === 0) continue
    if (at === 0 || isNear[at - 1] === 0)
      rows.push({ number: undefined, text: `@@ ${Math.max(old, 1)} → ${Math.max(next, 1)} @@`, kind: 'place' })
    pushLine(rows, { number: kind === 'goes' ? old : next, text, ...(kind !== 'same' && { kind }) })
  }
  return rows
}
