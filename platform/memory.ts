/*
 * Frees memory outside of V8's heap as soon as it has been used. Left to the garbage collector, a stream of packets hardly
 * fills the heap, so that 60 MB of dead ones gather before V8 looks: without this, an output of a gigabyte takes more memory
 * than the goals of `npm run bench` allow (docs/decisions/0003).
 */

/**
 * Frees the memory now; every view of it has no bytes from then on. The caller owns it: nobody reads or writes it any more,
 * the kernel included, which reads what a socket is still sending. Does nothing for memory of the size of
 * Node's pool of small buffers, and in Node before 22, which lacks `ArrayBuffer.prototype.transfer`.
 */
export function free(memory: ArrayBufferLike): void {
  if (!(memory instanceof ArrayBuffer) || memory.byteLength === Buffer.poolSize) return
  if (typeof memory.transfer === 'function') memory.transfer(0)
}

/**
 * Frees the memory of bytes that came from elsewhere, if they fill more than half of it. Otherwise it may be Node's pool of
 * small buffers, or hold several packets.
 */
export function freeOwn({ buffer, byteLength }: Uint8Array): void {
  if (2 * byteLength > buffer.byteLength) free(buffer)
}
