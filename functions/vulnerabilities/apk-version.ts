/** Characters that are compared; the longest versions in the archive have less than a tenth of them. */
const LONGEST = 1_024

/** The suffixes in their order; a version without one comes between those of pre-releases and the others. */
const SUFFIXES = ['alpha', 'beta', 'pre', 'rc', '', 'cvs', 'svn', 'git', 'hg', 'p']
const NO_SUFFIX = SUFFIXES.indexOf('')

interface Version {
  numbers: string[]
  letter: string
  suffixes: { rank: number; number: string }[]
  revision: string
}

/**
 * Compares two versions as apk-package(5) orders them: negative when `a` is older than `b`, 0 when they are equal,
 * undefined when one of them is no version of apk, because apk gives such ones no order to rely on. The hash of a commit
 * has none either.
 */
export function compareApkVersions(a: string, b: string): number | undefined {
  const [one, other] = [parsed(a), parsed(b)]
  if (!one || !other) return undefined
  return (
    compareNumbers(one.numbers, other.numbers) ||
    compareTexts(one.letter, other.letter) ||
    compareSuffixes(one.suffixes, other.suffixes) ||
    compareTexts(numeric(one.revision), numeric(other.revision))
  )
}

/** `number{.number}…{letter}{_suffix{number}}…{~hash}{-r#}` */
const PATTERN = /^(\d+(?:\.\d+)*)([a-z]?)((?:_[a-z]+\d*)*)(?:~[0-9a-f]+)?(?:-r(\d+))?$/

function parsed(version: string): Version | undefined {
  const match = version.length <= LONGEST ? PATTERN.exec(version) : null
  if (!match) return undefined
  const [, numbers = '', letter = '', tail = '', revision = ''] = match
  const suffixes = [...tail.matchAll(/_([a-z]+)(\d*)/g)].map(([, name = '', number = '']) => ({
    rank: SUFFIXES.indexOf(name),
    number,
  }))
  if (suffixes.some(({ rank }) => rank < 0)) return undefined
  return { numbers: numbers.split('.'), letter, suffixes, revision }
}

/**
 * Numbers after the first one that begin with a zero count as digits after a decimal point: `1.06` is older than `1.1`.
 * Of two equal beginnings the longer one is newer.
 */
function compareNumbers(a: readonly string[], b: readonly string[]): number {
  for (const [at, one] of a.entries()) {
    const other = b[at]
    if (other === undefined) return 1
    const isFraction = at > 0 && (one.startsWith('0') || other.startsWith('0'))
    const difference = isFraction ? compareFractions(one, other) : compareTexts(numeric(one), numeric(other))
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

/** More leading zeros are less; where both have as many, the digits after them decide as a number. */
function compareFractions(a: string, b: string): number {
  const zeros = (text: string) => /^0*/.exec(text)?.[0].length ?? 0
  return zeros(b) - zeros(a) || compareTexts(numeric(a), numeric(b))
}

function compareSuffixes(a: Version['suffixes'], b: Version['suffixes']): number {
  for (let at = 0; at < Math.max(a.length, b.length); at += 1) {
    const [one, other] = [a[at], b[at]]
    const difference = (one?.rank ?? NO_SUFFIX) - (other?.rank ?? NO_SUFFIX)
    if (difference !== 0) return difference
    const numbers = compareTexts(numeric(one?.number ?? ''), numeric(other?.number ?? ''))
    if (numbers !== 0) return numbers
  }
  return 0
}

/**
 * A run of digits as a text that sorts like its number, which may have more digits than a number of JavaScript holds.
 * Without digits it sorts first.
 */
function numeric(digits: string): string {
  if (digits === '') return ''
  const significant = digits.replace(/^0+/, '')
  return String.fromCharCode(significant.length) + significant
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
