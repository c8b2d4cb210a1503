/** Room for most bodies. */
const FIRST = 4 * 1024

/**
 * Returns the whole body of a request or an answer. Returns undefined, and cancels the rest of the stream, as soon as
 * more than `maxBytes` bytes have come.
 */
export async function readUpTo(maxBytes: number, body: AsyncIterable<Uint8Array> | null): Promise<Buffer | undefined> {
  let bytes = Buffer.alloc(0)
  let size = 0
  // Leaving the loop early cancels the stream and closes its connection.
  for await (const chunk of body ?? []) {
    if (size + chunk.byteLength > maxBytes) return undefined
    if (size + chunk.byteLength > bytes.length) {
      // Doubled, and copied: a sender that cuts its body into single bytes would otherwise have an object kept for each.
      const larger = Buffer.alloc(Math.min(maxBytes, Math.max(2 * bytes.length, size + chunk.byteLength, FIRST)))
      bytes.copy(larger, 0, 0, size)
      bytes = larger
    }
    bytes.set(chunk, size)
    size += chunk.byteLength
  }
  return bytes.subarray(0, size)
}

/** Parses JSON text. Returns undefined, which JSON cannot express, for any other text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
