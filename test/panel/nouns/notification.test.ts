import { expect, test } from 'vitest'
import { SEVERITIES as OF_SERVICE } from '../../../notifications/notifications.ts'
import { bodyOf, changesOf, channelDraft, hasSecret, newChannel } from '../../../panel/nouns/channel-form.ts'
import { eventsOf, isWhole, leastOf, SEVERITIES, standingOf, toldEvents } from '../../../panel/nouns/notification.ts'
import { channelOf, everyChannel } from '../flows/notification-states.ts'

test('the panel has each event of the service, with its severity', () => {
  expect(SEVERITIES).toEqual(OF_SERVICE)
})

test('a channel is told of the events that it names, from its least severity on', () => {
  const channel = channelOf('c1', 'x', { events: ['regressed', 'check_failed', 'upgrade_done'], minimum: 'warning' })
  expect(toldEvents(channel)).toEqual(['regressed', 'check_failed'])
  expect(leastOf(['regressed', 'check_failed'])).toBe('warning')
  expect(isWhole(['regressed', 'check_failed'])).toBe(false)
  expect(isWhole([...eventsOf('critical'), ...eventsOf('warning')])).toBe(true)
  expect(standingOf(channel)).toBe('delivered')
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
