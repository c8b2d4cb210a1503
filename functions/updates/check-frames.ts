import { LOOK_BYTES } from './check-script.ts'

/** What stands between the two marks of one name: its exit code and its lines, without the space before each. */
export interface Frame {
  name: string
  code: number
  lines: string[]
}

/** Invalid bytes have become three each. */
const MOST_CHARACTERS = 2 * LOOK_BYTES
/** The longest line that means something; of a longer one the beginning is kept. */
const LINE = 4096
/** More lines than any target has packages. */
const MOST_LINES = 30_000

/**
 * Reads what a check has put out, piece by piece, and hands over each whole frame. One that is cut, too long or not closed
 * is left out: of its target nothing is known then.
 */
export async function readFrames(
  pieces: AsyncIterable<Buffer>,
  mark: string,
  take: (frame: Frame) => Promise<void>,
): Promise<void> {
  const head = `${mark} `
  let open: (Frame & { characters: number; broken: boolean }) | undefined
  let rest = ''

  /** A promise for a line that ends a frame alone: the others are read in the same turn. */
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
      if (open.characters > MOST_CHARACTERS || open.lines.length >= MOST_LINES) {
        open.broken = true
        open.lines = []
      }
      if (!open.broken) open.lines.push(visible(text.slice(1, LINE)))
    } else if (open && text !== '') open.broken = true
    return taken
  }

  const decoder = new TextDecoder()
  for await (const piece of pieces) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    // A line without an end must not be joined again and again.
    if (rest.length > 2 * LINE) rest = rest.slice(0, LINE)
    for (const [at, each] of lines.entries()) {
      if (at % A_TURN === 0) await nextTurn()
      const taken = line(each)
      if (taken) await taken
    }
  }
  await line(rest + decoder.decode())
}

/** Lines that are read in one turn of the event loop: others have theirs in between. */
export const A_TURN = 500

export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Nothing that a target prints moves the cursor, or turns the text, of who reads it. */
function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ').trimEnd()
}
