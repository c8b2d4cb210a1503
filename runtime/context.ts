import type { Database, Statement } from '../db/client.ts'
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import type { Deployer } from './deployer.ts'
import type { Documents } from './documents.ts'
import type { Failure, FailureOptions } from './errors.ts'
import type { Host } from './host.ts'
import type { Hub } from './hub.ts'
import type { Jobs } from './jobs.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import type { Modules } from './modules.ts'
import type { Limiter } from './rate-limit.ts'
import type { Sessions } from './session.ts'
import type { Settings } from './settings.ts'
import type { SetupToken } from './setup-token.ts'
import type { User } from './tokens.ts'

/** What a running instance is made of; made once at start. */
export interface Services {
  db: Database
  host: Host
  hub: Hub
  jobs: Jobs
  modules: Modules
  /** Restarts the service with a changed module. */
  deployer: Deployer
  settings: Settings
  documents: Documents
  setupToken: SetupToken
  sessions: Sessions
  limiter: Limiter
  config: Config
  clock: Clock
  log: Log
  /** The newest lines of the log, the oldest of them first. */
  logLines(): string[]
  /** Unless they are off. */
  metrics: Metrics | undefined
  /** Names this start of the service: it changes with every one. */
  boot: { id: string; startedAt: string; version: string }
}

/** Who asks, from where. */
export interface Caller {
  /** The client's address; behind a trusted proxy, the one that the proxy names. */
  address: string
  userAgent: string
  /** Whether the client's connection is encrypted, as far as it or a proxy says. */
  secure: boolean
  /** The origin of the page that asks, when it is neither the service's own nor among `PANEL_ORIGINS`. */
  foreign: string | undefined
  /** Whether the page of another origin has its browser fetch this, without an Origin: as an image, in a frame. */
  embedded: boolean
}

export interface AuditNote {
  target?: string
  /** Never a secret. */
  details?: Record<string, string | number | boolean | null>
  /** For who is not signed in yet. */
  user?: { id: number | null; username: string }
}

/** What a handler is given beside its input. */
export interface Context<user, code extends string, action extends string> extends Services {
  user: user
  caller: Caller
  /** Aborted when the client goes away. */
  signal: AbortSignal
  /** Makes a failure of those that the function declares, to be thrown. */
  fail(code: code, options?: FailureOptions): Failure
  /** Writes one of the declared audit actions, now. */
  audit(action: action, note?: AuditNote): Promise<void>
  /** The same as a statement, for the transaction of what it tells of. */
  auditEntry(action: action, note?: AuditNote): Statement
  /** Sets a header of the answer; a `set-cookie` stands beside others. */
  header(name: string, value: string): void
}

export type { User }
