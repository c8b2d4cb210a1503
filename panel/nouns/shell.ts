/** The exit message of a shell. */
interface Exit {
  code: number | null
  reason?: string
}

/** The end of a shell, or the reason why it never started. */
export type ShellEnd =
  | { why: 'exit'; code: number }
  | {
      why: 'ended' | 'busy' | 'forbidden' | 'gone' | 'lost' | 'refused' | 'unanswered' | 'session' | 'unconfirmed'
      reason?: string
    }

/** Parses a text frame of the service; undefined when it is not an exit message. */
export function exitOf(frame: string): Exit | undefined {
  try {
    const { type, code, reason } = JSON.parse(frame)
    if (type !== 'exit') return undefined
    return { code: typeof code === 'number' ? code : null, ...(typeof reason === 'string' && { reason }) }
  } catch {
    return undefined
  }
}

/** Derives the end from the exit message and the close code of the socket. */
export function endOf(exit: Exit | undefined, closed: number, hasBegun: boolean): ShellEnd {
  const reason = exit?.reason ? { reason: exit.reason } : {}
  if (closed === 1013) return { why: 'busy' }
  if (closed === 1008) return { why: 'refused', ...reason }
  if (exit) return exit.code === null ? { why: 'ended', ...reason } : { why: 'exit', code: exit.code }
  if (closed === 4401) return { why: 'session' }
  if (closed === 4403) return { why: 'forbidden' }
  // The service is stopping, or cannot write the audit entry.
  if (closed === 1001 || closed === 1011) return { why: 'gone' }
  return { why: hasBegun ? 'lost' : 'unanswered' }
}

/** The frame limit of the service. */
const MAX_BYTES = 64 * 1024

/** Splits a paste into frames that the service accepts. A character may be split across two frames. */
export function pieces(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>[] {
  const count = Math.ceil(bytes.length / MAX_BYTES)
  return Array.from({ length: count }, (_, n) => bytes.subarray(n * MAX_BYTES, (n + 1) * MAX_BYTES))
}

export type Key = 'escape' | 'tab' | 'up' | 'down' | 'left' | 'right'

const ARROWS = { up: 'A', down: 'B', right: 'C', left: 'D' } as const

/** The bytes of a key. Full-screen programs ask for different arrow sequences (DECCKM). */
export function typedBy(key: Key, isApplication: boolean): string {
  if (key === 'escape') return '\x1b'
  if (key === 'tab') return '\t'
  return `\x1b${isApplication ? 'O' : '['}${ARROWS[key]}`
}

/** The byte of a character with Ctrl held; the character itself when there is none. */
export function withCtrl(byte: number): number {
  if (byte === 0x20) return 0
  if (byte === 0x3f) return 0x7f
  return byte >= 0x40 && byte <= 0x7e ? byte & 0x1f : byte
}
