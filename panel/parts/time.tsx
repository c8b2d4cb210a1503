import { signal } from '@preact/signals'
import { ago, full, instant } from '../nouns/time.ts'
import { language, words } from '../words/words.ts'

const TICK_MS = 15_000

/** What time it is, to a quarter of a minute. */
export const now = signal(Date.now())
setInterval(() => {
  if (!document.hidden) now.value = Date.now()
}, TICK_MS)
document.addEventListener('visibilitychange', () => {
  now.value = Date.now()
})

interface AgoProps {
  /** RFC 3339, or ms since 1970. */
  at: string | number | null | undefined
  /** Makes a sentence of it. */
  say?: (ago: string) => string
}

/** How long ago; the whole time is its title. */
export function Ago({ at, say = (ago) => ago }: AgoProps) {
  const ms = instant(at)
  if (ms === undefined) return <span>—</span>
  return (
    <time dateTime={new Date(ms).toISOString()} title={full(ms, language())}>
      {say(ago(ms, Math.max(now.value, ms), language()) ?? words().shell.now)}
    </time>
  )
}
