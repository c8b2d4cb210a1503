import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { ago, full, instant } from '../nouns/format.ts'
import { language, words } from '../words/words.ts'

const TICK_MS = 15_000

/** The current time, updated every 15 seconds. */
export const now = signal(Date.now())
setInterval(() => {
  if (!document.hidden) now.value = Date.now()
}, TICK_MS)
document.addEventListener('visibilitychange', () => {
  now.value = Date.now()
})

const SECOND_MS = 1_000

/** The current time, updated every second while the component is there. */
export function useSeconds(): number {
  const [time, set] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => set(Date.now()), SECOND_MS)
    return () => clearInterval(timer)
  }, [])
  return time
}

interface AgoProps {
  /** RFC 3339, or ms since 1970. */
  at: string | number | null | undefined
  /** Builds a sentence from it. */
  say?: (ago: string) => string
}

/** A relative time, with the full time as its title. */
export function Ago({ at, say = (ago) => ago }: AgoProps) {
  const ms = instant(at)
  if (ms === undefined) return <span>—</span>
  return (
    <time dateTime={new Date(ms).toISOString()} title={full(ms, language())}>
      {say(ago(ms, Math.max(now.value, ms), language()) ?? words().shell.now)}
    </time>
  )
}
