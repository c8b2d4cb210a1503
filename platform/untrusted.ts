/**
 * Returns the whole body of a request or an answer. Returns undefined, and cancels the rest of the stream, as soon as
 * more than `maxBytes` bytes have come.
 */
export async function readUpTo(maxBytes: number, body: AsyncIterable<Uint8Array> | null): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  // Leaving the loop early cancels the stream and closes its connection.
  for await (const chunk of body ?? []) {
    size += chunk.byteLength
    if (size > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Parses JSON text. Returns undefined, which JSON cannot express, for any other text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
