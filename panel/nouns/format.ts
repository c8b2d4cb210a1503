/** The locale of dates, times and numbers. Plain \`en\` would be American: “Nov 26, 2026, 3:00 AM”. */
export function localeOf(language: string): string {
  return language === 'en' ? 'en-GB' : language
}

type Kind<options> = new (locale: string, options: options) => { format(value: number): string }

/** A list has a time or a number in each row, and a formatter takes longer to make than to use. */
const FORMATS = new Map<string, InstanceType<Kind<never>>>()

function formatted<options>(value: number, language: string, Kind: Kind<options>, options: options): string {
  const key = Kind.name + language + JSON.stringify(options)
  const format = FORMATS.get(key) ?? new Kind(localeOf(language), options)
  FORMATS.set(key, format)
  return format.format(value)
}

export function formatDate(at: number, language: string, options: Intl.DateTimeFormatOptions): string {
  return formatted(at, language, Intl.DateTimeFormat, options)
}

/** The ms of an RFC 3339 timestamp or of ms since 1970; undefined for anything else. */
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

/** “il y a 4 min”; undefined for less than a minute. Both times are in ms since 1970. */
export function ago(at: number, now: number, language: string): string | undefined {
  const seconds = (now - at) / 1000
  const found = STEPS.find(([, length]) => Math.abs(seconds) >= length)
  if (!found) return undefined
  const [unit, length] = found
  return new Intl.RelativeTimeFormat(localeOf(language), { style: 'short', numeric: 'auto' }).format(
    -Math.trunc(seconds / length),
    unit,
  )
}

/** The date and the time with seconds. */
export function full(at: number, language: string): string {
  return formatDate(at, language, { dateStyle: 'long', timeStyle: 'medium' })
}

/** The date: “22 septembre 2025”. */
export function day(at: number, language: string): string {
  return formatDate(at, language, { dateStyle: 'long' })
}

/** The time of the day: “03:11”, with the day if it is not today. */
export function clock(at: number, now: number, language: string): string {
  if (new Date(at).toDateString() !== new Date(now).toDateString()) return short(at, now, language)
  return timeOfDay(at, language)
}

/** The time of the day alone: “03:11”. */
export function timeOfDay(at: number, language: string): string {
  return formatDate(at, language, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
}

/** The day and the time, with the year if it is not this year. */
export function short(at: number, now: number, language: string): string {
  const sameYear = new Date(at).getFullYear() === new Date(now).getFullYear()
  return formatDate(at, language, {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    ...(!sameYear && { year: 'numeric' }),
  })
}

interface Units {
  days: string
  hours: string
  minutes: string
  seconds: string
}

/** Formats seconds as the two largest units: “3 j 4 h”, “2 min 5 s”. */
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

/** Formats bytes in the largest fitting unit with at most three digits: “1,4 Gio”. `units` start at bytes and grow by 1024. */
export function bytes(count: number, units: readonly string[], language: string): string {
  const power = count < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(count) / 10))
  const value = count / 1024 ** power
  const digits = power === 0 || value >= 100 ? 0 : 1
  return `${formatted(value, language, Intl.NumberFormat, { maximumFractionDigits: digits })}\u00a0${units[power]}`
}

/** Formats a share from 0 to 1: “62 %”. */
export function percent(part: number, language: string): string {
  return formatted(part, language, Intl.NumberFormat, { style: 'percent', maximumFractionDigits: 0 })
}
