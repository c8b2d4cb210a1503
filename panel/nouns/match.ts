/** Start (inclusive) and end (exclusive) of a range. */
export type Range = readonly [from: number, to: number]

export interface Match {
  /** Higher is better. */
  score: number
  /** The matched ranges in order. */
  ranges: readonly Range[]
}

const WORD_START = 8
const ADJACENT = 5
const WHOLE_WORD = 4

/** Scores a text for a search of one or more words; undefined when a word is missing. */
export function match(search: string, text: string): Match | undefined {
  const plain = plainOf(text)
  const found = plainOf(search)
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => matchWord(word, plain))
  const matches = found.filter((each) => each !== undefined)
  if (matches.length < found.length) return undefined
  return {
    score: matches.reduce((sum, { score }) => sum + score, 0),
    ranges: merged(matches.flatMap(({ ranges }) => ranges)),
  }
}

/** Removes accents and capitals; every character keeps its position. */
function plainOf(text: string): string {
  return Array.from({ length: text.length }, (_, n) => {
    const plain = text.charAt(n).normalize('NFD').charAt(0).toLowerCase()
    return plain.length === 1 ? plain : text.charAt(n)
  }).join('')
}

/** Prefers a contiguous match, best at the start of a word; otherwise matches scattered letters, the first at the start of a word. */
function matchWord(word: string, text: string): Match | undefined {
  return inOnePiece(word, text) ?? scattered(word, text)
}

function inOnePiece(word: string, text: string): Match | undefined {
  let best: Match | undefined
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    const to = at + word.length
    const score =
      word.length * ADJACENT + (startsWord(text, at) ? WORD_START : 0) + (isInWord(text, to) ? 0 : WHOLE_WORD)
    if (!best || score > best.score) best = { score, ranges: [[at, to]] }
  }
  return best
}

function scattered(word: string, text: string): Match | undefined {
  let best: Match | undefined
  for (let start = 0; start < text.length; start += 1) {
    if (text[start] !== word[0] || !startsWord(text, start)) continue
    for (const found of [lettersFrom(word, text, start, nextStart), lettersFrom(word, text, start)])
      if (found && (!best || found.score > best.score)) best = found
  }
  return best
}

/** `prefers` may return a better position for a letter than the next one. */
function lettersFrom(
  word: string,
  text: string,
  start: number,
  prefers: typeof nextStart = noPlace,
): Match | undefined {
  const places = [start]
  let score = WORD_START
  for (const letter of word.slice(1)) {
    const after = (places.at(-1) ?? 0) + 1
    const next = text[after] === letter ? after : (prefers(letter, text, after) ?? text.indexOf(letter, after))
    if (next === -1) return undefined
    score += next === after ? 2 : startsWord(text, next) ? 3 : -2
    places.push(next)
  }
  // Letters scattered all over the text are not a match.
  return score > 0 ? { score, ranges: merged(places.map((at) => [at, at + 1])) } : undefined
}

/** The next word start with this letter. */
function nextStart(letter: string, text: string, from: number): number | undefined {
  for (let at = text.indexOf(letter, from); at !== -1; at = text.indexOf(letter, at + 1))
    if (startsWord(text, at)) return at
  return undefined
}

function noPlace(): number | undefined {
  return undefined
}

function startsWord(text: string, at: number): boolean {
  return !isInWord(text, at - 1)
}

function isInWord(text: string, at: number): boolean {
  return /[\p{L}\p{N}]/u.test(text.charAt(at))
}

function merged(ranges: readonly Range[]): Range[] {
  const all: [number, number][] = []
  for (const [from, to] of [...ranges].sort(([one], [other]) => one - other)) {
    const last = all.at(-1)
    if (last && from <= last[1]) last[1] = Math.max(last[1], to)
    else all.push([from, to])
  }
  return all
}

/** Splits a text into matched and other pieces. */
export function pieces(text: string, ranges: readonly Range[]): { text: string; marked: boolean }[] {
  let at = 0
  const all = ranges.flatMap(([from, to]) => {
    const both = [
      { text: text.slice(at, from), marked: false },
      { text: text.slice(from, to), marked: true },
    ]
    at = to
    return both
  })
  return [...all, { text: text.slice(at), marked: false }].filter((each) => each.text !== '')
}
