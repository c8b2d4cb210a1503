import * as z from 'zod'
import { createRecentCache } from '../platform/recent-cache.ts'

const NAME = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/

/** To create a format takes as long as a hundred uses of it. */
const formats = createRecentCache<Intl.DateTimeFormat>(500)

/** Whether a text names a time zone of IANA's database. */
export function isZone(name: string): boolean {
  return NAME.test(name) && formatOf(name) !== undefined
}

function formatOf(zone: string): Intl.DateTimeFormat | undefined {
  const known = formats.get(zone)
  if (known) return known
  try {
    const format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    formats.set(zone, format)
    return format
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** A time zone, in the usual case of its name. */
export const TimeZone = z
  .string()
  .max(64)
  .refine(isZone, 'un fuseau horaire, comme Europe/Paris')
  .overwrite((name) => {
    const usual = formatOf(name)?.resolvedOptions().timeZone ?? name
    return usual.toLowerCase() === name.toLowerCase() ? usual : name
  })
  .meta({ format: 'time-zone', description: 'A time zone of IANA’s database.', examples: ['Europe/Paris'] })

/** The clock on the wall at this moment, as milliseconds since the epoch of a zone without an offset. */
function wallAt(zone: string, moment: number): number {
  const parts = new Map<string, string>()
  for (const { type, value } of formatOf(zone)?.formatToParts(moment) ?? []) parts.set(type, value)
  const part = (name: string) => Number(parts.get(name))
  return Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'))
}

/** A moment at which clocks are put forward to or over midnight, and the skipped minutes of the day before, by the wall. */
export interface Gap {
  at: number
  skippedFrom: number
  midnight: number
}

const DAY = 86_400_000
const WEEK = 7 * DAY
/** A longer gap is a change of the date line: of a whole day that does not exist, nothing is made up for. */
const LONGEST_GAP = 3 * 3_600_000

const ofYears = createRecentCache<readonly Gap[]>(2_000)

/** Returns the gaps over midnight from one moment to another. */
export function gapsOverMidnight(zone: string, from: number, to: number): Gap[] {
  const found: Gap[] = []
  for (let year = new Date(from).getUTCFullYear(); year <= new Date(to).getUTCFullYear(); year++)
    found.push(...gapsOf(zone, year).filter(({ at }) => at >= from && at <= to))
  return found
}

function gapsOf(zone: string, year: number): readonly Gap[] {
  const key = `${zone} ${year}`
  const known = ofYears.get(key)
  if (known) return known
  const gaps: Gap[] = []
  const end = Date.UTC(year + 1, 0, 1)
  const offset = (at: number) => wallAt(zone, at) - at
  let before = offset(Date.UTC(year, 0, 1))
  // Two changes of a zone are weeks apart. Daily steps would take half a second for a pattern that comes every 28 years.
  for (let from = Date.UTC(year, 0, 1); from < end; from += WEEK) {
    const to = Math.min(from + WEEK, end)
    const after = offset(to)
    if (after > before) {
      const at = firstWith(from, to, (moment) => offset(moment) !== before)
      const [skippedFrom, shown] = [at + before, at + after]
      const midnight = Math.floor(shown / DAY) * DAY
      if (after - before <= LONGEST_GAP && skippedFrom < midnight) gaps.push({ at, skippedFrom, midnight })
    }
    before = after
  }
  ofYears.set(key, gaps)
  return gaps
}

/** The first whole second in which a condition holds that is false at `from` and true at `to`. */
function firstWith(from: number, to: number, holds: (moment: number) => boolean): number {
  let [low, high] = [from, to]
  while (high - low > 1_000) {
    const middle = low + Math.floor((high - low) / 2_000) * 1_000
    if (holds(middle)) high = middle
    else low = middle
  }
  return high
}
