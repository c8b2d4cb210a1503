import type * as z from 'zod'
import { createRecentCache } from '../platform/recent-cache.ts'
import type { EventName } from './event.ts'
import { isTimeZone } from './quiet.ts'

/**
 * An event in words: a title that says what happened where, lines that say what is lost, and what to do about it, where
 * there is something to do.
 */
export interface Told {
  title: string
  lines: readonly string[]
  advice?: string
}

/** Tells of an event by its stored details; undefined where they are not those of the event. */
export type Tell = (details: unknown, target: string | null) => Told | undefined

/** The words of one language. */
export interface Words {
  events: Readonly<Record<EventName, Tell>>
  /** Several events of a kind, in a title. */
  counted: Readonly<Record<EventName, (count: number) => string>>
  /** Joins the parts of a title. */
  and: string
  more(count: number): string
  output(place: string): string
  place(name: string, target: string | null): string
  /** A time in a zone, as in `2026-03-01 12:00 UTC`. */
  at(time: string, zone: string): string
}

/** Binds words to the schema of the details that they tell. */
export function telling<details>(
  schema: z.ZodType<details>,
  tell: (details: details, target: string | null) => Told,
): Tell {
  return (stored, target) => {
    const { data } = schema.safeParse(stored)
    return data === undefined ? undefined : tell(data, target)
  }
}

/** Makes the function that joins a list, and says how many more there are than it names. */
export function listing(more: (count: number) => string) {
  return (names: readonly string[], all = names.length, most = MOST_NAMED): string => {
    const named = names.slice(0, most)
    const left = all - named.length
    return [...named, ...(left > 0 ? [more(left)] : [])].join(', ')
  }
}

/** Names in one line. */
const MOST_NAMED = 6

/** Making a format takes a hundred times longer than using it. */
const formats = createRecentCache<Intl.DateTimeFormat>(100)

function formatOf(zone: string): Intl.DateTimeFormat | undefined {
  const known = formats.get(zone)
  if (known || !isTimeZone(zone)) return known
  const two = '2-digit'
  const clock = { year: 'numeric', month: two, day: two, hour: two, minute: two, hourCycle: 'h23' } as const
  const made = new Intl.DateTimeFormat('en-GB', { timeZone: zone, ...clock })
  formats.set(zone, made)
  return made
}

/**
 * `2026-03-01T12:00:00.000Z` as `2026-03-01 13:00 (Europe/Paris)`, or `2026-03-01 12:00 UTC` for a zone that this program does not
 * know; another text as it is.
 */
export function zoned(time: string, zone: string): string {
  const [, day, minute] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d).*Z$/.exec(time) ?? []
  if (day === undefined || Number.isNaN(Date.parse(time))) return time
  const format = zone === 'UTC' ? undefined : formatOf(zone)
  if (!format) return `${day} ${minute} UTC`
  const parts = new Map(format.formatToParts(Date.parse(time)).map(({ type, value }) => [type, value]))
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? ''
  return `${part('year')}-${part('month')}-${part('day')} ${part('hour')}:${part('minute')} (${zone})`
}
