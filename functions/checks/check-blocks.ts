import { setImmediate as nextTurn } from 'node:timers/promises'
import { LINES_PER_TURN, withoutControls } from '../managers/sections.ts'
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
