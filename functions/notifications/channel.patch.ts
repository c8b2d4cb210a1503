import * as z from 'zod'
import { changeChannel, readChannels } from '../../db/notifications/channels.ts'
import {
  ChannelKind,
  chosenOf,
  joinSettings,
  sealedSettings,
  secretsToAsk,
  withoutShownUrl,
} from '../../notifications/notifications.ts'
import { WRITES } from '../../runtime/function.ts'
import { notedChange } from '../audit/values.ts'
import { defineFunction } from '../services.ts'
import {
  Channel,
  ChannelChange,
  channelForAudit,
  ChannelId,
  chosenAnew,
  differing,
  EXAMPLE_CHANNEL,
  expectChannel,
  expectSound,
  settingsOf,
  shownChannel,
} from './channel.ts'

const ASKED = {
  elsewhere: 'Donnez ce secret de nouveau : l’adresse change.',
  weaker: 'Donnez ce secret de nouveau : la connexion serait moins sûre.',
}

export default defineFunction({
  method: 'PATCH',
  path: '/api/notifications/channels/:id',
  summary: 'Change a channel',
  description:
    'Changes what is given, and leaves the rest. Another address (scheme, host or port) needs the secret again, which is never sent to a machine that it was not given for; so does a connection that proves less (`allow_self_signed`, or `security` `none`). The address of a webhook stays when it is left out, or given as it is shown. What still waits for a channel that is switched off is not sent any more.',
  auth: 'admin',
  stepUp: true,
  rateLimit: WRITES,
  audit: ['channel_change'],
  request: { params: z.object({ id: ChannelId }), body: ChannelChange },
  response: Channel,
  example: { body: { minimum: 'warning' }, response: EXAMPLE_CHANNEL },
  errors: [
    'channel_missing',
    'channel_settings_invalid',
    'channel_secret_required',
    'channel_name_taken',
    'channel_changed',
  ],

  async handler({ params: { id }, body }, { db, secrets, auditEntry, fail }) {
    const row = await expectChannel(db, id)
    const kind = ChannelKind.parse(row.kind)
    const { name = row.name, enabled = row.enabled, settings = {}, ...chosen } = body
    const former = settingsOf(row, secrets)
    const given = withoutShownUrl(kind, settings, former.plain)
    const { plain, secrets: next, problems } = joinSettings(kind, given, former)
    expectSound(problems)
    const asked = secretsToAsk(kind, former, plain, given)
    if (asked) {
      const message = ASKED[asked.because]
      throw fail('channel_secret_required', {
        details: asked.fields.map((field) => ({ field: `settings.${field}`, message })),
      })
    }
    const before = { name: row.name, enabled: row.enabled, ...chosenOf(row), ...former.plain, ...former.secrets }
    const values = { name, enabled, ...chosenAnew(chosenOf(row), chosen), ...plain, ...next }
    const keys = differing(before, values)
    if (keys.length === 0) return shownChannel(row, secrets)
    const told = notedChange(
      channelForAudit(kind, { ...row, chosen: chosenOf(row), settings: former }),
      channelForAudit(kind, {
        name,
        enabled,
        chosen: chosenAnew(chosenOf(row), chosen),
        settings: { plain, secrets: next },
      }),
    )
    const changed = await changeChannel(
      db,
      row,
      {
        name,
        enabled,
        ...sealedSettings({ id, kind }, { plain, secrets: next }, secrets.seal),
        chosen: JSON.stringify(chosenAnew(chosenOf(row), chosen)),
      },
      {
        off: 'Le canal a été désactivé.',
        entry: auditEntry('channel_change', {
          target: row.name,
          details: { id, kind, name, keys: keys.join(', '), ...told },
        }),
      },
    )
    if (!changed) {
      await expectChannel(db, id)
      const isTaken = (await readChannels(db)).some((other) => other.name === name && other.id !== id)
      throw fail(isTaken ? 'channel_name_taken' : 'channel_changed')
    }
    return shownChannel(await expectChannel(db, id), secrets)
  },
})
