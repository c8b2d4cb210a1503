import { formatDate, timeOfDay } from './format.ts'

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
  const time = timeOfDay(at, language)
  const days = daysBetween(now, at)
  const isNight = new Date(at).getHours() < MORNING
  // After midnight, tonight is this night and not the next one.
  const isNightNow = new Date(now).getHours() < MORNING
  if (days === 0) return isNight && at > now && isNightNow ? say.tonight(time) : say.today(time)
  if (days === 1) return isNight && !isNightNow ? say.tonight(time) : say.tomorrow(time)
  if (days === -1) return say.yesterday(time)
  if (days > 0 && days < 7) return `${formatDate(at, language, { weekday: 'short' })} ${time}`
  return `${dateSaid(at, now, language)} ${time}`
}

/** The day: “Sun 30 Nov”, with the year if it is not this year. */
export function dateSaid(at: number, now: number, language: string): string {
  const isThisYear = new Date(at).getFullYear() === new Date(now).getFullYear()
  const year = isThisYear ? {} : ({ year: 'numeric' } as const)
  return formatDate(at, language, { weekday: 'short', day: 'numeric', month: 'short', ...year })
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
      if (formatDate(at, 'en', options) !== formatDate(at, 'en', { ...options, timeZone: zone })) return true
    }
    return false
  } catch {
    return true
  }
}
