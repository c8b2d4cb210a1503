import { setImmediate as nextTurn } from 'node:timers/promises'
import { INSPECTION_BYTES } from './check-script.ts'

/** The output of one target, or the list of containers: the lines between two marks, without their leading space. */
export interface OutputBlock {
  name: string
  code: number
  lines: string[]
}

/** Characters of one block, more than the script lets through for a target. */
const MAX_CHARACTERS = 2 * INSPECTION_BYTES
/** Characters of one line; the rest of a longer line is dropped. */
const LINE = 4096
/** Lines of one block: six for each of 10,000 packages. */
const MAX_LINES = 60_000

/**
 * Reads the output of a check piece by piece and passes each complete block to `take`. Drops a block that has no end
 * mark or is too long; its target then counts as not responding.
 */
export async function readBlocks(
  pieces: AsyncIterable<Buffer>,
  mark: string,
  take: (block: OutputBlock) => Promise<void>,
): Promise<void> {
  const head = `${mark} `
  let open: (OutputBlock & { characters: number; broken: boolean }) | undefined
  let rest = ''

  /** Returns a promise only for a line that ends a block; the caller reads all other lines without waiting. */
  const line = (text: string): Promise<void> | undefined => {
    let taken: Promise<void> | undefined
    if (text.startsWith(head)) {
      const [word = '', second = ''] = text.slice(head.length).split(' ')
      const closes = word === 'end'
      if (closes && open?.name === second && !open.broken)
        taken = take({ name: open.name, code: open.code, lines: open.lines })
      open = closes ? undefined : { name: word, code: Number(second), lines: [], characters: 0, broken: false }
    } else if (open && text.startsWith(' ')) {
      open.characters += text.length
      if (open.characters > MAX_CHARACTERS || open.lines.length >= MAX_LINES) {
        open.broken = true
        open.lines = []
      }
      if (!open.broken) open.lines.push(withoutControls(text.slice(1, LINE)))
    } else if (open && text !== '') open.broken = true
    return taken
  }

  const decoder = new TextDecoder()
  for await (const piece of pieces) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    // A line that never ends would otherwise be joined again with every piece.
    if (rest.length > 2 * LINE) rest = rest.slice(0, LINE)
    for (const [at, each] of lines.entries()) {
      if (at % LINES_PER_TURN === 0) await nextTurn()
      const taken = line(each)
      if (taken) await taken
    }
  }
  await line(rest + decoder.decode())
}

/** Lines read in one turn of the event loop, so that other work gets its turns in between. */
const LINES_PER_TURN = 500

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

/** Splits the output into words at the beginning of a line, and the indented lines below each word. */
export async function partsOf(
  lines: readonly string[],
): Promise<{ words: Map<string, string>; sections: Map<string, string[]> }> {
  const words = new Map<string, string>()
  const sections = new Map<string, string[]>()
  let current: string[] | undefined
  await inSlices(lines, (line) => {
    if (line.startsWith(' ')) {
      if (line.trim() !== '') current?.push(line.slice(1))
    } else if (line !== '') {
      const space = line.indexOf(' ')
      const word = space < 0 ? line : line.slice(0, space)
      words.set(word, space < 0 ? '' : line.slice(space + 1))
      current = []
      sections.set(word, current)
    }
  })
  return { words, sections }
}

/** Returns the exit code that the last line of a section tells, `code 0`; NaN without one. */
export function codeOf(lines: readonly string[]): number {
  return Number(/^code (\d+)$/.exec(lines.at(-1) ?? '')?.[1] ?? Number.NaN)
}
