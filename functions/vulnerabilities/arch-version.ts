/** Characters that are compared; the longest versions in the archive have less than a tenth of them. */
const LONGEST = 1_024

/**
 * Compares two versions `[epoch:]version[-release]` as vercmp(8) of pacman orders them: negative when `a` is older than
 * `b`, 0 when they are equal. A release counts only where both versions have one. The time grows with the length of the
 * texts, of which the first 1,024 characters count.
 */
export function compareArchVersions(a: string, b: string): number {
  const [one, other] = [partsOf(a.slice(0, LONGEST)), partsOf(b.slice(0, LONGEST))]
  const order = compareParts(one.epoch, other.epoch) || compareParts(one.version, other.version)
  if (order !== 0 || one.release === undefined || other.release === undefined) return order
  return compareParts(one.release, other.release)
}

function partsOf(text: string): { epoch: string; version: string; release: string | undefined } {
  const epoch = /^(\d*):/.exec(text)
  const rest = text.slice(epoch?.[0].length ?? 0)
  const dash = rest.lastIndexOf('-')
  return {
    epoch: epoch?.[1] || '0',
    version: dash < 0 ? rest : rest.slice(0, dash),
    release: dash < 0 ? undefined : rest.slice(dash + 1),
  }
}

const OTHERS = /[^A-Za-z0-9]*/y
const SEGMENT = /\d+|[A-Za-z]*/y

/**
 * Compares runs of digits or of letters in turn: a number is newer than letters, and a run after more other characters
 * is newer.
 */
function compareParts(a: string, b: string): number {
  if (a === b) return 0
  let [i, j] = [0, 0]
  while (i < a.length && j < b.length) {
    const [gap, otherGap] = [matchAt(OTHERS, a, i).length, matchAt(OTHERS, b, j).length]
    i += gap
    j += otherGap
    if (i === a.length || j === b.length) break
    if (gap !== otherGap) return gap - otherGap
    const [one, other] = [matchAt(SEGMENT, a, i), matchAt(SEGMENT, b, j)]
    const order = compareSegments(one, other)
    if (order !== 0) return order
    i += one.length
    j += other.length
  }
  if (i === a.length && j === b.length) return 0
  // Letters at once after an equal beginning belong to a pre-release: 1.0rc is older than 1.0.
  if (i === a.length) return isLetter(b, j) ? 1 : -1
  return isLetter(a, i) ? -1 : 1
}

function compareSegments(one: string, other: string): number {
  const isNumber = !isLetter(one, 0)
  if (isNumber === isLetter(other, 0)) return isNumber ? 1 : -1
  if (!isNumber) return compareTexts(one, other)
  const [number, another] = [one.replace(/^0+/, ''), other.replace(/^0+/, '')]
  return number.length - another.length || compareTexts(number, another)
}

function isLetter(text: string, at: number): boolean {
  return /^[A-Za-z]/.test(text.charAt(at))
}

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0] ?? ''
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
