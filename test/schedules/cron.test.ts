import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countTimes, CronPattern, cronProblem, nextTimes, timetable } from '../../schedules/schedules.ts'
import { rounds, seedOf } from '../rounds.ts'

const SEED = seedOf('test/schedules/cron.test.ts')

const MINUTE = 60_000

/** The times from one moment to another, as texts without seconds. */
function times(pattern: string, zone: string, from: string, to: string): string[] {
  const table = timetable(pattern, zone)
  const found: string[] = []
  for (
    let at = table.next(Date.parse(`${from}Z`) - 1);
    at !== undefined && at <= Date.parse(`${to}Z`);
    at = table.next(at)
  )
    found.push(new Date(at).toISOString().replace(':00.000Z', ''))
  return found
}

test.each([
  // Europe/Paris, 2026-03-29: 02:00 becomes 03:00, which is 01:00 UTC.
  ['30 2 * * *', 'Europe/Paris', '2026-03-28T00:00', '2026-03-30T12:00', ['28T01:30', '29T01:00', '30T00:30']],
  ['0 2 * * *', 'Europe/Paris', '2026-03-28T02:00', '2026-03-30T12:00', ['29T01:00', '30T00:00']],
  ['0 3 * * *', 'Europe/Paris', '2026-03-28T03:00', '2026-03-30T12:00', ['29T01:00', '30T01:00']],
  ['0,30 2 * * *', 'Europe/Paris', '2026-03-28T03:00', '2026-03-30T12:00', ['29T01:00', '30T00:00', '30T00:30']],
  ['*/30 2 * * *', 'Europe/Paris', '2026-03-28T03:00', '2026-03-30T12:00', ['30T00:00', '30T00:30']],
  ['*/15 * * * *', 'Europe/Paris', '2026-03-29T00:40', '2026-03-29T01:20', ['29T00:45', '29T01:00', '29T01:15']],
  ['30 2 29 3 *', 'Europe/Paris', '2026-03-01T00:00', '2026-12-31T00:00', ['29T01:00']],
  // Europe/Paris, 2026-10-25: 03:00 becomes 02:00, which is 01:00 UTC.
  ['30 2 * * *', 'Europe/Paris', '2026-10-24T12:00', '2026-10-26T12:00', ['25T00:30', '26T01:30']],
  ['0 2 * * *', 'Europe/Paris', '2026-10-24T12:00', '2026-10-26T12:00', ['25T00:00', '26T01:00']],
  ['0 3 * * *', 'Europe/Paris', '2026-10-24T12:00', '2026-10-26T12:00', ['25T02:00', '26T02:00']],
  ['0,30 2 * * *', 'Europe/Paris', '2026-10-24T12:00', '2026-10-25T12:00', ['25T00:00', '25T00:30']],
  [
    '*/30 2 * * *',
    'Europe/Paris',
    '2026-10-24T12:00',
    '2026-10-25T12:00',
    ['25T00:00', '25T00:30', '25T01:00', '25T01:30'],
  ],
  ['0 */2 * * *', 'Europe/Paris', '2026-10-24T22:30', '2026-10-25T04:00', ['25T00:00', '25T01:00', '25T03:00']],
  // America/Sao_Paulo, 2018-11-04: midnight becomes 01:00. 2018-02-18: midnight becomes 23:00.
  ['0 0 * * *', 'America/Sao_Paulo', '2018-11-03T12:00', '2018-11-05T12:00', ['04T03:00', '05T02:00']],
  ['30 0 4 11 *', 'America/Sao_Paulo', '2018-11-03T12:00', '2018-11-05T12:00', ['04T03:00']],
  ['30 23 * * *', 'America/Sao_Paulo', '2018-02-17T12:00', '2018-02-19T12:00', ['18T01:30', '19T02:30']],
  // Australia/Lord_Howe changes by 30 minutes: 02:00 becomes 02:30 on 2026-10-04, and 02:00 becomes 01:30 on 2026-04-05.
  ['0 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00', '2026-10-05T00:00', ['03T15:30', '04T15:00']],
  ['15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00', '2026-10-05T00:00', ['03T15:30', '04T15:15']],
  ['45 1 * * *', 'Australia/Lord_Howe', '2026-04-04T00:00', '2026-04-06T00:00', ['04T14:45', '05T15:15']],
  [
    '*/20 1 * * *',
    'Australia/Lord_Howe',
    '2026-04-04T00:00',
    '2026-04-05T00:00',
    ['04T14:00', '04T14:20', '04T14:40', '04T15:10'],
  ],
  // Africa/Casablanca leaves its offset for Ramadan: 03:00 becomes 02:00 on 2026-02-15, 02:00 becomes 03:00 on 2026-03-22.
  ['30 2 * * *', 'Africa/Casablanca', '2026-02-14T12:00', '2026-02-16T12:00', ['15T01:30', '16T02:30']],
  ['30 2 * * *', 'Africa/Casablanca', '2026-03-21T12:00', '2026-03-23T12:00', ['22T02:00', '23T01:30']],
  // Pacific/Apia had no 2011-12-30: nothing is made up for of a whole day.
  ['0 12 * * *', 'Pacific/Apia', '2011-12-29T00:00', '2011-12-31T12:00', ['29T22:00', '30T22:00']],
  ['0 12 30 12 *', 'Pacific/Apia', '2011-12-01T00:00', '2012-12-31T00:00', ['29T22:00']],
  // America/Nuuk, 2026-03-28: 23:00 becomes midnight of the next day, which is 01:00 UTC.
  ['30 23 * * *', 'America/Nuuk', '2026-03-28T00:00', '2026-03-30T12:00', ['28T01:30', '29T01:00', '30T00:30']],
  ['30 23 * * 6', 'America/Nuuk', '2026-03-23T00:00', '2026-04-05T12:00', ['29T01:00', '05T00:30']],
  ['*/30 23 * * *', 'America/Nuuk', '2026-03-28T06:00', '2026-03-30T00:30', ['30T00:00', '30T00:30']],
])('%s in %s from %s', (pattern, zone, from, to, expected) => {
  expect(times(pattern, zone, from, to).map((time) => time.slice(8))).toEqual(expected)
})

// --- Another implementation: every minute of a year, one after the other.

const ZONES = [
  'Europe/Paris',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
  'America/Nuuk',
  'America/Sao_Paulo',
  'UTC',
  'Asia/Kathmandu',
]
const walls = new Map<string, Int32Array>()
const [FIRST, LAST] = [Date.UTC(2026, 0, 1), Date.UTC(2027, 0, 1)]

/** The minutes of the wall clock since the first moment, for each minute of the year. */
function wallOf(zone: string): Int32Array {
  const known = walls.get(zone)
  if (known) return known
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' })
  const wall = new Int32Array((LAST - FIRST) / MINUTE)
  // No zone changes its offset within a quarter of an hour.
  for (let at = 0; at < wall.length; at += 15) {
    const shown = (Date.parse(`${format.format(FIRST + at * MINUTE).replace(' ', 'T')}Z`) - FIRST) / MINUTE
    for (let more = 0; more < 15; more++) wall[at + more] = shown + more
  }
  walls.set(zone, wall)
  return wall
}

interface Sets {
  minutes: readonly number[]
  hours: readonly number[]
  days: readonly number[] | undefined
  months: readonly number[] | undefined
  weekdays: readonly number[] | undefined
  fixed: boolean
}

function isMatch(minute: number, { minutes, hours, days, months, weekdays }: Sets): boolean {
  const at = new Date(FIRST + minute * MINUTE)
  if (!minutes.includes(at.getUTCMinutes()) || !hours.includes(at.getUTCHours())) return false
  if (months && !months.includes(at.getUTCMonth() + 1)) return false
  const [day, weekday] = [days?.includes(at.getUTCDate()), weekdays?.includes(at.getUTCDay())]
  return day !== undefined && weekday !== undefined ? day || weekday : (day ?? weekday ?? true)
}

/** The times of a year by going through its minutes. */
function byBruteForce(sets: Sets, zone: string): number[] {
  const wall = wallOf(zone)
  const found: number[] = []
  /** The furthest that the wall clock has shown. */
  let furthest = Number(wall[0]) - 1
  for (const [at, shown] of wall.entries()) {
    // A fixed time looks at each minute of the wall clock once, at the first moment that is not before it.
    const from = sets.fixed ? furthest + 1 : shown
    let comes = false
    for (let minute = from; minute <= shown; minute++) comes ||= isMatch(minute, sets)
    furthest = Math.max(furthest, shown)
    if (comes) found.push(FIRST + at * MINUTE)
  }
  return found
}

const numbers = (min: number, max: number, most: number) =>
  fc.uniqueArray(fc.integer({ min, max }), { minLength: 1, maxLength: most })
const limited = (min: number, max: number, most: number) =>
  fc.option(numbers(min, max, most), { nil: undefined, freq: 2 })
const stepOf = (count: number, max: number) => Array.from({ length: max }, (_, n) => n).filter((n) => n % count === 0)
const pattern = fc
  .record({
    minute: fc.oneof(numbers(0, 59, 3), fc.constantFrom('*/15', '*/30', '*/7')),
    hour: fc.oneof(
      { arbitrary: numbers(0, 23, 3), weight: 4 },
      { arbitrary: fc.constantFrom(['2'], ['1', '2'], ['23', '0']).map((hours) => hours.map(Number)), weight: 3 },
      fc.constantFrom('*', '*/6'),
    ),
    days: limited(1, 31, 4),
    months: limited(1, 12, 6),
    weekdays: limited(0, 6, 3),
  })
  .map(({ minute, hour, days, months, weekdays }) => {
    const text = (each: readonly number[] | string | undefined) =>
      each === undefined ? '*' : typeof each === 'string' ? each : each.join(',')
    const values = (each: readonly number[] | string, max: number) =>
      typeof each === 'string' ? stepOf(Number(each.split('/')[1] ?? 1), max) : each
    return {
      cron: [minute, hour, days, months, weekdays].map(text).join(' '),
      sets: {
        minutes: values(minute, 60),
        hours: values(hour, 24),
        ...{ days, months, weekdays },
        fixed: typeof minute !== 'string' && typeof hour !== 'string',
      },
    }
  })

test('the times of a year are those that a walk through all of its minutes finds', () => {
  fc.assert(
    fc.property(pattern, fc.constantFrom(...ZONES), ({ cron, sets }, zone) => {
      fc.pre(cronProblem(cron) === undefined)
      const expected = byBruteForce(sets, zone).slice(0, 3_000)
      const table = timetable(cron, zone)
      const found: number[] = []
      const end = expected.length === 3_000 ? (expected.at(-1) ?? 0) : LAST - 1
      for (let at = table.next(FIRST - 1); at !== undefined && at <= end; at = table.next(at)) found.push(at)
      // A year that begins in an hour that was skipped or repeated is not among these zones.
      expect(found.map((at) => new Date(at).toISOString())).toEqual(expected.map((at) => new Date(at).toISOString()))
      // Backwards it is the same list.
      for (const at of [expected[0], expected.at(-1), expected[Math.floor(expected.length / 2)]]) {
        if (at === undefined) continue
        expect(table.last(at)).toBe(at)
        expect(table.last(at + MINUTE - 1)).toBe(at)
        expect(table.next(at - 1)).toBe(at)
      }
    }),
    { numRuns: rounds(40, 1_000), seed: SEED },
  )
}, 120_000)

test('backwards, the times around each change of a clock are the same', () => {
  for (const zone of ZONES)
    for (const each of ['30 2 * * *', '0 2 * * *', '15 23 * * *', '0 0 * * *', '*/30 1-2 * * *', '0,30 1,2 * * *']) {
      const table = timetable(each, zone)
      const forwards = nextTimes(table, FIRST, 400)
      const backwards: number[] = []
      for (let at = table.last(forwards.at(-1) ?? 0); at !== undefined && at > FIRST; at = table.last(at - 1))
        backwards.unshift(at)
      expect({ zone, each, times: backwards }).toEqual({ zone, each, times: forwards })
    }
})

test('both days limited: one of them is enough, and a field that begins with * limits the other', () => {
  const days = (cron: string) =>
    times(cron, 'UTC', '2026-03-01T00:00', '2026-03-16T00:00').map((time) => time.slice(8, 10))

  expect(days('0 0 13 * FRI')).toEqual(['06', '13'])
  expect(days('0 0 2 * MON')).toEqual(['02', '09', '16'])
  // The Mondays among the odd days, as Vixie's cron reads it.
  expect(days('0 0 */2 * MON')).toEqual(['09'])
  expect(days('0 0 * * SAT-SUN')).toEqual(['01', '07', '08', '14', '15'])
  expect(days('0 0 * * 7')).toEqual(['01', '08', '15'])
})

test('a count stops at its bound', () => {
  const table = timetable('* * * * *', 'UTC')

  expect(countTimes(table, { after: FIRST, upTo: FIRST + 10 * MINUTE, most: 300 })).toBe(10)
  expect(countTimes(table, { after: FIRST, upTo: LAST, most: 300 })).toBe(300)
  expect(countTimes(table, { after: FIRST, upTo: FIRST, most: 300 })).toBe(0)
})

test.each([
  ['', 'et il y en a 0'],
  ['* * * *', 'et il y en a 4'],
  ['0 * * * * *', 'et il y en a 6'],
  ['@daily', 'les raccourcis comme @daily'],
  ['60 * * * *', 'minute (1er champ) : 60 n’est pas entre 0 et 59'],
  ['0 24 * * *', 'heure (2e champ) : 24 n’est pas entre 0 et 23'],
  ['0 0 0 * *', 'jour du mois (3e champ) : 0 n’est pas entre 1 et 31'],
  ['0 0 32 * *', 'jour du mois (3e champ) : 32 n’est pas'],
  ['0 0 * 13 *', 'mois (4e champ) : 13 n’est pas entre 1 et 12'],
  ['0 0 * * 8', 'jour de la semaine (5e champ) : 8 n’est pas entre 0 et 7'],
  ['0 0 L * *', '« L » n’est pas valable ; sont permis les nombres de 1 à 31'],
  ['0 0 ? * *', '« ? » n’est pas valable'],
  ['0 0 15W * *', '« 15W » n’est pas valable'],
  ['0 0 * * 1#2', '« 1#2 » n’est pas valable ; sont permis les nombres de 0 à 7, les noms SUN à SAT'],
  ['0 0 * MON *', 'les noms JAN à DEC'],
  ['0 0 * * MONDAY', '« MONDAY » n’est pas valable'],
  ['* JAN * * *', 'heure (2e champ) : « JAN » n’est pas valable'],
  ['5/10 * * * *', 'un pas suit « * » ou un intervalle'],
  ['*/0 * * * *', 'le pas « 0 » n’est pas un nombre de 1 à 60'],
  ['*/61 * * * *', 'le pas « 61 »'],
  ['*/5/5 * * * *', '« */5/5 » n’est pas valable'],
  ['30-10 * * * *', 'l’intervalle « 30-10 » est à l’envers'],
  ['0 0 * * FRI-MON', 'l’intervalle « FRI-MON » est à l’envers'],
  ['1,,2 * * * *', '«  » n’est pas valable'],
  ['-1 * * * *', '« -1 » n’est pas valable'],
  ['+1 * * * *', '« +1 » n’est pas valable'],
  ['1e1 * * * *', '« 1e1 » n’est pas valable'],
  ['٣ * * * *', '« ٣ » n’est pas valable'],
  [`${'9'.repeat(100)} * * * *`, `« ${'9'.repeat(20)}… » n’est pas valable`],
  ['0 0 31 2 *', 'cette date n’arrive jamais'],
  ['0 0 30,31 FEB *', 'cette date n’arrive jamais'],
  ['0 0 31 4,6,9,11 *', 'cette date n’arrive jamais'],
  [`${'0,'.repeat(200)}0 * * * *`, 'au plus 256 caractères'],
])('%s is refused with its reason', (cron, reason) => {
  expect(cronProblem(cron)).toContain(reason)
})

test.each([
  '0 3 * * *',
  ' 0\t3  * * * ',
  '0 0 29 2 *',
  '0 0 1,15 jan-MAR Mon',
  '*/60 * * * *',
  '0-59/7 */23 1-31/31 * *',
  '*,5 * * * *',
])('%s is accepted, with single spaces', (cron) => {
  expect(CronPattern.parse(cron)).toBe(cron.trim().replace(/\s+/g, ' '))
})

test('whatever cron accepts has a next time, and whatever is refused has a reason without the rest of the text', () => {
  const word = fc.oneof(
    fc.constantFrom(
      '*',
      '*/5',
      '1-5',
      '1-5/2',
      'MON',
      'jan',
      'SUN-SAT',
      '0',
      '31',
      '7',
      '@daily',
      'L',
      '?',
      '#',
      '1W',
      '-',
      ',',
    ),
    fc.string({ unit: 'binary', maxLength: 6 }),
    fc.stringMatching(/^[0-9*,/A-Za-z-]{1,8}$/),
  )
  fc.assert(
    fc.property(fc.array(word, { minLength: 4, maxLength: 6 }), (words) => {
      const cron = words.join(' ')
      const problem = cronProblem(cron)
      if (problem === undefined) expect(timetable(cron, 'Europe/Paris').next(FIRST)).toBeGreaterThan(FIRST)
      else expect(problem.length).toBeLessThan(200)
    }),
    { numRuns: rounds(2_000, 50_000), seed: SEED },
  )
})
