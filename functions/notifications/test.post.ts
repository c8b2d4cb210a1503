import * as z from 'zod'
import { defineFunction } from '../services.ts'
import { ChannelId, expectChannel } from './channel.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/notifications/channels/:id/test',
  summary: 'Try a channel',
  description:
    'Sends a message that says that it is a test, whether or not the channel is switched on or quiet, and returns the receiver’s status and own words. A 502 says why the message was not taken.',
  auth: 'admin',
  stepUp: true,
  // Each request makes the service connect to the address of the channel.
  rateLimit: { limit: 30, seconds: 60, by: 'address' },
  audit: ['channel_test'],
  request: { params: z.object({ id: ChannelId }) },
  response: z.object({
    status: z.int().meta({ description: 'The status of HTTP or SMTP.' }),
    answer: z.string().meta({ description: 'The receiver’s own words, up to 500 characters, without secrets.' }),
    refused: z.string().nullable().meta({ description: 'Recipients that the mail server refused, in a sentence.' }),
  }),
  example: { response: { status: 200, answer: '{"id":"hwQ2YpKdmg","event":"message"}', refused: null } },
  errors: ['channel_missing', 'channel_refused'],

  async handler({ params: { id } }, { db, notifications, audit }) {
    const row = await expectChannel(db, id)
    await audit('channel_test', { target: row.name, details: { id, kind: row.kind } })
    return notifications.test(row)
  },
})
