import { randomBytes } from 'node:crypto'
import { addChannel, readChannels } from '../../db/notifications/channels.ts'
import { joinSettings, sealedSettings } from '../../notifications/notifications.ts'
import { timestamp } from '../../platform/clock.ts'
import { noted } from '../audit/values.ts'
import { defineFunction } from '../services.ts'
import {
  Channel,
  channelForAudit,
  EXAMPLE_CHANNEL,
  EXAMPLE_SETTINGS,
  expectChannel,
  expectSound,
  MOST_CHANNELS,
  NewChannel,
  shownChannel,
  withoutRepeats,
} from './channel.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/notifications/channels',
  summary: 'Add a channel',
  description:
    'Stores a channel, to which notices are sent from then on. Redirects of its server are not followed. `output` adds the last lines of a failed job’s output to a notice; they may contain what the notice itself does not tell.',
  auth: 'admin',
  stepUp: true,
  rateLimit: { limit: 1200, seconds: 60, by: 'user' },
  audit: ['channel_create'],
  request: { body: NewChannel },
  status: 201,
  response: Channel,
  example: {
    body: { name: 'Astreinte', kind: 'ntfy', settings: EXAMPLE_SETTINGS, minimum: 'warning' },
    response: { ...EXAMPLE_CHANNEL, last: null },
  },
  errors: ['channel_settings_invalid', 'channel_name_taken', 'channels_full'],

  async handler({ body: { name, kind, settings, enabled, ...chosen } }, { db, clock, secrets, auditEntry, fail }) {
    const { problems, ...joined } = joinSettings(kind, settings)
    expectSound(problems)
    const id = randomBytes(12).toString('hex')
    const told = noted(channelForAudit(kind, { name, enabled, chosen: withoutRepeats(chosen), settings: joined }))
    const added = await addChannel(
      db,
      {
        id,
        kind,
        name,
        ...sealedSettings({ id, kind }, joined, secrets.seal),
        chosen: JSON.stringify(withoutRepeats(chosen)),
        enabled,
      },
      {
        now: timestamp(clock()),
        most: MOST_CHANNELS,
        entry: auditEntry('channel_create', { target: name, details: { id, kind, ...told } }),
      },
    )
    if (!added) {
      const isTaken = (await readChannels(db)).some((channel) => channel.name === name)
      throw isTaken ? fail('channel_name_taken') : fail('channels_full', { values: { most: MOST_CHANNELS } })
    }
    return shownChannel(await expectChannel(db, id), secrets)
  },
})
