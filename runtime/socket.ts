import * as z from 'zod'
import type { AuditNote, Caller } from './context.ts'
import type { Auth, DeclaredLimit, DeclaredTargets, Input, Nothing, Request, RequestField, UserOf } from './function.ts'

/** Close codes of the service. Clients rely on them. */
export const CLOSE = {
  done: 1000,
  stopping: 1001,
  /** The client sent a message that this socket does not accept. */
  refused: 1008,
  failed: 1011,
  /** The client may try again later. */
  busy: 1013,
  tooSlow: 1013,
  unauthenticated: 4401,
  forbidden: 4403,
  missing: 4404,
} as const

/** A message of a client. */
export type Message = { binary: true; bytes: Buffer } | { binary: false; text: string }

/** A socket, as its endpoint uses it. */
export interface Socket {
  /** Sends a text frame, or a binary one. Settles when the frame has left this process or the socket has closed. */
  send(frame: { bytes: Buffer; binary?: boolean }): Promise<void>
  /** Bytes that wait in this process because the client has not read them. */
  bufferedBytes(): number
  /**
   * Passes each client message to `take`. While a promise returned by `take` is pending, no further message is read and
   * the client has to wait. An error from `take` closes the socket. Before the first call, messages are ignored.
   */
  receive(take: (message: Message) => Promise<void> | undefined): void
  /** Closes the socket. Programs can read `word`, which says more than the close code. */
  close(reason: keyof typeof CLOSE, word?: string): void
  /** Closes with `failed` or `refused` for a thrown error; the close reason is the error code. Faults are logged. */
  fail(error: unknown): void
  /** Aborted when the socket has closed or the service has begun to close it. Frames sent after that do not arrive. */
  closed: AbortSignal
}

export type SocketContext<services, user, action extends string = never> = services & {
  user: user
  caller: Caller
  socket: Socket
  /** Writes one of the declared audit actions, now. */
  audit(action: action, note?: AuditNote): Promise<void>
}

export type Closes = Readonly<Partial<Record<keyof typeof CLOSE, string>>>

export type SocketDefinition<
  services,
  path extends string,
  auth extends Auth,
  action extends string,
  request,
> = RequestField<path, request> & {
  path: path
  /** A short name for the documents. */
  summary: string
  /** Describes the purpose of the socket and what its frames do not show, in sentences. */
  description: string
  auth: auth
  /** Whether the caller's last proof of who it is must be at most 15 minutes old when the socket opens. */
  stepUp?: true
  targets?: DeclaredTargets<Input<request>, services>
  /** The limit on attempts to open the socket. */
  rateLimit: DeclaredLimit | false
  /** The audit actions that it may write. */
  audit?: readonly action[]
  /** The frames that the service sends and accepts, beyond those of every socket. */
  sends: Readonly<Record<string, FrameKind>>
  takes?: Readonly<Record<string, FrameKind>>
  /** The circumstances of each close code, beyond those of every socket. */
  closes: Closes
  /**
   * Runs once the socket is open. A thrown error closes the socket. When the service stops, it waits briefly for
   * pending work here after the sockets have closed.
   */
  open(input: Input<request>, context: SocketContext<services, UserOf<auth>, action>): Promise<void> | void
}

export interface AnySocket {
  path: string
  auth: Auth
  stepUp?: true
  targets?: DeclaredTargets<never, never>
  rateLimit: DeclaredLimit | false
  summary?: string
  description?: string
  audit?: readonly string[]
  sends: Readonly<Record<string, FrameKind>>
  takes?: Readonly<Record<string, FrameKind>>
  closes: Closes
  request?: { params?: z.ZodObject; query?: z.ZodObject }
  open(input: never, context: never): unknown
}

/**
 * Returns the function that declares WebSocket endpoints of a service. `services` is the type that they receive,
 * `actions` are all audit actions. Refusals are the same for all sockets (see `sockets.ts`).
 */
export function socketDeclarations<services, actions extends string>() {
  return <
    const path extends `/ws/${string}`,
    const auth extends Auth,
    const action extends actions = never,
    request extends Request<'GET', path> = Request<'GET', path> & Nothing,
  >(
    definition: SocketDefinition<services, path, auth, action, request>,
  ): AnySocket => definition
}

/** A frame type: JSON text of this schema, or bytes without a schema. */
export interface FrameKind {
  description: string
  schema?: z.ZodType
  example?: unknown
}

/** Declares a text frame type. The compiler checks the example against the schema. */
export function textFrame<schema extends z.ZodType>(
  description: string,
  schema: schema,
  example: NoInfer<z.input<schema>>,
): FrameKind {
  return { description, schema, example }
}

/**
 * The schema of an event in the format of `frame` in hub.ts. `seq` is the position in the topic's stream after this
 * event.
 */
export function envelope<type extends string, data extends z.ZodType>(type: type, topic: string, data: data) {
  return z.object({
    type: z.literal(type),
    topic: z.string().meta({ description: `\`${topic}\`` }),
    seq: z.int().min(0),
    data,
  })
}
