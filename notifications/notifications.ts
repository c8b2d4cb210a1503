/**
 * Notifications tell people what happened where they are: by mail, on a phone, in a chat. An event is stored in the
 * transaction of what it tells of, becomes a notice, and is delivered to each channel that wants it, at least once. The room
 * must not know jobs, checks or schedules: it gets their facts with each event.
 */
export {
  ChannelKind,
  ChannelName,
  Chosen,
  type ChannelSettings,
  chosenOf,
  GivenSettings,
  joinSettings,
  ShownSettings,
} from './channel.ts'
export { openChannel, sealedSettings, secretsToAsk, shownSettings, withoutShownUrl } from './channel-secrets.ts'
export { NOTIFICATIONS_ERRORS } from './codes.ts'
export { type Details, EVENT_NAMES, EventName, eventStatement, type PanelEvent, SEVERITIES, Severity } from './event.ts'
export {
  composeMessage,
  type Language,
  LANGUAGES,
  type Message,
  MOST_LINES,
  type ToldEvent,
  WORST_FIRST,
} from './message.ts'
export { createNotifier, type Notifier } from './notifier.ts'
