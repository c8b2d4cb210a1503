/** Of an RFC 3339 timestamp, or of ms since 1970: its ms; undefined for what is no time. */
export function instant(at: string | number | null | undefined): number | undefined {
  const ms = typeof at === 'string' ? Date.parse(at) : (at ?? Number.NaN)
  return Number.isFinite(ms) ? ms : undefined
}

const STEPS = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

/** “il y a 4 min”; undefined for less than a minute. Both in ms since 1970. */
export function ago(at: number, now: number, language: string): string | undefined {
  const seconds = (now - at) / 1000
  const found = STEPS.find(([, length]) => Math.abs(seconds) >= length)
  if (!found) return undefined
  const [unit, length] = found
  return new Intl.RelativeTimeFormat(language, { style: 'short', numeric: 'auto' }).format(
    -Math.trunc(seconds / length),
    unit,
  )
}

/** The whole time, to the second. */
export function full(at: number, language: string): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'long', timeStyle: 'medium' }).format(at)
}

/** The day and the minute; of another year, the year too. */
export function short(at: number, now: number, language: string): string {
  const sameYear = new Date(at).getFullYear() === new Date(now).getFullYear()
  return new Intl.DateTimeFormat(language, {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    ...(!sameYear && { year: 'numeric' }),
  }).format(at)
}

interface Units {
  days: string
  hours: string
  minutes: string
  seconds: string
}

/** Seconds as the two largest units: “3 j 4 h”, “2 min 5 s”. */
export function duration(seconds: number, { days, hours, minutes, seconds: second }: Units): string {
  const whole = Math.max(0, Math.floor(seconds))
  const parts: [number, string][] = [
    [Math.floor(whole / 86_400), days],
    [Math.floor(whole / 3_600) % 24, hours],
    [Math.floor(whole / 60) % 60, minutes],
    [whole % 60, second],
  ]
  const first = parts.findIndex(([count]) => count > 0)
  if (first < 0) return `0\u00a0${second}`
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count}\u00a0${unit}`)
    .join(' ')
}
