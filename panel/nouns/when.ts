/** The words for times that are near, in one language. */
export interface WhenWords {
  yesterday(time: string): string
  tonight(time: string): string
  today(time: string): string
  tomorrow(time: string): string
}

/** The hours before this one belong to a night. */
const MORNING = 6
const DAY_MS = 86_400_000

/**
 * A time in words: “tonight 02:30”, “today 18:00”, “Wed 02:30”, “Sun 30 Nov 05:00”. All in the reader's time zone; times in ms
 * since 1970.
 */
export function whenSaid(at: number, now: number, say: WhenWords, language: string): string {
  const time = format(at, language, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
  const days = daysBetween(now, at)
  const isNight = new Date(at).getHours() < MORNING
  if (days === 0) return isNight && at > now && new Date(now).getHours() < MORNING ? say.tonight(time) : say.today(time)
  if (days === 1) return isNight ? say.tonight(time) : say.tomorrow(time)
  if (days === -1) return say.yesterday(time)
  if (days > 0 && days < 7) return `${format(at, language, { weekday: 'short' })} ${time}`
  return `${dateSaid(at, now, language)} ${time}`
}

/** The day: “Sun 30 Nov”, with the year if it is not this year. */
export function dateSaid(at: number, now: number, language: string): string {
  const isThisYear = new Date(at).getFullYear() === new Date(now).getFullYear()
  const year = isThisYear ? {} : ({ year: 'numeric' } as const)
  return format(at, language, { weekday: 'short', day: 'numeric', month: 'short', ...year })
}

/** The number of midnights between two times. */
function daysBetween(from: number, to: number): number {
  return Math.round((midnight(to) - midnight(from)) / DAY_MS)
}

function midnight(at: number): number {
  const day = new Date(at)
  day.setHours(0, 0, 0, 0)
  return day.getTime()
}

/** A page shows hundreds of times, and a formatter takes longer to make than to use. */
const FORMATS = new Map<string, Intl.DateTimeFormat>()

function format(at: number, language: string, options: Intl.DateTimeFormatOptions): string {
  const key = `${language} ${JSON.stringify(options)}`
  const known = FORMATS.get(key) ?? new Intl.DateTimeFormat(language, options)
  FORMATS.set(key, known)
  return known.format(at)
}

/** The time zone of the reader's machine. */
export function ownZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** Whether a time zone shows other times than the reader's own, now or within a year. */
export function isOtherZone(zone: string, now: number): boolean {
  if (zone === ownZone()) return false
  try {
    // Each month, because the clocks of two zones may differ in summer alone.
    for (let month = 0; month < 12; month += 1) {
      const at = now + month * 30 * DAY_MS
      const options = { dateStyle: 'short', timeStyle: 'short' } as const
      if (format(at, 'en', options) !== format(at, 'en', { ...options, timeZone: zone })) return true
    }
    return false
  } catch {
    return true
  }
}
