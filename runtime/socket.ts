import type * as z from 'zod'
import type { AuditAction } from './audit.ts'
import type { AuditNote, Caller, Services, User } from './context.ts'
import type { FrameKind } from './frame-kind.ts'
import type { Auth, DeclaredLimit, Input, Nothing, Request, RequestField, UserOf } from './function.ts'

/** Why the service closes a socket; contract of every client. */
export const CLOSE = {
  done: 1000,
  stopping: 1001,
  /** What the client has sent is not for this socket. */
  refused: 1008,
  failed: 1011,
  /** Later, perhaps. */
  busy: 1013,
  tooSlow: 1013,
  unauthenticated: 4401,
  forbidden: 4403,
  missing: 4404,
} as const

/** What a client has sent. */
export type Message = { binary: true; bytes: Buffer } | { binary: false; text: string }

/** One client's end of a socket. */
export interface Socket {
  /** Settles once the frame, one of text unless it is binary, has left this process, or the socket has closed. */
  send(frame: { bytes: Buffer; binary?: boolean }): Promise<void>
  /** Bytes that wait for the client to read. */
  waiting(): number
  /**
   * Hands each message of the client to `take`, and no more while a promise that it returned is pending: meanwhile the client
   * has to wait. What `take` throws or rejects with closes the socket. Without it, messages are ignored.
   */
  receive(take: (message: Message) => Promise<void> | undefined): void
  /** `word` says more than the code, for programs. */
  close(reason: keyof typeof CLOSE, word?: string): void
  /** Closes for what was thrown: `failed` or `refused`, with the code of the failure as its word. A fault goes to the log. */
  fail(error: unknown): void
  /** Aborted when the socket has closed, or the service has begun to close it: nothing that is sent then arrives. */
  closed: AbortSignal
}

export interface SocketContext<user, action extends string = never> extends Services {
  user: user
  caller: Caller
  socket: Socket
  /** Writes one of the declared audit actions, now. */
  audit(action: action, note?: AuditNote): Promise<void>
}

export type Closes = Readonly<Partial<Record<keyof typeof CLOSE, string>>>

export type SocketDefinition<
  path extends string,
  auth extends Auth,
  action extends AuditAction,
  request,
> = RequestField<path, request> & {
  path: path
  /** Its name in the documents, in a few words. */
  summary: string
  /** What it is for and what is not to be seen from its frames, in sentences. */
  description: string
  auth: auth
  /** Of attempts to open one. */
  rateLimit: DeclaredLimit | false
  /** What it may write to the audit log. */
  audit?: readonly action[]
  /** The frames that the service sends, and those that it takes, beside those of every socket. */
  sends: Readonly<Record<string, FrameKind>>
  takes?: Readonly<Record<string, FrameKind>>
  /** When it closes with these, beside what closes every socket. */
  closes: Closes
  /**
   * Runs once the socket is open; what it throws closes the socket. When the service stops it waits a moment for what is
   * still under way here, after the sockets have closed.
   */
  open(input: Input<request>, context: SocketContext<UserOf<auth>, action>): Promise<void> | void
}

export interface AnySocket {
  path: string
  auth: Auth
  rateLimit: DeclaredLimit | false
  summary?: string
  description?: string
  audit?: readonly AuditAction[]
  sends: Readonly<Record<string, FrameKind>>
  takes?: Readonly<Record<string, FrameKind>>
  closes: Closes
  request?: { params?: z.ZodObject; query?: z.ZodObject }
  open(input: never, context: never): unknown
}

/** Declares one WebSocket endpoint; how it is refused is the same for all (see `upgrade.ts`). */
export function defineSocket<
  const path extends `/ws/${string}`,
  const auth extends Auth,
  const action extends AuditAction = never,
  request extends Request<'GET', path> = Request<'GET', path> & Nothing,
>(definition: SocketDefinition<path, auth, action, request>): AnySocket {
  return definition
}

export type { User }
