/** What the service takes in one frame. */
const MOST_BYTES = 64 * 1024

/** A paste in pieces that the service takes. A character may lie in two of them. */
export function pieces(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>[] {
  const count = Math.ceil(bytes.length / MOST_BYTES)
  return Array.from({ length: count }, (_, n) => bytes.subarray(n * MOST_BYTES, (n + 1) * MOST_BYTES))
}

export type Key = 'escape' | 'tab' | 'up' | 'down' | 'left' | 'right'

const ARROWS = { up: 'A', down: 'B', right: 'C', left: 'D' } as const

/** What a key types. Programs that take the whole screen ask for arrows of another kind (DECCKM). */
export function typedBy(key: Key, isApplication: boolean): string {
  if (key === 'escape') return '\x1b'
  if (key === 'tab') return '\t'
  return `\x1b${isApplication ? 'O' : '['}${ARROWS[key]}`
}

/** What a character types with Ctrl held; itself where there is no such thing. */
export function withCtrl(byte: number): number {
  if (byte === 0x20) return 0
  if (byte === 0x3f) return 0x7f
  return byte >= 0x40 && byte <= 0x7e ? byte & 0x1f : byte
}
