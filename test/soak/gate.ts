import { setTimeout as pause } from 'node:timers/promises'

/** Pauses clients between two actions, so that the service can be measured at rest. */
export interface Gate {
  /** Settles once it is open: true to continue, false to leave. */
  pass(): Promise<boolean>
  /** Waits this long, or until the gate closes. */
  rest(ms: number): Promise<void>
  close(): void
  open(): void
  /** Dismisses the clients, wherever they are. */
  dismiss(): void
  /** Number of waiting clients. */
  waiting(): number
}

export function createGate(): Gate {
  let closed = new AbortController()
  let letThrough: (on: boolean) => void = () => {}
  let opened: Promise<boolean> = Promise.resolve(true)
  let waiting = 0
  return {
    async pass() {
      waiting += 1
      const on = await opened
      waiting -= 1
      return on
    },
    rest: (ms) => pause(ms, undefined, { signal: closed.signal }).catch(() => {}),
    close() {
      opened = new Promise((resolve) => {
        letThrough = resolve
      })
      closed.abort()
    },
    open() {
      closed = new AbortController()
      letThrough(true)
    },
    dismiss() {
      closed.abort()
      letThrough(false)
      opened = Promise.resolve(false)
    },
    waiting: () => waiting,
  }
}
