import type * as z from 'zod'
import type { Services, User } from './context.ts'
import type { Auth, DeclaredLimit, Input, Nothing, Request, RequestField, UserOf } from './function.ts'
import type { Frame } from './hub.ts'

/** Why the service closes a socket; contract of every client. */
export const CLOSE = {
  done: 1000,
  stopping: 1001,
  tooSlow: 1013,
  unauthenticated: 4401,
  forbidden: 4403,
  missing: 4404,
} as const

/** One client's end of a socket. */
export interface Socket {
  /** Settles once the frame has left this process, or the socket has closed. */
  send(frame: Frame): Promise<void>
  /** Bytes that wait for the client to read. */
  waiting(): number
  close(reason: keyof typeof CLOSE): void
  /** Aborted when the socket has closed, whoever closed it. */
  closed: AbortSignal
}

export interface SocketContext<user> extends Services {
  user: user
  socket: Socket
}

export type SocketDefinition<path extends string, auth extends Auth, request> = RequestField<path, request> & {
  path: path
  auth: auth
  /** Of attempts to open one. */
  rateLimit: DeclaredLimit | false
  /** Runs once the socket is open; what it throws closes the socket. */
  open(input: Input<request>, context: SocketContext<UserOf<auth>>): Promise<void> | void
}

export interface AnySocket {
  path: string
  auth: Auth
  rateLimit: DeclaredLimit | false
  request?: { params?: z.ZodType; query?: z.ZodType }
  open(input: never, context: never): unknown
}

/** Declares one WebSocket endpoint; how it is refused is the same for all (see `upgrade.ts`). */
export function defineSocket<
  const path extends `/ws/${string}`,
  const auth extends Auth,
  request extends Request<'GET', path> = Request<'GET', path> & Nothing,
>(definition: SocketDefinition<path, auth, request>): AnySocket {
  return definition
}

export type { User }
