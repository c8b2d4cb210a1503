import { setImmediate as nextTurn } from 'node:timers/promises'

/*
 * The sections that the scripts of a check and of a plan print: a word at the beginning of a line, then indented lines.
 * They come from a target, so they may contain anything.
 */

/** Lines read in one turn of the event loop, so that other work gets its turns in between. */
export const LINES_PER_TURN = 500

/** Calls `visit` for each line or other item, in slices with turns of the event loop between them. */
export async function inSlices<item>(items: Iterable<item>, visit: (one: item) => void): Promise<void> {
  let at = 0
  for (const one of items) {
    if (at++ % LINES_PER_TURN === 0) await nextTurn()
    visit(one)
  }
}

/** Removes control and format characters: a target must not move the reader's cursor or reverse the text. */
export function withoutControls(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ').trimEnd()
}

/**
 * Splits the output into words at the beginning of a line, and the indented lines below each word. `isTwice`: a word came
 * more than once; the last one counts.
 */
export async function partsOf(
  lines: readonly string[],
): Promise<{ words: Map<string, string>; sections: Map<string, string[]>; isTwice: boolean }> {
  const words = new Map<string, string>()
  const sections = new Map<string, string[]>()
  let current: string[] | undefined
  let isTwice = false
  await inSlices(lines, (line) => {
    if (line.startsWith(' ')) {
      if (line.trim() !== '') current?.push(line.slice(1))
    } else if (line !== '') {
      const space = line.indexOf(' ')
      const word = space < 0 ? line : line.slice(0, space)
      isTwice ||= words.has(word)
      words.set(word, space < 0 ? '' : line.slice(space + 1))
      current = []
      sections.set(word, current)
    }
  })
  return { words, sections, isTwice }
}

/** Returns the exit code that the last line of a section tells, `code 0`; NaN without one. */
export function codeOf(lines: readonly string[]): number {
  return Number(/^code (\d+)$/.exec(lines.at(-1) ?? '')?.[1] ?? Number.NaN)
}
