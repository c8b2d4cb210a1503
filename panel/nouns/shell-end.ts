/** The service's last word of a shell. */
interface Exit {
  code: number | null
  reason?: string
}

/** How a shell has ended, or why it never began. */
export type ShellEnd =
  | { why: 'exit'; code: number }
  | { why: 'ended' | 'busy' | 'forbidden' | 'gone' | 'lost' | 'refused' | 'unanswered' | 'session'; reason?: string }

/** A text frame of the service; undefined for one that is not its last word. */
export function exitOf(frame: string): Exit | undefined {
  try {
    const { type, code, reason } = JSON.parse(frame)
    if (type !== 'exit') return undefined
    return { code: typeof code === 'number' ? code : null, ...(typeof reason === 'string' && { reason }) }
  } catch {
    return undefined
  }
}

/** From what the service said last, and the code that the socket was closed with. */
export function endOf(exit: Exit | undefined, closed: number, hasBegun: boolean): ShellEnd {
  const reason = exit?.reason ? { reason: exit.reason } : {}
  if (closed === 1013) return { why: 'busy' }
  if (closed === 1008) return { why: 'refused', ...reason }
  if (exit) return exit.code === null ? { why: 'ended', ...reason } : { why: 'exit', code: exit.code }
  if (closed === 4401) return { why: 'session' }
  if (closed === 4403) return { why: 'forbidden' }
  // The service stops, or cannot write down who opens it.
  if (closed === 1001 || closed === 1011) return { why: 'gone' }
  return { why: hasBegun ? 'lost' : 'unanswered' }
}
