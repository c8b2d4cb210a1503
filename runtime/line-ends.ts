import type { Readable } from 'node:stream'
import { takeEach } from './channel.ts'

const RETURN = 0x0d
const LINE_FEED = 0x0a

/** Longer than the two bytes that end a line are apart when somebody types. */
const HELD_MS = 20
/** In a flood they are apart for as long as a full window, or a busy host, keeps the second one back. */
const FLOOD_HELD_MS = 1_000
/** More than a key or a prompt causes, in bytes without a pause of `FLOOD_HELD_MS`. */
const FLOOD = 4_096

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

/**
 * Hands what a terminal prints to `take`, as `takeEach` does, with its line feeds as they were. A return at the end of what has come is
 * held back until it is known what follows it; when nothing does for a while, although more could be taken, it stands for itself.
 */
export async function takeRestored(
  stream: Readable,
  take: (bytes: Buffer) => Promise<void> | undefined,
): Promise<void> {
  const lines = createLineEnds()
  let held: NodeJS.Timeout | undefined
  let last = Number.NEGATIVE_INFINITY
  let flow = 0
  /** Whether all that has come has been taken: until then nothing more is read. */
  let taken = true
  let ended = false
  const release = () => {
    // What cannot be passed on fails with what comes next as well.
    takeAll(lines.rest())?.catch(() => {})
  }
  const hold = () => {
    if (ended || !taken || !lines.holds()) return
    held = setTimeout(release, flow > FLOOD ? FLOOD_HELD_MS : HELD_MS)
  }
  const takeAll = (bytes: Buffer) => (bytes.length === 0 ? undefined : take(bytes))
  const onBytes = (bytes: Buffer) => {
    clearTimeout(held)
    const now = performance.now()
    flow = (now - last > FLOOD_HELD_MS ? 0 : flow) + bytes.length
    last = now
    const taking = takeAll(lines.restore(bytes))
    taken = taking === undefined
    hold()
    return taking?.then(() => {
      taken = true
      last = performance.now()
      hold()
    })
  }
  try {
    await takeEach(stream, onBytes)
  } finally {
    ended = true
    clearTimeout(held)
  }
  await takeAll(lines.rest())
}
