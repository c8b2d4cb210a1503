/**
 * The limit of bytes that wait to be shown. A browser cannot slow a program down, so the terminal skips the middle of larger floods and
 * says so; the key that ends the flood then takes effect visibly.
 */
export const MAX_WAITING = 4 * 1024 * 1024
/**
 * The number of bytes that stay from the end of a flood, which includes the prompt. It is small, so that the gap before it stays within
 * reach of the scroll bar.
 */
export const TAIL = 8 * 1024
const NEWLINE = 0x0a

export interface FloodOptions {
  /** Shows bytes and calls back afterwards. */
  show(bytes: Uint8Array, shown: () => void): void
  /** Marks a gap of this many bytes. */
  showGap(bytes: number): void
}

/** Returns a function that takes the output of a program in order. It always shows the first and the last bytes. */
export function createFlood({ show, showGap }: FloodOptions): (bytes: Uint8Array) => void {
  let waiting = 0
  /** Set while output is held back. */
  let tail: Uint8Array | undefined
  let skipped = 0

  const begin = (bytes: Uint8Array) => {
    waiting += bytes.length
    show(bytes, () => {
      waiting -= bytes.length
      // Wait until half of the buffer is free: otherwise gaps would appear after every few lines.
      if (tail && waiting <= MAX_WAITING / 2) goOn(tail)
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
    if (tail || waiting > MAX_WAITING) hold(bytes)
    else begin(bytes)
  }
}

function joined(before: Uint8Array, bytes: Uint8Array): Uint8Array {
  const all = new Uint8Array(before.length + bytes.length)
  all.set(before)
  all.set(bytes, before.length)
  return all
}

/** The start of the next line; without a line end, `from`. */
function afterLine(bytes: Uint8Array, from: number): number {
  const at = bytes.indexOf(NEWLINE, from)
  return at < 0 ? from : at + 1
}
