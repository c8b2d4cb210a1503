import * as z from 'zod'
import { removeChannel } from '../../db/notifications/channels.ts'
import { WRITES } from '../../runtime/function.ts'
import { defineFunction } from '../services.ts'
import { ChannelId, expectChannel } from './channel.ts'

export default defineFunction({
  method: 'DELETE',
  path: '/api/notifications/channels/:id',
  summary: 'Remove a channel',
  description:
    'Removes a channel with its secrets. What still waits for it is not sent, and notices no longer name it.',
  auth: 'admin',
  rateLimit: WRITES,
  audit: ['channel_delete'],
  request: { params: z.object({ id: ChannelId }) },
  response: z.object({ message: z.string() }),
  example: { response: { message: 'Canal supprimé.' } },
  errors: ['channel_missing'],

  async handler({ params: { id } }, { db, auditEntry, fail }) {
    const { name, kind } = await expectChannel(db, id)
    const removed = await removeChannel(db, id, auditEntry('channel_delete', { target: name, details: { id, kind } }))
    if (!removed) throw fail('channel_missing')
    return { message: 'Canal supprimé.' }
  },
})
