/**
 * Memory for what waits, used again and again: two spaces in turn, of which one is filled while the other is read. What
 * comes by the network is copied into them, because a packet that lives through a collection is freed only much later.
 */
export interface TurningSpace {
  /** A copy, good until the space has been turned twice; where there is no more room, the bytes themselves. */
  keep(bytes: Buffer): Buffer
  turn(): void
}

export function createTurningSpace(size: number): TurningSpace {
  let [filled, read] = [Buffer.allocUnsafeSlow(size), Buffer.allocUnsafeSlow(size)]
  let at = 0
  return {
    keep(bytes) {
      if (at + bytes.length > size) return bytes
      const copy = filled.subarray(at, at + bytes.length)
      copy.set(bytes)
      at += bytes.length
      return copy
    },
    turn() {
      ;[filled, read] = [read, filled]
      at = 0
    },
  }
}
