import * as z from 'zod'
import { readChannels } from '../../db/notifications/channels.ts'
import { READS } from '../../runtime/function.ts'
import { defineFunction } from '../services.ts'
import { Channel, EXAMPLE_CHANNEL, shownChannel } from './channel.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/notifications/channels',
  summary: 'Channels of notifications',
  description: 'Returns where notices are sent, by name. A secret is never returned, only whether it is set.',
  auth: 'admin',
  rateLimit: READS,
  response: z.object({ channels: z.array(Channel) }),
  example: { response: { channels: [EXAMPLE_CHANNEL] } },

  async handler(_, { db, secrets }) {
    return { channels: (await readChannels(db)).map((row) => shownChannel(row, secrets)) }
  },
})
