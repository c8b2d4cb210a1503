import { isUtf8 } from 'node:buffer'

/** A piece of text, and the position in the source that it ends at. */
export interface TextPiece {
  /** Valid UTF-8, whole characters. */
  bytes: Buffer
  /** Offset in the source after the last byte of this piece. */
  sourceEnd: number
}

/**
 * Turns a stream of bytes, cut anywhere, into valid UTF-8 in whole characters; invalid bytes become U+FFFD. An
 * incomplete character waits for the next piece. `start` is the offset in the source of the first byte.
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

/** Counts the bytes at the end that begin a character which later bytes may complete: 0 to 3. */
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

/** Cuts valid UTF-8 between characters into pieces of at most `most` bytes. */
export function* cutText(bytes: Buffer, most: number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; ) {
    const end = betweenCharacters(bytes, at + most)
    yield bytes.subarray(at, end)
    at = end
  }
}

/** Returns `place`, or the nearest of the three positions before it, that lies between two characters. */
export function betweenCharacters(bytes: Buffer, place: number): number {
  if (place >= bytes.length) return bytes.length
  const back = [0, 1, 2, 3].find((steps) => ((bytes[place - steps] ?? 0) & 0xc0) !== 0x80)
  return place - (back ?? 0)
}
