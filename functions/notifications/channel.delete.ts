import * as z from 'zod'
import { removeChannel } from '../../db/notifications/channels.ts'
import { ChannelKind, chosenOf } from '../../notifications/notifications.ts'
import { WRITES } from '../../runtime/function.ts'
import { noted } from '../audit/values.ts'
import { defineFunction } from '../services.ts'
import { channelForAudit, ChannelId, expectChannel, settingsOf } from './channel.ts'

export default defineFunction({
  method: 'DELETE',
  path: '/api/notifications/channels/:id',
  summary: 'Remove a channel',
  description:
    'Removes a channel with its secrets. What still waits for it is not sent, and notices no longer name it.',
  auth: 'admin',
  stepUp: true,
  rateLimit: WRITES,
  audit: ['channel_delete'],
  request: { params: z.object({ id: ChannelId }) },
  response: z.object({ message: z.string() }),
  example: { response: { message: 'Canal supprimé.' } },
  errors: ['channel_missing'],

  async handler({ params: { id } }, { db, secrets, auditEntry, fail }) {
    const row = await expectChannel(db, id)
    const { name, enabled } = row
    const kind = ChannelKind.parse(row.kind)
    const told = channelForAudit(kind, { name, enabled, chosen: chosenOf(row), settings: settingsOf(row, secrets) })
    const details = { id, kind, ...noted(told) }
    const removed = await removeChannel(db, id, auditEntry('channel_delete', { target: name, details }))
    if (!removed) throw fail('channel_missing')
    return { message: 'Canal supprimé.' }
  },
})
