import fc from 'fast-check'
import { expect, test } from 'vitest'
import { clockOf, clockSaid, cronOf, cronSaid, later, presetOf } from '../../../panel/nouns/cron.ts'
import { schedules as en } from '../../../panel/words/en/schedules.ts'
import { schedules as fr } from '../../../panel/words/fr/schedules.ts'

const english = (cron: string) => cronSaid(cron, en.rhythm, 'en')
const french = (cron: string) => cronSaid(cron, fr.rhythm, 'fr')

test.each([
  ['30 2 * * *', 'every night at 02:30', 'chaque nuit à 02:30'],
  ['0 14 * * *', 'every day at 14:00', 'chaque jour à 14:00'],
  ['0 2,14 * * *', 'every day at 02:00 and 14:00', 'chaque jour à 02:00 et 14:00'],
  ['0 3 * * 0', 'on Sundays at 03:00', 'le dimanche à 03:00'],
  ['0 3 * * 7', 'on Sundays at 03:00', 'le dimanche à 03:00'],
  ['0 3 * * SUN,sat', 'on Saturdays and Sundays at 03:00', 'le samedi et le dimanche à 03:00'],
  ['0 3 * * mon-fri', 'Monday to Friday at 03:00', 'du lundi au vendredi à 03:00'],
  ['0 3 * * 0-6', 'every night at 03:00', 'chaque nuit à 03:00'],
  ['0 4 1 * *', 'on the 1st of the month at 04:00', 'le 1er du mois à 04:00'],
  ['0 4 2,22 * *', 'on the 2nd and the 22nd of the month at 04:00', 'le 2 et le 22 du mois à 04:00'],
  ['0 4 11 * *', 'on the 11th of the month at 04:00', 'le 11 du mois à 04:00'],
  ['* * * * *', 'every minute', 'chaque minute'],
  ['*/15 * * * *', 'every 15 minutes', 'toutes les 15 minutes'],
  ['0 * * * *', 'every hour', 'toutes les heures'],
  ['5 */6 * * *', 'every 6 hours, at minute 5', 'toutes les 6 heures, à la minute 5'],
])('%s is said in few words', (cron, inEnglish, inFrench) => {
  expect([english(cron), french(cron)]).toEqual([inEnglish, inFrench])
})

test.each([
  // A step that does not divide the whole has one shorter pause.
  '*/7 * * * *',
  '0 */5 * * *',
  // One of both days is enough, which few words cannot say.
  '0 3 1 * 0',
  '0 3 * 6 *',
  '0 1-3 * * *',
  '0,10,20 1,2 * * *',
  '60 2 * * *',
  '0 24 * * *',
  '0 3 32 * *',
  '0 3 * * 8',
  '0 3 * * fri-mon',
  '0 3 * *',
  '0 0 3 * * *',
  '',
  '@daily',
])('“%s” has no short words, and stays as it is', (cron) => {
  expect([english(cron), french(cron)]).toEqual([cron, cron])
})

test('a preset and its pattern are the same, for each time and day', () => {
  const at = fc.record({ hour: fc.integer({ min: 0, max: 23 }), minute: fc.integer({ min: 0, max: 59 }) })
  const preset = fc.oneof(
    fc.record({ kind: fc.constant('day' as const), at, on: fc.constant(0) }),
    fc.record({ kind: fc.constant('week' as const), at, on: fc.integer({ min: 0, max: 6 }) }),
    fc.record({ kind: fc.constant('month' as const), at, on: fc.integer({ min: 1, max: 28 }) }),
  )
  fc.assert(
    fc.property(preset, (each) => {
      expect(presetOf(cronOf(each))).toEqual(each)
    }),
  )
})

test('a pattern that no preset has, such as the 31st, is edited as it is', () => {
  expect(['0 4 31 * *', '0 2,14 * * *', '0 3 * * 1-5', '*/5 * * * *', 'x'].map(presetOf)).toEqual(
    Array.from({ length: 5 }, () => undefined),
  )
})

test('any text is said without a failure', () => {
  const field = fc.constantFrom('*', '0', '*/2', '1-5', '1,2', '-', ',', '/', 'sun', '99')
  const line = fc.array(field, { maxLength: 7 }).map((fields) => fields.join(' '))
  fc.assert(
    fc.property(fc.oneof(fc.string(), line), (text) => {
      expect(english(text)).toBeTypeOf('string')
      expect(french(text)).not.toMatch(/undefined|NaN/)
    }),
  )
})

test('a time is two digits each, or none', () => {
  expect(['02:30', '2:30', '23:59', '24:00', '02:60', '', '02:30:00'].map(clockOf)).toEqual([
    { hour: 2, minute: 30 },
    { hour: 2, minute: 30 },
    { hour: 23, minute: 59 },
    undefined,
    undefined,
    undefined,
    { hour: 2, minute: 30 },
  ])
})

test.each([
  ['02:30', 120, '04:30'],
  ['23:45', 30, '00:15'],
  ['02:30', 1_440, '02:30'],
])('%s and %i minutes are %s', (time, minutes, end) => {
  const from = clockOf(time)
  expect(from && clockSaid(later(from, minutes))).toBe(end)
})
