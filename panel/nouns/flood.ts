/**
 * Bytes that may wait to be shown. A browser cannot make a program wait; of what floods more than that the middle is skipped, and that
 * is said, so that the key that ends it is seen to end it.
 */
export const MOST_WAITING = 4 * 1024 * 1024
/** Of what came too fast, so many bytes at the end are kept: a prompt is among them. Few, that the gap before them can be scrolled to. */
export const TAIL = 8 * 1024
const NEWLINE = 0x0a

export interface FloodOptions {
  /** Begins to show some bytes; calls back when it has. */
  show(bytes: Uint8Array, shown: () => void): void
  /** Shows that so many bytes are left out here. */
  showGap(bytes: number): void
}

/** Returns what takes the output of a program in its order. Its first bytes and its last are always shown. */
export function createFlood({ show, showGap }: FloodOptions): (bytes: Uint8Array) => void {
  let waiting = 0
  /** Not undefined while something is held back. */
  let tail: Uint8Array | undefined
  let skipped = 0

  const begin = (bytes: Uint8Array) => {
    waiting += bytes.length
    show(bytes, () => {
      waiting -= bytes.length
      // Not as soon as there is room: a gap after every few lines would be all that is seen.
      if (tail && waiting <= MOST_WAITING / 2) goOn(tail)
    })
  }
  const hold = (bytes: Uint8Array) => {
    const all = tail ? joined(tail, bytes) : bytes
    const from = all.length > TAIL ? afterLine(all, all.length - TAIL) : 0
    skipped += from
    tail = all.slice(from)
  }
  const goOn = (held: Uint8Array) => {
    if (skipped > 0) showGap(skipped)
    skipped = 0
    tail = undefined
    begin(held)
  }

  return (bytes) => {
    if (tail || waiting > MOST_WAITING) hold(bytes)
    else begin(bytes)
  }
}

function joined(before: Uint8Array, bytes: Uint8Array): Uint8Array {
  const all = new Uint8Array(before.length + bytes.length)
  all.set(before)
  all.set(bytes, before.length)
  return all
}

/** Where the next line begins; a line without an end is cut at `from`. */
function afterLine(bytes: Uint8Array, from: number): number {
  const at = bytes.indexOf(NEWLINE, from)
  return at < 0 ? from : at + 1
}
