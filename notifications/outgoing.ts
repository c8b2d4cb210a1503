import { type Failure, OutsideError } from '../runtime/errors.ts'
import { notificationsFailure } from './codes.ts'

/** A message on its way to one channel. */
export interface Outgoing {
  /** The id of the delivery, the same for each attempt, so that a receiver can know a repeated message. */
  id: string
  /** When the notice was made: RFC 3339. */
  at: string
  title: string
  text: string
  /** An absolute address of the panel; null when the panel's origin is not known. */
  link: string | null
  severity: 'info' | 'warning' | 'critical'
  /** The name of the event, or `test`. */
  event: string
  target: string | null
}

/** A receiver has taken a message. */
export interface Taken {
  /** The status of HTTP or SMTP. */
  status: number
  /** The receiver's own words: one line. */
  answer: string
  /** A French sentence about receivers that refused, while others took the message. */
  refused: string | null
}

/**
 * A receiver did not take a message. `message` is a French sentence for people. It has no cause, which could hold the
 * request with its secrets.
 */
export class SendError extends OutsideError {
  override readonly name = 'SendError'

  override toFailure(): Failure {
    return notificationsFailure('channel_refused', { values: { message: this.message }, cause: this })
  }
}

/** The most characters of a receiver's words, and of a text in which they are looked for. */
const WORDS = 500
const LOOKED_AT = 32 * 1024

/** Makes a foreign text one line of bounded length that shows as it is. */
export function receiverWords(text: string): string {
  const line = text
    .slice(0, LOOKED_AT)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\s]+/gu, ' ')
    .trim()
  const points = Array.from(line)
  return points.length > WORDS ? `${points.slice(0, WORDS - 1).join('')}…` : line
}

/** Shortens a text to some bytes of UTF-8, at the end of a character. */
export function withinBytes(text: string, most: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= most) return text
  const ellipsis = '…'
  let end = most - Buffer.byteLength(ellipsis)
  // A byte of the form 10xxxxxx continues a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return bytes.toString('utf8', 0, end) + ellipsis
}
