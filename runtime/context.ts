import type { Database, Statement } from '../db/libsql/database.ts'
import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config.ts'
import type { Log } from '../platform/log.ts'
import type { ErrorTable, Failure, FailureOptions } from './errors.ts'
import type { Limiter } from './rate-limit.ts'

/** The rights of an account of the host: to read, to work on targets, or to change everything. Each includes the one before. */
export const ROLES = ['viewer', 'operator', 'admin'] as const
export type Role = (typeof ROLES)[number]

/** All targets, or some by their ids (`host`, `lxc:101`). */
export type Targets = 'all' | readonly string[]

/** The caller whom a verified token names. Rights are decided in access.ts, and nowhere else. */
export interface User {
  id: number
  username: string
  role: Role
  /** The targets that the caller may work on. Those of an operator may be few, those of a viewer are none. */
  operates: Targets
  /** The targets to which an API token is bound, in what it reads and in what it does. */
  targets: Targets
  /** The kind of the token: an access token of a session, or an API token. */
  credential: 'session' | 'token'
  /** The session that the token was issued in; for an API token, `token:` and its id. */
  sid: string
  /** Seconds since the epoch. */
  expires: number
  /** When the caller last proved who it is, in seconds since the epoch; 0 for an API token. */
  proven: number
  /** Whether the caller must first enrol a second factor. */
  enrolling: boolean
}

/** Verifies access tokens for the runtime. */
export interface TokenVerifier {
  /** Returns the user of a valid access token. */
  verify(token: string): User | undefined | Promise<User | undefined>
  /** Whether this service most likely issued the token. Such a token is verified even while its address is refused. */
  isPlausible(token: string): boolean
  /** Calls the listener when the session ends, or at once if it has ended. Returns a function that removes it. */
  onEnd(sid: string, listener: () => void): () => void
  /** Notes when and from where the API token of this user was used. */
  noteUse(user: User, address: string): void
}

/** The services that the runtime needs. The service adds its own rooms in `Services` (functions/services.ts). */
export interface RuntimeServices {
  db: Database
  sessions: TokenVerifier
  limiter: Limiter
  config: Config
  clock: Clock
  log: Log
  /** Every error code of the service. */
  errors: ErrorTable
  /** Undefined when metrics are off. */
  metrics: RequestMetrics | undefined
}

export interface RequestMetrics {
  /** Counts one HTTP request. `path` is the declared path, so that ids do not create series. */
  request(method: string, path: string, status: number, seconds: number): void
}

/** The client of a request. */
export interface Caller {
  /** The client's address. Behind a trusted proxy, the address that the proxy reports. */
  address: string
  userAgent: string
  /** Whether the client's connection is encrypted, according to the connection itself or to a proxy. */
  secure: boolean
  /** The `Host` header: how the client names this service, unless a proxy has changed it. */
  host: string | undefined
  /** The origin of the calling page when it is neither the service's own nor listed in `PANEL_ORIGINS`. */
  foreign: string | undefined
  /** Whether a page of another origin loads this as an image or in a frame, for which browsers send no Origin. */
  embedded: boolean
}

export interface AuditNote {
  target?: string
  /** Never a secret. */
  details?: Record<string, string | number | boolean | null>
  /** The affected user when nobody is signed in yet. */
  user?: { id: number | null; username: string }
  /** The entry tells the refusal that the handler then throws: the runtime writes none of its own. */
  isRefusal?: true
}

/** The second argument of a handler: the services, and the data of this request. */
export type Context<services, user, code extends string, action extends string> = services & {
  user: user
  caller: Caller
  /** Aborted when the client disconnects. */
  signal: AbortSignal
  /** Creates a failure with one of the declared codes, to be thrown. */
  fail(code: code, options?: FailureOptions): Failure
  /** Writes one of the declared audit actions immediately. */
  audit(action: action, note?: AuditNote): Promise<void>
  /** Returns the entry as a statement, for the same transaction as the action it records. */
  auditEntry(action: action, note?: AuditNote): Statement
  /** Sets a response header. A `set-cookie` is added to earlier ones. */
  header(name: string, value: string): void
}
