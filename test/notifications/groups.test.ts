import { expect, test } from 'vitest'
import { nextAttempt, pauseAfter } from '../../notifications/attempts.ts'
import { SEVERITIES, Severity } from '../../notifications/event.ts'
import { closedGroups, type GroupedEvent, isWanted, targetOf, worstOf } from '../../notifications/groups.ts'
import { isTimeZone, type Quiet, quietUntil } from '../../notifications/quiet.ts'

const NOW = Date.parse('2026-03-01T12:00:00.000Z')

function event(id: number, name: keyof typeof SEVERITIES, run: string | null, secondsAgo = 0): GroupedEvent {
  const at = new Date(NOW - secondsAgo * 1_000).toISOString()
  return { id, at, event: name, severity: SEVERITIES[name], target: `lxc:${100 + id}`, run }
}

const ids = (groups: GroupedEvent[][]) => groups.map((group) => group.map(({ id }) => id))
const close = (events: GroupedEvent[], atWork: string[] = [], all = false) =>
  ids(closedGroups(events, { atWork: new Set(atWork), nowMs: NOW, all }))

test('an event without a run becomes a notice by itself, at once', () => {
  expect(close([event(1, 'check_failed', null), event(2, 'check_failed', null)])).toEqual([[1], [2]])
})

test('the events of a run are one group, and wait while it is at work, up to ten minutes after the first', () => {
  const events = [event(1, 'upgrade_done', 'r', 599), event(2, 'upgrade_failed', 'r'), event(3, 'upgrade_done', 's')]

  expect(close(events, ['r', 's'])).toEqual([])
  expect(close(events, ['s'])).toEqual([[1, 2]])
  expect(close([event(1, 'upgrade_done', 'r', 600), ...events.slice(1)], ['r', 's'])).toEqual([[1, 2]])
})

test('a group with a critical event is closed five seconds after it, with those that came meanwhile', () => {
  const events = (secondsAgo: number) => [
    event(1, 'upgrade_done', 'r', 60),
    event(2, 'regressed', 'r', secondsAgo),
    event(3, 'schedule_stopped', 'r', 1),
  ]

  expect(close(events(4), ['r'])).toEqual([])
  expect(close(events(5), ['r'])).toEqual([[1, 2, 3]])
})

test('an event from before the clock was set back does not keep its group open, and neither do too many events', () => {
  expect(close([event(1, 'upgrade_done', 'r', -3_600)], ['r'])).toEqual([[1]])
  expect(close([event(1, 'upgrade_done', 'r')], ['r'], true)).toEqual([[1]])
})

test('a notice is about its worst event, and about a target where all of its events are', () => {
  const events = [event(1, 'upgrade_done', 'r'), event(2, 'regressed', 'r'), event(3, 'schedule_stopped', 'r')]
  const unknown = { event: 'of_a_later_version', severity: 'critical' as const }

  expect(worstOf(events)?.id).toBe(2)
  expect(worstOf([event(1, 'upgrade_failed', 'r'), unknown])).toBe(unknown)
  expect(worstOf([])).toBeUndefined()
  expect(targetOf(events)).toBeNull()
  expect(targetOf(events.slice(0, 1))).toBe('lxc:101')
  expect(targetOf([{ target: null }, { target: 'host' }])).toBe('host')
  expect(targetOf([{ target: null }])).toBeNull()
})

test('a channel gets what it chose: by event, by target, by severity', () => {
  const all = { events: ['regressed', 'upgrade_done'], targets: 'all', minimum: 'info' } as const
  const regressed = event(1, 'regressed', null)

  expect(isWanted(regressed, all)).toBe(true)
  expect(isWanted(event(1, 'check_failed', null), all)).toBe(false)
  expect(isWanted(regressed, { ...all, targets: ['lxc:102'] })).toBe(false)
  expect(isWanted({ ...regressed, target: null }, { ...all, targets: ['lxc:102'] })).toBe(true)
  for (const minimum of Severity.options) {
    expect(isWanted(regressed, { ...all, minimum })).toBe(true)
    expect(isWanted(event(1, 'upgrade_done', null), { ...all, minimum })).toBe(minimum === 'info')
  }
})

test('pauses grow to an hour, and the attempts end a day after the first', () => {
  const seconds = Array.from({ length: 11 }, (_, at) => pauseAfter(at + 1) / 1_000)

  expect(seconds).toEqual([10, 30, 90, 300, 600, 1_200, 2_400, 3_600, 3_600, 3_600, 3_600])
  expect(pauseAfter(5_000)).toBe(3_600_000)
  expect(nextAttempt({ attempts: 1, first_ms: NOW }, NOW)).toBe(NOW + 10_000)
  expect(nextAttempt({ attempts: 30, first_ms: NOW - 86_399_999 }, NOW)).toBe(NOW + 3_600_000)
  expect(nextAttempt({ attempts: 30, first_ms: NOW - 86_400_000 }, NOW)).toBeNull()
})

const PARIS: Quiet = { from: '22:00', to: '07:00', timezone: 'Europe/Paris' }

test.each<[string, Quiet, string, string | undefined]>([
  ['before', PARIS, '2026-01-10T20:59:59.999Z', undefined],
  ['at the beginning', PARIS, '2026-01-10T21:00:00.000Z', '2026-01-11T06:00:00.000Z'],
  ['after midnight', PARIS, '2026-01-11T02:30:12.345Z', '2026-01-11T06:00:00.000Z'],
  ['in the last minute', PARIS, '2026-01-11T05:59:59.999Z', '2026-01-11T06:00:00.000Z'],
  ['at the end', PARIS, '2026-01-11T06:00:00.000Z', undefined],
  ['in the night that is an hour shorter', PARIS, '2026-03-28T22:00:00.000Z', '2026-03-29T05:00:00.000Z'],
  ['in the night that is an hour longer', PARIS, '2026-10-24T21:00:00.000Z', '2026-10-25T06:00:00.000Z'],
  [
    'to a time that the clock leaves out',
    { ...PARIS, to: '02:30' },
    '2026-03-29T00:30:00.000Z',
    '2026-03-29T01:00:00.000Z',
  ],
  [
    'from a time that the clock leaves out',
    { ...PARIS, from: '02:30' },
    '2026-03-29T01:00:00.000Z',
    '2026-03-29T05:00:00.000Z',
  ],
  [
    'in the hour that comes twice, the first time',
    { ...PARIS, to: '02:30' },
    '2026-10-25T00:10:00.000Z',
    '2026-10-25T00:30:00.000Z',
  ],
  [
    'in the hour that comes twice, the second time',
    { ...PARIS, to: '02:30' },
    '2026-10-25T01:10:00.000Z',
    '2026-10-25T01:30:00.000Z',
  ],
  [
    'with half an hour’s change',
    { from: '22:00', to: '07:13', timezone: 'Australia/Lord_Howe' },
    '2026-10-03T12:00:00.000Z',
    '2026-10-03T20:13:00.000Z',
  ],
  [
    'by day',
    { from: '09:15', to: '17:45', timezone: 'Asia/Kathmandu' },
    '2026-05-01T06:00:00.000Z',
    '2026-05-01T12:00:00.000Z',
  ],
  [
    'almost all day',
    { from: '08:00', to: '07:59', timezone: 'UTC' },
    '2026-05-01T08:00:00.000Z',
    '2026-05-02T07:59:00.000Z',
  ],
  ['with equal times', { from: '08:00', to: '08:00', timezone: 'UTC' }, '2026-05-01T08:00:00.000Z', undefined],
  [
    'over a day that does not exist',
    { from: '20:00', to: '06:00', timezone: 'Pacific/Apia' },
    '2011-12-30T08:00:00.000Z',
    '2011-12-30T16:00:00.000Z',
  ],
])('quiet hours %s end at the right time', (_, quiet, now, end) => {
  expect(quietUntil(quiet, new Date(now))?.toISOString()).toBe(end)
})

test('quiet hours end where each minute says so, through a year of changes of the clock', () => {
  for (const timezone of ['Europe/Paris', 'Australia/Lord_Howe', 'America/New_York', 'Africa/Casablanca'])
    for (const quiet of [
      { from: '23:10', to: '02:20', timezone },
      { from: '01:50', to: '03:05', timezone },
    ])
      for (let at = Date.UTC(2026, 0, 1); at < Date.UTC(2027, 0, 1); at += 17 * 3_600_000 + 13 * 60_000) {
        const end = quietUntil(quiet, new Date(at))
        if (!end) continue
        expect(quietUntil(quiet, end)).toBeUndefined()
        expect(quietUntil(quiet, new Date(end.getTime() - 60_000))?.getTime()).toBe(end.getTime())
      }
})

test('a time zone has a name; an offset and rubbish are none', () => {
  expect(['UTC', 'Europe/Paris', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5'].map(isTimeZone)).toEqual([
    true,
    true,
    true,
    true,
  ])
  expect(['+01:00', '', 'Mars/Phobos', 'Europe/Paris\n', '../UTC', 'x'.repeat(64)].map(isTimeZone)).not.toContain(true)
})
