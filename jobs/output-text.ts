import { isUtf8 } from 'node:buffer'

/** A piece of text and how many of the bytes given so far it stands for. */
export interface TextPiece {
  /** Valid UTF-8, whole characters. */
  bytes: Buffer
  /** Bytes of the source up to the end of this piece. */
  sourceEnd: number
}

/**
 * Turns a stream of bytes, cut anywhere, into valid UTF-8 in whole characters; invalid bytes become U+FFFD. A
 * character that is not yet whole waits for the next piece. `start` is the source's offset at the beginning.
 */
export function createTextReader(start: number): { push(chunk: Buffer): TextPiece; flush(): TextPiece } {
  let rest: Buffer = Buffer.alloc(0)
  let sourceEnd = start
  const take = (whole: Buffer): TextPiece => {
    sourceEnd += whole.length
    return { bytes: isUtf8(whole) ? whole : Buffer.from(whole.toString('utf8')), sourceEnd }
  }
  return {
    push(chunk) {
      const all = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      const cut = all.length - unfinished(all)
      rest = Buffer.from(all.subarray(cut))
      return take(all.subarray(0, cut))
    },
    flush() {
      const last = rest
      rest = Buffer.alloc(0)
      return take(last)
    },
  }
}

/** How many bytes at the end begin a character that may still be completed: 0 to 3. */
function unfinished(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) return 0
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
      return length > back && byte < 0xf5 ? back : 0
    }
  }
  return 0
}

/** Cuts valid UTF-8 into pieces of so many bytes at most, between characters. */
export function* cutText(bytes: Buffer, most: number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; ) {
    const end = betweenCharacters(bytes, at + most)
    yield bytes.subarray(at, end)
    at = end
  }
}

/** The place there, or up to three bytes before it, at which no character is cut. */
export function betweenCharacters(bytes: Buffer, place: number): number {
  if (place >= bytes.length) return bytes.length
  const back = [0, 1, 2, 3].find((steps) => ((bytes[place - steps] ?? 0) & 0xc0) !== 0x80)
  return place - (back ?? 0)
}
