import { expect, test } from 'vitest'
import { SEVERITIES as OF_SERVICE } from '../../../notifications/notifications.ts'
import { bodyOf, changesOf, channelDraft, hasSecret, newChannel } from '../../../panel/nouns/channel-form.ts'
import {
  eventsOf,
  isWhole,
  leastOf,
  SEVERITIES,
  sendingOf,
  standingOf,
  toldEvents,
  toldOf,
  worstChannels,
} from '../../../panel/nouns/notification.ts'
import { channelOf, everyChannel, noticeOf } from '../flows/notification-states.ts'

test('the panel has each event of the service, with its severity', () => {
  expect(SEVERITIES).toEqual(OF_SERVICE)
})

test('a channel is told of the events that it names, from its least severity on', () => {
  const channel = channelOf('c1', 'x', { events: ['regressed', 'check_failed', 'upgrade_done'], minimum: 'warning' })
  expect(toldEvents(channel)).toEqual(['regressed', 'check_failed'])
  expect(leastOf(['regressed', 'check_failed'])).toBe('warning')
  expect(isWhole(['regressed', 'check_failed'])).toBe(false)
  expect(isWhole([...eventsOf('critical'), ...eventsOf('warning')])).toBe(true)
})

const delivery = (state: 'waiting' | 'delivered' | 'given_up', next_at: string | null = null) => ({
  channel_id: 'c1',
  state,
  attempts: 1,
  last_error: null,
  delivered_at: null,
  next_at,
})
const [SOON, LATER] = ['2026-03-01T02:31:00.000Z', '2026-03-01T02:36:00.000Z']

test('what waits for a channel has the earliest next attempt, and what others get does not count', () => {
  const notices = [
    noticeOf(3, 'a', { deliveries: [delivery('waiting', LATER)] }),
    noticeOf(2, 'b', { deliveries: [delivery('waiting', SOON), { ...delivery('given_up'), channel_id: 'c2' }] }),
    noticeOf(1, 'c', { deliveries: [delivery('delivered')] }),
  ]
  expect(sendingOf('c1', notices)).toEqual({ isWaiting: true, nextAt: SOON, isGivenUp: false })
  expect(sendingOf('c2', notices)).toEqual({ isWaiting: false, nextAt: undefined, isGivenUp: true })
})

const REFUSED = { at: SOON, ok: false, error: 'HTTP 500' }
test.each([
  ['that works', {}, [], 'delivered'],
  ['that refuses what is tried again', { last: REFUSED }, [delivery('waiting', SOON)], 'refused'],
  ['that refused a test', { last: REFUSED }, [], 'refused'],
  ['whose message was given up', { last: REFUSED }, [delivery('given_up')], 'given_up'],
  ['that works, and whose message was given up before', {}, [delivery('given_up')], 'lost'],
  ['that nobody has used', { last: null }, [], 'unused'],
  ['that is paused', { enabled: false, last: REFUSED }, [delivery('given_up')], 'paused'],
] as const)('a channel %s', (_, rest, deliveries, standing) => {
  const notices = [noticeOf(1, 'a', { deliveries: [...deliveries] })]
  expect(standingOf(channelOf('c1', 'x', rest), sendingOf('c1', notices))).toBe(standing)
})

test('channels that do not get through come first, and the others keep their order', () => {
  const channels = ['a', 'b', 'c', 'd'].map((id) => channelOf(id, id, id === 'd' ? { last: REFUSED } : {}))
  const notices = [noticeOf(1, 'x', { deliveries: [{ ...delivery('given_up'), channel_id: 'c' }] })]
  expect(worstChannels(channels, notices).map(({ id }) => id)).toEqual(['d', 'c', 'a', 'b'])
})

test('a channel gets an event of all targets, of some, not while it is paused, or never', () => {
  const told = (rest: Parameters<typeof channelOf>[2]) => toldOf(channelOf('c1', 'x', rest), 'regressed')
  expect([told({}), told({ targets: ['host'] }), told({ enabled: false }), told({ events: ['upgrade_done'] })]).toEqual(
    ['all', 'some', 'paused', 'no'],
  )
})

test('a channel that nobody has changed has no changes in its form', () => {
  for (const channel of everyChannel()) expect(changesOf(channelDraft(channel, 'UTC'), channel)).toEqual({})
})

test('a secret is sent only where somebody typed one, and its absence is known', () => {
  const [phone, mail] = everyChannel()
  if (!phone || !mail) throw new Error('there are no channels')
  const draft = channelDraft(phone, 'UTC')
  expect([draft.fields.token, hasSecret(phone, 'token'), hasSecret(phone, 'password')]).toEqual([
    undefined,
    true,
    false,
  ])
  expect(bodyOf(draft).settings).not.toHaveProperty('token')
  expect(changesOf({ ...draft, fields: { ...draft.fields, token: ' new ' } }, phone)).toEqual({
    settings: { token: 'new' },
  })
  // Without a user name there is no password.
  const anonymous = channelDraft(mail, 'UTC')
  expect(changesOf({ ...anonymous, fields: { ...anonymous.fields, username: '' } }, mail)).toEqual({
    settings: { username: null, password: null },
  })
})

test('the fields of another kind are not sent', () => {
  const draft = newChannel({ kind: 'gotify', events: ['regressed'], timezone: 'UTC', language: 'en' })
  const { settings, minimum } = bodyOf({
    ...draft,
    fields: { url: 'https://g.example', token: 'x', topic: 'left over' },
  })
  expect([settings, minimum]).toEqual([{ allow_self_signed: false, url: 'https://g.example', token: 'x' }, 'critical'])
})
