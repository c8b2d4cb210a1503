import type { Answer } from '../../client/index.ts'
import type { ChannelBody } from '../nouns/channel-form.ts'
import type { Channel, Kind } from '../nouns/notification.ts'
import { language } from '../words/words.ts'
import { api } from './panel.ts'

export type Tried = Answer<'POST /api/notifications/channels/{id}/test'>

export async function readChannels(signal?: AbortSignal): Promise<readonly Channel[]> {
  return (await api('GET /api/notifications/channels', { signal })).channels
}

export function createChannel(kind: Kind, body: ChannelBody): Promise<Channel> {
  return api('POST /api/notifications/channels', { body: { ...body, kind, enabled: true } })
}

export function changeChannel(id: string, body: Partial<ChannelBody> & { enabled?: boolean }): Promise<Channel> {
  return api('PATCH /api/notifications/channels/{id}', { params: { id }, body })
}

export async function removeChannel(id: string): Promise<void> {
  await api('DELETE /api/notifications/channels/{id}', { params: { id } })
}

/** Sends a test; resolves with the receiver's own words, and rejects with them where it refuses. */
export function tryChannel(id: string): Promise<Tried> {
  return api('POST /api/notifications/channels/{id}/test', { params: { id } })
}

const NOTICES_AT_ONCE = 30

/** A part of the notices, newest first, with their texts in the reader's language. `before` is the id of the last one that is there. */
export function readNotices(before: number | undefined, signal?: AbortSignal) {
  const query = { limit: NOTICES_AT_ONCE, language: language(), ...(before !== undefined && { before }) }
  return api('GET /api/notifications/notices', { query, signal })
}
