import { expect, test } from 'vitest'
import { clock, day, full, localeOf, short } from '../../../panel/nouns/format.ts'
import { dateSaid } from '../../../panel/nouns/when.ts'

/** In the time zone of the machine, as the reader's own. */
const AT = new Date(2026, 10, 26, 15, 4, 5).getTime()
const LATER = new Date(2027, 0, 3).getTime()

test('English dates are British: the day before the month, and 24 hours', () => {
  expect([full(AT, 'en'), day(AT, 'en'), short(AT, LATER, 'en'), clock(AT, AT, 'en'), dateSaid(AT, AT, 'en')]).toEqual([
    '26 November 2026 at 15:04:05',
    '26 November 2026',
    '26 Nov 2026, 15:04',
    '15:04',
    'Thu 26 Nov',
  ])
})

test('French dates stay French', () => {
  expect([day(AT, 'fr'), short(AT, LATER, 'fr'), localeOf('fr')]).toEqual([
    '26 novembre 2026',
    '26 nov. 2026, 15:04',
    'fr',
  ])
})
