const RETURN = 0x0d
const LINE_FEED = 0x0a

/** Takes back what a terminal did to every line feed that passed through it: to put a return before it. */
export interface LineEnds {
  /** The bytes as they were, in the same memory but for a return that the bytes before have ended with. */
  restore(bytes: Buffer): Buffer
  /** Whether a return is held back. */
  holds(): boolean
  /** What was held back, because a line feed might have followed. */
  rest(): Buffer
}

/**
 * lxc-attach reads from a terminal in the container, which has ended the lines already if its program wants that, and writes
 * to one where it leaves this on. A line feed that stands for itself, as full-screen programs use it, would move the cursor
 * to the left as well. As there is a return before each line feed, it is the one to be taken away.
 */
export function createLineEnds(): LineEnds {
  let held = false
  return {
    restore(given) {
      const bytes = held ? Buffer.concat([Buffer.of(RETURN), given]) : given
      held = bytes.at(-1) === RETURN
      const end = held ? bytes.length - 1 : bytes.length
      let to = bytes.indexOf('\r\n')
      if (to < 0 || to >= end) return bytes.subarray(0, end)
      for (let from = to; from < end; from += 1) {
        if (bytes[from] === RETURN && bytes[from + 1] === LINE_FEED && from + 1 < end) continue
        bytes[to] = bytes[from] ?? 0
        to += 1
      }
      return bytes.subarray(0, to)
    },
    holds: () => held,
    rest() {
      const rest = Buffer.alloc(held ? 1 : 0, RETURN)
      held = false
      return rest
    },
  }
}
