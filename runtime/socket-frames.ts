import { codesOf } from './error-codes.ts'
import type { FrameKind } from './frame-kind.ts'
import { type AnySocket, CLOSE, type Closes } from './socket.ts'
import { renewalFrame } from './socket-token.ts'

export type FrameKinds = Readonly<Record<string, FrameKind>>

/** What a socket takes: its own frames, and that which keeps a socket with a token open beyond it. */
export function framesTaken({ auth, takes = {} }: AnySocket): FrameKinds {
  return auth === 'none' ? takes : { ...takes, auth: renewalFrame }
}

/** Of `ws` itself, which closes so by the standard. */
const TOO_LONG = { code: 1009, reason: 'tooLong', description: 'A frame is longer than 64 KiB.' }

/** Every code that a socket may be closed with by the service, and when. */
export function closesOf({
  auth,
  request,
  closes,
}: AnySocket): { code: number; reason: string; description: string }[] {
  const all: Closes = {
    ...(auth !== 'none' && {
      unauthenticated: 'Nobody is signed in, the token has expired, or its session has ended.',
      forbidden: 'Not for this user, or the new token is another user’s.',
    }),
    ...(codesOf({ auth: 'none', rateLimit: false, ...(request && { request }) }).has('invalid_request') && {
      refused: 'A parameter in the address is wrong (`invalid_request`).',
    }),
    stopping: 'The service is stopping.',
    failed:
      'The service has failed, its database perhaps (`storage_failed`), or otherwise (`internal`); its log says why. Nothing has ended by that: come back after a pause.',
    ...closes,
  }
  return [
    ...Object.entries(CLOSE).flatMap(([reason, code]) => {
      const description = Object.entries(all).find(([name]) => name === reason)?.[1]
      return description === undefined ? [] : [{ code, reason, description }]
    }),
    TOO_LONG,
  ].sort((a, b) => a.code - b.code)
}
