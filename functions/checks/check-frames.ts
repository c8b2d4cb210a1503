import { INSPECTION_BYTES } from './check-script.ts'

/** The output between the two marks of one name: the exit code, and the lines without their leading space. */
export interface Frame {
  name: string
  code: number
  lines: string[]
}

/** Decoding replaces an invalid byte by U+FFFD, which takes three bytes. */
const MAX_CHARACTERS = 2 * INSPECTION_BYTES
/** The longest line that has a meaning, in characters; longer lines are cut. */
const LINE = 4096
/** More lines than any target has packages. */
const MAX_LINES = 30_000

/**
 * Reads the output of a check piece by piece and passes each complete frame to `take`. A frame that is cut off, too
 * long or not closed is dropped; its target then counts as one that did not respond.
 */
export async function readFrames(
  pieces: AsyncIterable<Buffer>,
  mark: string,
  take: (frame: Frame) => Promise<void>,
): Promise<void> {
  const head = `${mark} `
  let open: (Frame & { characters: number; broken: boolean }) | undefined
  let rest = ''

  /** Returns a promise only for a line that ends a frame; the caller reads all other lines without waiting. */
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
    // Without this bound, a line without an end would be joined again with every piece.
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
export const LINES_PER_TURN = 500

export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Removes control and format characters: a target must not move the reader's cursor or reverse the text. */
function withoutControls(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ').trimEnd()
}
