import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import { free } from '../../platform/memory.ts'

/** Makes a tenth of what programs print, in less time than writing the saved bytes would take. */
const FASTEST = { [constants.BROTLI_PARAM_QUALITY]: 0, [constants.BROTLI_PARAM_LGWIN]: 18 }

/** Room beyond the bytes: for what Brotli adds to bytes that it cannot shorten, and since zlib replaces a full space. */
const SPARE = 1024
/** Room for a row of output. Larger than Node's pool of small buffers, so that each call gets memory of its own. */
const A_ROW = 256 * 1024 + SPARE

/**
 * Compresses synchronously, in some 0.5 ms for a MiB of apt's lines; another thread takes three times as long and far
 * more memory. The result is written to one space and copied, because zlib's own encoder keeps that space until a full
 * collection: `free` empties it at once.
 */
export function compress(bytes: Buffer): Buffer {
  const space = brotliCompressSync(bytes, { params: FASTEST, chunkSize: Math.max(A_ROW, bytes.length + SPARE) })
  const chunk = Buffer.allocUnsafeSlow(space.length)
  chunk.set(space)
  free(space.buffer)
  return chunk
}

/** Returns the bytes in memory of their own. Throws for bytes that are not Brotli. */
export function decompress(chunk: Buffer): Buffer {
  const space = brotliDecompressSync(chunk, { chunkSize: A_ROW })
  if (2 * space.length > A_ROW) return space
  // A reader of many short rows would otherwise hold the space of long ones.
  const bytes = Buffer.allocUnsafeSlow(space.length)
  bytes.set(space)
  free(space.buffer)
  return bytes
}
