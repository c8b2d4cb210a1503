import { localeOf } from './format.ts'

/** How often a pattern of five fields fires, as far as few words say it. Hours and minutes are those of its time zone. */
export type Rhythm =
  | { every: 'minutes'; count: number }
  /** `minute` of every `count`th hour from midnight. */
  | { every: 'hours'; count: number; minute: number }
  /** `days`: 0 is Sunday, in the order of a week that begins on Monday. */
  | { every: 'day' | 'week' | 'month'; times: readonly Clock[]; days: readonly number[]; dates: readonly number[] }

export interface Clock {
  hour: number
  minute: number
}

/** A preset of the editor, with the values of its fields. */
export interface Preset {
  kind: 'day' | 'week' | 'month'
  at: Clock
  /** The day of the week, from 0 for Sunday, or the day of the month. */
  on: number
}

const DAY_NAMES = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
/** Longer lists of times are no few words. */
const MOST_TIMES = 4

/** The rhythm of a pattern; undefined for one that few words cannot say. */
export function rhythmOf(cron: string): Rhythm | undefined {
  const [minute = '', hour = '', date = '', month = '', day = '', ...rest] = cron.trim().toLowerCase().split(/\s+/)
  if (rest.length > 0 || month !== '*') return undefined
  const isDaily = date === '*' && day === '*'
  if (isDaily && hour === '*') {
    if (minute === '*') return { every: 'minutes', count: 1 }
    const step = stepOf(minute, 60)
    if (step !== undefined) return { every: 'minutes', count: step }
    const fixed = numberOf(minute, 0, 59)
    return fixed === undefined ? undefined : { every: 'hours', count: 1, minute: fixed }
  }
  const minutes = listOf(minute, 0, 59)
  const step = stepOf(hour, 24)
  if (isDaily && step !== undefined && minutes?.length === 1)
    return { every: 'hours', count: step, minute: minutes[0] ?? 0 }
  const hours = listOf(hour, 0, 23)
  if (!minutes || !hours || minutes.length * hours.length > MOST_TIMES) return undefined
  const times = hours.flatMap((at) => minutes.map((past) => ({ hour: at, minute: past })))
  if (isDaily) return { every: 'day', times, days: [], dates: [] }
  // Both together mean that one of them is enough, which few words cannot say.
  if (date === '*') {
    const days = daysOf(day)
    if (!days) return undefined
    return days.length === 7
      ? { every: 'day', times, days: [], dates: [] }
      : { every: 'week', times, days: days, dates: [] }
  }
  const dates = day === '*' ? listOf(date, 1, 31) : undefined
  return dates && dates.length <= MOST_TIMES ? { every: 'month', times, days: [], dates } : undefined
}

/** The preset that a pattern is; undefined where the editor shows the pattern itself. */
export function presetOf(cron: string): Preset | undefined {
  const rhythm = rhythmOf(cron)
  if (!rhythm || rhythm.every === 'minutes' || rhythm.every === 'hours') return undefined
  const { every, times, days, dates } = rhythm
  const [at] = times
  if (!at || times.length > 1 || days.length > 1 || dates.length > 1) return undefined
  // A month without that day would have no run.
  if ((dates[0] ?? 0) > MOST_DATE) return undefined
  return { kind: every, at, on: days[0] ?? dates[0] ?? 0 }
}

/** The last day that every month has. */
export const MOST_DATE = 28

export function cronOf({ kind, at, on }: Preset): string {
  const time = `${at.minute} ${at.hour}`
  return kind === 'day' ? `${time} * * *` : kind === 'week' ? `${time} * * ${on}` : `${time} ${on} * *`
}

/** The time of `02:30`; undefined for another text. */
export function clockOf(text: string): Clock | undefined {
  const [, hour, minute] = /^(\d{1,2}):(\d{2})(?::\d{2})?$/.exec(text.trim()) ?? []
  const at = { hour: Number(hour), minute: Number(minute) }
  return at.hour <= 23 && at.minute <= 59 ? at : undefined
}

/** A time as `02:30`. */
export function clockSaid({ hour, minute }: Clock): string {
  return `${`${hour}`.padStart(2, '0')}:${`${minute}`.padStart(2, '0')}`
}

/** The time of the day so many minutes later. */
export function later({ hour, minute }: Clock, minutes: number): Clock {
  const sum = hour * 60 + minute + minutes
  return { hour: Math.floor(sum / 60) % 24, minute: sum % 60 }
}

function numberOf(text: string, least: number, most: number): number | undefined {
  const number = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN
  return number >= least && number <= most ? number : undefined
}

/** The step of `*` + `/n`, if it divides the whole evenly: only then are all pauses the same. */
function stepOf(text: string, whole: number): number | undefined {
  const step = /^\*\/\d{1,2}$/.test(text) ? Number(text.slice(2)) : 0
  return step > 0 && step < whole && whole % step === 0 ? step : undefined
}

/** The sorted numbers of a list without ranges and steps. */
function listOf(text: string, least: number, most: number): number[] | undefined {
  const numbers = text.split(',').map((each) => numberOf(each, least, most))
  if (!numbers.every((each) => each !== undefined)) return undefined
  return [...new Set(numbers)].sort((one, other) => one - other)
}

/** The days of a list, with names and ranges, from Monday to Sunday. */
function daysOf(text: string): number[] | undefined {
  const days = new Set<number>()
  for (const part of text.split(',')) {
    const [from, to, ...rest] = part.split('-').map(dayOf)
    const isRange = part.includes('-')
    if (from === undefined || rest.length > 0 || (isRange && to === undefined)) return undefined
    const last = isRange ? (to ?? from) : from
    if (last < from) return undefined
    for (let day = from; day <= last; day += 1) days.add(day % 7)
  }
  return [...days].sort((one, other) => ((one + 6) % 7) - ((other + 6) % 7))
}

function dayOf(text: string): number | undefined {
  const named = DAY_NAMES.indexOf(text)
  return named >= 0 ? named : numberOf(text, 0, 7)
}

/** The words of a rhythm, in one language. */
export interface RhythmWords {
  minutes(count: number): string
  hours(count: number, minute: number): string
  /** The times of one day, as `02:30 and 14:30`. `night`: between midnight and six. */
  day(times: string, night: boolean): string
  week(days: string, times: string): string
  weekdays(times: string): string
  month(dates: string, times: string): string
  /** A day on which something happens each week: “Sundays”. */
  onDay(name: string): string
  date(date: number): string
}

/** The pattern in words: “every night at 02:30”. The pattern itself where there are no short words for it. */
export function cronSaid(cron: string, say: RhythmWords, language: string): string {
  const rhythm = rhythmOf(cron)
  if (!rhythm) return cron
  if (rhythm.every === 'minutes') return say.minutes(rhythm.count)
  if (rhythm.every === 'hours') return say.hours(rhythm.count, rhythm.minute)
  const { every, times, days, dates } = rhythm
  const list = (texts: readonly string[]) => new Intl.ListFormat(localeOf(language)).format(texts)
  const at = list(times.map(clockSaid))
  if (every === 'day') return say.day(at, times.length === 1 && times.every(({ hour }) => hour < 6))
  if (every === 'month') return say.month(list(dates.map(say.date)), at)
  if (days.join() === '1,2,3,4,5') return say.weekdays(at)
  return say.week(list(days.map((day) => say.onDay(weekday(day, language)))), at)
}

/** The name of a day of the week, from 0 for Sunday. */
export function weekday(day: number, language: string): string {
  // The first of February 2026 is a Sunday.
  const at = Date.UTC(2026, 1, 1 + day, 12)
  return new Intl.DateTimeFormat(localeOf(language), { weekday: 'long', timeZone: 'UTC' }).format(at)
}
