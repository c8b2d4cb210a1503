/**
 * Frees the memory of bytes that nobody will read again, now and not when the garbage collector looks: it lies outside of
 * V8's heap, which a stream of such bytes hardly fills, and V8 lets some 60 MB of them gather before it collects. Without
 * this, an output of a gigabyte takes more memory than the goals of `npm run bench` allow (docs/decisions/0003).
 *
 * The caller owns the bytes: no view of their ArrayBuffer is read or written by anybody afterwards, the kernel included
 * (a socket's write that has not ended). Does nothing where the bytes fill less than half of their ArrayBuffer, which may
 * then be Node's pool or hold what others own, and in a Node before 22, which has no `ArrayBuffer.prototype.transfer`.
 */
export function free({ buffer, byteLength }: Uint8Array): void {
  if (!(buffer instanceof ArrayBuffer) || 2 * byteLength <= buffer.byteLength) return
  if (typeof buffer.transfer === 'function') buffer.transfer(0)
}
