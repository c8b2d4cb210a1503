import { type ReadonlySignal, signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { repeats } from './connection.ts'

/** A request with its result. Old data stays while a new request runs, and when it fails. */
export interface Load<data> {
  data: ReadonlySignal<data | undefined>
  error: ReadonlySignal<unknown>
  busy: ReadonlySignal<boolean>
  /** The time of the data, in ms since 1970. */
  at: ReadonlySignal<number | undefined>
  reload(): Promise<void>
  /** Replaces the data when the new value is known without a request. */
  set(data: data): void
  stop(): void
}

/** Each `reload` replaces the running request. */
export function createLoad<data>(ask: (signal: AbortSignal) => Promise<data>): Load<data> {
  const data = signal<data>()
  const error = signal<unknown>()
  const busy = signal(false)
  const at = signal<number>()
  let current: AbortController | undefined
  const set = (next: data) => {
    data.value = next
    error.value = undefined
    at.value = Date.now()
  }
  return {
    data,
    error,
    busy,
    at,
    set,
    async reload() {
      current?.abort()
      const mine = new AbortController()
      current = mine
      busy.value = true
      try {
        const answer = await ask(mine.signal)
        if (current === mine) set(answer)
      } catch (reason) {
        if (current === mine && !mine.signal.aborted) error.value = reason
      } finally {
        if (current === mine) busy.value = false
      }
    },
    stop() {
      current?.abort()
      current = undefined
      busy.value = false
    },
  }
}

interface LoadOptions {
  /** Repeats the request at this interval while the page is visible. */
  everyMs?: number
}

/**
 * A load that lives as long as its component. It starts with the component, and repeats when one of `of` changes and when the service or
 * the host is back after a failure.
 */
export function useLoad<data>(
  ask: (signal: AbortSignal) => Promise<data>,
  of: readonly unknown[] = [],
  { everyMs }: LoadOptions = {},
): Load<data> {
  const newest = useRef(ask)
  newest.current = ask
  const kept = useRef<Load<data>>(undefined)
  kept.current ??= createLoad((signal) => newest.current(signal))
  const load = kept.current
  useEffect(() => {
    void load.reload()
    return () => load.stop()
  }, [load, ...of])
  useEffect(() => {
    let seen = repeats.value
    return repeats.subscribe((times) => {
      if (times !== seen && load.error.peek() !== undefined) void load.reload()
      seen = times
    })
  }, [load])
  useEffect(() => {
    if (!everyMs) return
    const timer = setInterval(() => {
      if (!document.hidden && !load.busy.peek()) void load.reload()
    }, everyMs)
    const shown = () => {
      if (!document.hidden) void load.reload()
    }
    document.addEventListener('visibilitychange', shown)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', shown)
    }
  }, [load, everyMs])
  return load
}
