/*
 * Frees memory outside of V8's heap as soon as it has been used. Left to the garbage collector, a stream of packets hardly
 * fills the heap, so that 60 MB of dead ones gather before V8 looks, and an output of a gigabyte takes more memory than
 * the goals of `npm run bench` allow (docs/decisions/0003).
 */
// A named import would fail in Node 20, which lacks `isMarkedAsUntransferable`.
import threads from 'node:worker_threads'

/**
 * Frees the memory now; every view of it has no bytes from then on. The caller owns it: nobody reads or writes it any more,
 * the kernel included, which reads what a socket is still sending. Never throws. Does nothing for shared memory, which
 * includes Node's pool of small buffers, and in Node before 22, which lacks `ArrayBuffer.prototype.transfer`.
 */
export function free(memory: ArrayBufferLike): void {
  if (!(memory instanceof ArrayBuffer) || memory.byteLength === 0 || typeof memory.transfer !== 'function') return
  // Node marks its pool. A transfer of it throws in Node 26, and elsewhere would empty the buffers of others.
  if (threads.isMarkedAsUntransferable(memory)) return
  try {
    memory.transfer(0)
  } catch {
    // The memory of WebAssembly cannot be freed.
  }
}

/**
 * Frees the memory of bytes that came from elsewhere, if they fill more than half of it. Otherwise it may hold several
 * packets.
 */
export function freeOwn({ buffer, byteLength }: Uint8Array): void {
  if (2 * byteLength > buffer.byteLength) free(buffer)
}
