/** Characters that are compared; the longest versions in the archive have less than a tenth of them. */
const LONGEST = 1_024

const ZERO = 48
const TILDE = 126

/**
 * Compares two versions as deb-version(7) orders them: negative when `a` is older than `b`, 0 when they are equal. The
 * time grows with the length of the texts, of which the first 1,024 characters count.
 */
export function compareDebianVersions(a: string, b: string): number {
  const [one, other] = [partsOf(a.slice(0, LONGEST)), partsOf(b.slice(0, LONGEST))]
  return (
    comparePart(one.epoch, other.epoch) ||
    comparePart(one.upstream, other.upstream) ||
    comparePart(one.revision, other.revision)
  )
}

function partsOf(version: string): { epoch: string; upstream: string; revision: string } {
  const colon = version.indexOf(':')
  const rest = version.slice(colon + 1)
  const dash = rest.lastIndexOf('-')
  return {
    epoch: version.slice(0, Math.max(0, colon)),
    upstream: dash < 0 ? rest : rest.slice(0, dash),
    revision: dash < 0 ? '' : rest.slice(dash + 1),
  }
}

/** Compares runs of other characters and runs of digits in turn; a run of digits counts as a number. */
function comparePart(a: string, b: string): number {
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    while ((i < a.length && !isDigit(a, i)) || (j < b.length && !isDigit(b, j))) {
      const difference = orderAt(a, i) - orderAt(b, j)
      if (difference !== 0) return difference
      i += 1
      j += 1
    }
    while (a.charCodeAt(i) === ZERO) i += 1
    while (b.charCodeAt(j) === ZERO) j += 1
    let first = 0
    while (isDigit(a, i) && isDigit(b, j)) {
      first ||= a.charCodeAt(i) - b.charCodeAt(j)
      i += 1
      j += 1
    }
    if (isDigit(a, i)) return 1
    if (isDigit(b, j)) return -1
    if (first !== 0) return first
  }
  return 0
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code >= ZERO && code <= ZERO + 9
}

/** A tilde sorts before the end, the end and digits before letters, and letters before every other character. */
function orderAt(text: string, at: number): number {
  const code = text.charCodeAt(at)
  if (Number.isNaN(code) || isDigit(text, at)) return 0
  if (code === TILDE) return -1
  const isLetter = (code >= 65 && code <= 90) || (code >= 97 && code <= 122)
  return isLetter ? code : code + 256
}
