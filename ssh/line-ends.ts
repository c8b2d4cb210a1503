import type { Readable } from 'node:stream'
import { takeEach } from './channel.ts'

const RETURN = 0x0d
const LINE_FEED = 0x0a

/** Longer than the gap between the two bytes of a line ending when a person types. */
const HELD_MS = 20
/** During a flood, a full window or a busy host may delay the second byte for this long. */
const FLOOD_HELD_MS = 1_000
/** More bytes than a key or a prompt causes, counted without a pause of `FLOOD_HELD_MS`. */
const FLOOD = 4_096

/** Undoes the carriage return that a terminal inserted before every line feed. */
export interface LineEnds {
  /** Returns the original bytes, in the same memory except for a carriage return held back from the previous chunk. */
  restore(bytes: Buffer): Buffer
  /** Whether a carriage return is held back. */
  holds(): boolean
  /** Returns the carriage return that was held back because a line feed might have followed. */
  rest(): Buffer
}

/**
 * lxc-attach reads from a terminal in the container, which has already converted line endings if its program wants
 * that, and writes to a terminal that converts them again. A bare line feed, which full-screen programs use, would
 * then also move the cursor to the left. Since every line feed has an inserted carriage return before it, exactly
 * that one is removed.
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
 * Passes the output of a terminal to `take`, like `takeEach`, with the original line endings. A carriage return at
 * the end of a chunk is held back until the next byte is known. If nothing follows for a while although `take` is
 * ready, it is passed on.
 */
export async function takeRestored(
  stream: Readable,
  take: (bytes: Buffer) => Promise<void> | undefined,
): Promise<void> {
  const lines = createLineEnds()
  let held: NodeJS.Timeout | undefined
  let last = Number.NEGATIVE_INFINITY
  let flow = 0
  /** Whether every chunk was taken: until then nothing more is read. */
  let taken = true
  let ended = false
  const release = () => {
    // If this chunk cannot be passed on, the next one fails as well.
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
