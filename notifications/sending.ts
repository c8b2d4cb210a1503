import type { Clock } from '../platform/clock.ts'
import { SecretError, type Secrets } from '../platform/secrets.ts'
import type { ChannelRow } from '../db/notifications/channels.ts'
import { openChannel, type OpenChannel } from './channel-secrets.ts'
import { HTTP_MS, sendByHttp } from './http-sender.ts'
import { MAIL_MS, sendMail } from './mail-sender.ts'
import { type Outgoing, SendError, type Taken } from './outgoing.ts'

/** How long an attempt may last in all, by kind of channel, with some time to record it. */
export function longestAttemptMs(kind: string): number {
  return (kind === 'email' ? MAIL_MS : HTTP_MS) + 5_000
}

/** Sends a message to a stored channel. Rejects with a SendError, or with the reason of `signal`. */
export async function send(
  row: ChannelRow,
  message: Outgoing,
  { secrets, clock, signal, withinMs }: { secrets: Secrets; clock: Clock; signal: AbortSignal; withinMs?: number },
): Promise<Taken> {
  const channel = opened(row, secrets)
  const bound = withinMs === undefined ? {} : { withinMs }
  return channel.kind === 'email'
    ? sendMail(channel, message, { signal, ...bound })
    : sendByHttp(channel, message, { now: clock(), signal, ...bound })
}

function opened(row: ChannelRow, secrets: Secrets): OpenChannel {
  try {
    return openChannel(row, secrets.open)
  } catch (error) {
    if (!(error instanceof SecretError)) throw error
    throw new SendError('Le secret enregistré ne peut pas être déchiffré : donnez-le de nouveau.')
  }
}
