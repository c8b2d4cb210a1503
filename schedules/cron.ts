import { Cron } from 'croner'
import * as z from 'zod'
import { createRecentCache } from '../platform/recent-cache.ts'
import { gapsOverMidnight, isZone } from './zone.ts'

/** Longest accepted pattern: a list of all minutes has 169 characters. */
const LONGEST = 256
/** Most characters of a wrong part that a message repeats. */
const REPEATED = 20

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
const DAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']
/** The five fields. A day of the week may be 7, which is Sunday, too. */
const FIELDS = [
  { place: 'minute (1er champ)', min: 0, max: 59, names: [] },
  { place: 'heure (2e champ)', min: 0, max: 23, names: [] },
  { place: 'jour du mois (3e champ)', min: 1, max: 31, names: [] },
  { place: 'mois (4e champ)', min: 1, max: 12, names: MONTHS },
  { place: 'jour de la semaine (5e champ)', min: 0, max: 7, names: DAYS },
] as const
type Field = (typeof FIELDS)[number]

/** Says in French why a pattern is refused; undefined for a valid one. */
export function cronProblem(pattern: string): string | undefined {
  if (pattern.length > LONGEST) return `au plus ${LONGEST} caractères`
  if (pattern.trim().startsWith('@'))
    return 'les raccourcis comme @daily ne sont pas acceptés : écrivez les cinq champs, par exemple « 0 3 * * * »'
  const parts = fieldsOf(pattern)
  if (parts.length !== FIELDS.length)
    return `cinq champs sont attendus (minute, heure, jour du mois, mois, jour de la semaine), et il y en a ${parts.length}`
  for (const [at, field] of FIELDS.entries()) {
    const problem = fieldProblem(parts[at] ?? '', field)
    if (problem !== undefined) return `${field.place} : ${problem}`
  }
  // The zone does not matter: a date exists in all of them, or in none.
  if (compiled(pattern, 'UTC').nextRun(new Date(0)) === null) return 'cette date n’arrive jamais'
  return undefined
}

function fieldsOf(pattern: string): string[] {
  return pattern.trim() === '' ? [] : pattern.trim().split(/[ \t]+/)
}

function fieldProblem(text: string, field: Field): string | undefined {
  const { min, max } = field
  for (const item of text.split(',')) {
    const [range = '', step, ...more] = item.split('/')
    const wrong = more.length > 0 || item === '' ? notation(item, field) : rangeProblem(range, field)
    if (wrong !== undefined) return wrong
    if (step === undefined) continue
    if (!/^\d{1,2}$/.test(step) || Number(step) < 1 || Number(step) > max - min + 1)
      return `le pas « ${shown(step)} » n’est pas un nombre de 1 à ${max - min + 1}`
    if (range !== '*' && !range.includes('-')) return 'un pas suit « * » ou un intervalle, comme */5 ou 10-50/5'
  }
  return undefined
}

function rangeProblem(range: string, field: Field): string | undefined {
  if (range === '*') return undefined
  const ends = range.split('-')
  if (ends.length > 2 || !ends.every((end) => /^(\d{1,2}|[A-Za-z]{3})$/.test(end))) return notation(range, field)
  const values = ends.map((end) => numberOf(end, field))
  const [from, to = from] = values
  if (from === undefined || to === undefined) return notation(range, field)
  const outside = values.find((value) => value !== undefined && (value < field.min || value > field.max))
  if (outside !== undefined) return `${outside} n’est pas entre ${field.min} et ${field.max}`
  // `SAT-SUN` is a weekend: at the end of a range, croner reads the name as 7.
  const isToSunday = field.max === 7 && ends[1]?.toUpperCase() === 'SUN'
  return from > (isToSunday ? 7 : to) ? `l’intervalle « ${shown(range)} » est à l’envers` : undefined
}

function numberOf(text: string, { names, min }: Field): number | undefined {
  if (/^\d/.test(text)) return Number(text)
  const known: readonly string[] = names
  const at = known.indexOf(text.toUpperCase())
  return at < 0 ? undefined : at + min
}

function notation(text: string, { min, max, names }: Field): string {
  const named = names.length > 0 ? `, les noms ${names[0]} à ${names.at(-1)}` : ''
  return `« ${shown(text)} » n’est pas valable ; sont permis les nombres de ${min} à ${max}${named}, et les signes * , - /`
}

function shown(text: string): string {
  return text.length > REPEATED ? `${text.slice(0, REPEATED)}…` : text
}

/** A pattern of five fields, with single spaces between them. */
export const CronPattern = z
  .string()
  .min(1)
  .max(LONGEST)
  .superRefine((pattern, context) => {
    const message = cronProblem(pattern)
    if (message !== undefined) context.addIssue({ code: 'custom', message })
  })
  .overwrite((pattern) => fieldsOf(pattern).join(' '))
  .meta({
    format: 'cron',
    description:
      'Minute, hour, day of the month, month, day of the week: `*`, numbers, lists, ranges and steps, and English names of months and days. Where both days are limited, one of them is enough.',
    examples: ['30 2 * * 0'],
  })

/** The times of a pattern in a time zone. */
export interface Timetable {
  /** The first time after this one, in milliseconds; undefined when there is none. */
  next(after: number): number | undefined
  /** The last time that is not after this one. */
  last(upTo: number): number | undefined
}

const MINUTE = 60_000
/** Next times that a table remembers: every page with schedules asks for the same few. */
const REMEMBERED = 20

/** To compile a pattern takes longer than to find its next time. */
const tables = createRecentCache<Timetable>(500)

/**
 * Returns the times of a pattern. A fixed time, whose minute and hour have no `*` and no step, comes once a day, whatever
 * the clocks do: when they are put forward over it, it comes at the next minute that exists, and of two equal minutes it
 * is the first. Other patterns follow the clock on the wall. Throws when the pattern or the zone is invalid.
 */
export function timetable(pattern: string, timezone: string): Timetable {
  const key = `${pattern}\n${timezone}`
  const known = tables.get(key)
  if (known) return known
  if (!isZone(timezone)) throw new RangeError('unknown time zone')
  const cron = compiled(pattern, timezone)
  const skipped = skippedTimes(pattern, timezone)
  const following = new Map<number, number | undefined>()
  const table: Timetable = {
    next(after) {
      // All moments of a minute have the same next time.
      const minute = Math.floor(after / MINUTE)
      if (following.has(minute)) return following.get(minute)
      const found = cron.nextRun(new Date(after))?.getTime()
      const skip = found === undefined ? undefined : skipped(after + 1, found - 1)[0]
      if (following.size >= REMEMBERED) following.clear()
      following.set(minute, skip ?? found)
      return skip ?? found
    },
    last(upTo) {
      // croner leaves out a time that is exactly the given one.
      const whole = Math.floor(upTo / MINUTE) * MINUTE
      const found = cron.previousRuns(1, new Date(whole + 1_000))[0]?.getTime()
      const skip = found === undefined ? undefined : skipped(found + 1, upTo).at(-1)
      return skip ?? found
    },
  }
  tables.set(key, table)
  return table
}

function compiled(pattern: string, timezone: string): Cron {
  const [, , day = '', , weekday = ''] = fieldsOf(pattern)
  return new Cron(pattern, {
    timezone,
    paused: true,
    mode: '5-part',
    fixedTimeRule: 'no-wildcard',
    // As in Vixie's cron: a field that begins with `*` limits the other one, also with a step.
    domAndDow: day.startsWith('*') || weekday.startsWith('*'),
  })
}

/**
 * Finds the fixed times that croner loses: those in an hour that the clocks skip up to or over midnight, as in Nuuk, because their
 * next minute belongs to another day.
 */
function skippedTimes(pattern: string, timezone: string): (from: number, to: number) => number[] {
  const [minute = '', hour = ''] = fieldsOf(pattern)
  if (/[*/]/.test(`${minute}${hour}`)) return () => []
  const wall = compiled(pattern, 'UTC')
  return (from, to) =>
    gapsOverMidnight(timezone, from, to).flatMap(({ at, skippedFrom, midnight }) => {
      for (let each = skippedFrom; each < midnight; each += MINUTE) if (wall.match(new Date(each))) return [at]
      return []
    })
}

/** Returns the first `count` times after this one. */
export function nextTimes(table: Timetable, after: number, count: number): number[] {
  const times: number[] = []
  for (let at = table.next(after); at !== undefined && times.length < count; at = table.next(at)) times.push(at)
  return times
}

/** Counts the times after `after` that are not after `upTo`; stops at `most`. */
export function countTimes(
  table: Timetable,
  { after, upTo, most }: { after: number; upTo: number; most: number },
): number {
  let count = 0
  for (let at = table.next(after); at !== undefined && at <= upTo && count < most; at = table.next(at)) count++
  return count
}
