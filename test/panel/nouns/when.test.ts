import { expect, test } from 'vitest'
import { dateSaid, isOtherZone, ownZone, whenSaid } from '../../../panel/nouns/when.ts'
import { schedules } from '../../../panel/words/en/schedules.ts'

/** In the time zone of the machine, as the reader's own. */
const at = (day: number, hour: number, minute = 0) => new Date(2026, 10, day, hour, minute).getTime()
const said = (then: number, now: number) => whenSaid(then, now, schedules.when, 'en-GB')

test.each([
  ['the next night', at(25, 2, 30), at(24, 18), 'tonight 02:30'],
  ['the same night', at(24, 2, 30), at(24, 0, 15), 'tonight 02:30'],
  ['the next night, said in this one', at(25, 2, 30), at(24, 0, 15), 'tomorrow 02:30'],
  ['a night that is over', at(24, 2, 30), at(24, 9), 'today 02:30'],
  ['the same day', at(24, 18), at(24, 9), 'today 18:00'],
  ['the next day', at(25, 6), at(24, 9), 'tomorrow 06:00'],
  ['the day before', at(23, 21), at(24, 9), 'yesterday 21:00'],
  ['a day of the week', at(27, 2, 30), at(24, 9), 'Fri 02:30'],
  ['the same day of the next week', at(31, 12, 30), at(24, 9), 'Tue 1 Dec 12:30'],
  ['a day of the last week', at(20, 2, 30), at(24, 9), 'Fri 20 Nov 02:30'],
])('%s', (_, then, now, expected) => {
  expect(said(then, now)).toBe(expected)
})

test('another year is said', () => {
  expect(dateSaid(new Date(2027, 0, 2).getTime(), at(24, 9), 'en-GB')).toBe('Sat, 2 Jan 2027')
})

test('a time zone is another one when its clocks differ, now or in another season', () => {
  const now = Date.UTC(2026, 10, 24)
  expect([ownZone(), 'Pacific/Kiritimati', 'No/Where'].map((zone) => isOtherZone(zone, now))).toEqual([
    false,
    true,
    true,
  ])
  const [one, other] = ['Europe/London', 'Africa/Abidjan'].map((zone) => isOtherZone(zone, now))
  // London and Abidjan have the same time in winter alone, so they cannot both be the zone of this machine.
  expect(one || other).toBe(true)
})
