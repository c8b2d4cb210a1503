import * as z from 'zod'
import { type ListedNotice, listNotices } from '../../db/notifications/notice-list.ts'
import {
  composeMessage,
  EventName,
  type Language,
  LANGUAGES,
  MOST_LINES,
  Severity,
  WORST_FIRST,
} from '../../notifications/notifications.ts'
import { timestamp } from '../../platform/clock.ts'
import { READS } from '../../runtime/function.ts'
import { integerText } from '../../runtime/input.ts'
import { Target } from '../hypervisor/target.ts'
import { defineFunction } from '../services.ts'
import { ChannelId } from './channel.ts'
import { hostName } from './host-name.ts'

const DeliveryState = z.enum(['waiting', 'delivered', 'given_up', 'quiet'])

/** Two events of a target may be told in one line. */
const MOST_EVENTS = 2 * MOST_LINES

export default defineFunction({
  method: 'GET',
  path: '/api/notifications/notices',
  summary: 'Notices and their deliveries',
  description:
    'Lists the notices of the last 30 days, newest first, with what became of each at each channel that wanted it. Title and text are in French or, with `language=en`, in English. `link` is a path of the panel. `target` is null for a notice about several targets. `next` is the `before` of the following notices, or null after the last.',
  auth: 'admin',
  rateLimit: READS,
  request: {
    query: z.object({
      limit: integerText({ min: 1, max: 100 }).default(50),
      before: integerText({ min: 1 }).optional(),
      language: z.enum(LANGUAGES).default('fr'),
    }),
  },
  response: z.object({
    notices: z.array(
      z.object({
        id: z.int(),
        at: z.string(),
        event: EventName,
        severity: Severity,
        target: Target.nullable(),
        title: z.string(),
        text: z.string(),
        link: z.string(),
        deliveries: z.array(
          z.object({
            channel_id: ChannelId,
            state: DeliveryState,
            attempts: z.int(),
            last_error: z.string().nullable(),
            delivered_at: z.string().nullable(),
            next_at: z.string().nullable().meta({
              description: 'The time of the next attempt, or the end of the quiet hours; null once there is none.',
            }),
          }),
        ),
      }),
    ),
    next: z.int().nullable(),
  }),
  example: {
    query: { limit: '50', language: 'en' },
    response: {
      notices: [
        {
          id: 12,
          at: '2026-03-01T02:31:06.000Z',
          event: 'regressed',
          severity: 'critical',
          target: 'lxc:101',
          title: 'web (lxc:101): 1 thing broken after the upgrade',
          text: 'Unit nginx.service has failed.\nStarted by alice.\nRoll back, or keep the upgrade.\n(2026-03-01 02:31 UTC)',
          link: '/updates/1772366400-k3x9q2pa',
          deliveries: [
            {
              channel_id: '2f1e0d3c4b5a697887969504',
              state: 'delivered',
              attempts: 1,
              last_error: null,
              delivered_at: '2026-03-01T02:31:07.000Z',
              next_at: null,
            },
          ],
        },
      ],
      next: null,
    },
  },

  async handler({ query: { limit, before, language } }, { db, settings }) {
    // Reads one notice more than the limit: that notice shows whether another page follows.
    const found = await listNotices(db, { limit: limit + 1, before }, { worstFirst: WORST_FIRST, most: MOST_EVENTS })
    const host = await hostName(settings)
    const notices = found.slice(0, limit).map((notice) => shown(notice, language, host))
    return { notices, next: found.length > limit ? (notices.at(-1)?.id ?? null) : null }
  },
})

function shown({ id, at, target, deliveries, ...notice }: ListedNotice, language: Language, host: string | undefined) {
  const events = notice.events.map((each) => ({
    ...each,
    event: EventName.parse(each.event),
    severity: Severity.parse(each.severity),
  }))
  const counts = notice.counts && new Map([...notice.counts].map(([event, n]) => [EventName.parse(event), n]))
  const { title, text, link, event, severity } = composeMessage(events, {
    language,
    publicUrl: '',
    host,
    ...(counts && { counts }),
  })
  const told = deliveries.map(({ state, next_ms, ...rest }) => ({
    ...rest,
    state: DeliveryState.parse(state),
    next_at: next_ms === null ? null : timestamp(new Date(next_ms)),
  }))
  return { id, at, event, severity, target, title, text, link: link ?? '/', deliveries: told }
}
