import type { Check } from '../../nouns/checked.ts'
import { full, instant } from '../../nouns/format.ts'
import { now } from '../../parts/time.tsx'
import { language, words } from '../../words/words.ts'

/** The age of the package lists in one short unit, such as “4 min”; marked when a finding says that it is too old. */
export function ListsAge({ check: { lists_at, findings, state } }: { check: Check }) {
  const { shell } = words()
  const ms = instant(lists_at)
  if (ms === undefined || state === 'unsupported') return <span class="zero">—</span>
  const isOld = state !== 'stopped' && findings.some(({ code }) => code === 'lists_stale')
  return (
    <time class={isOld ? 'old' : undefined} dateTime={new Date(ms).toISOString()} title={full(ms, language())}>
      {shortAge(Math.max(0, now.value - ms), shell.units)}
    </time>
  )
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

function shortAge(ms: number, { days, hours, minutes }: { days: string; hours: string; minutes: string }): string {
  if (ms < HOUR_MS) return `${Math.max(1, Math.floor(ms / MINUTE_MS))}\u00a0${minutes}`
  if (ms < 2 * DAY_MS) return `${Math.floor(ms / HOUR_MS)}\u00a0${hours}`
  return `${Math.floor(ms / DAY_MS)}\u00a0${days}`
}
