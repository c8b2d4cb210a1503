/*
 * Errors: stable codes on which programs rely, their failures, and the conversion of any thrown value. The cause of an
 * unexpected error goes to the log and never to the client.
 */

import type * as z from 'zod'
import { StorageError } from '../db/libsql/database.ts'
import type { Log } from '../platform/log.ts'

/** Further properties of an error code. */
interface Traits {
  /** Documents that responses carry a `Retry-After` header, which `FailureOptions` set. */
  retryAfter?: true
  /** A token in the request is invalid or expired. The refusal counts against the limit on refused tokens. */
  badToken?: true
  /** Further fields of the response, which `FailureOptions` set. */
  more?: Readonly<Record<string, z.ZodType>>
}

/** The HTTP status, the French sentence and further properties of an error code. */
export type ErrorEntry = readonly [status: number, text: string, traits?: Traits]

/**
 * Error codes by name. Codes are stable, because programs rely on them. Each room and each area has a table of its own
 * in its `codes.ts`.
 */
export type ErrorTable<code extends string = string> = Readonly<Record<code, ErrorEntry>>

/** Error codes that any request may receive. */
export const RUNTIME_ERRORS = {
  malformed_http: [400, 'La requête HTTP est mal formée.'],
  invalid_json: [400, 'Le corps de la requête est illisible.'],
  invalid_request: [400, 'La requête est invalide.'],
  unauthenticated: [401, 'Vous devez être connecté.'],
  forbidden: [403, 'Vos droits ne permettent pas cette action.'],
  target_forbidden: [403, 'Vos droits ne s’étendent pas à toutes les cibles de cette action.'],
  step_up_required: [403, 'Confirmez d’abord qui vous êtes : votre dernière preuve date de plus de 15 minutes.'],
  enrolment_required: [403, 'Ajoutez d’abord un second facteur à votre compte : ce service l’exige.'],
  origin_forbidden: [403, 'Cette origine n’est pas autorisée (voir PANEL_ORIGINS).'],
  not_found: [404, 'Cette adresse n’existe pas.'],
  method_not_allowed: [405, 'Cette méthode n’est pas prévue à cette adresse.'],
  request_timeout: [408, 'La requête n’a pas été reçue à temps.'],
  body_too_large: [413, 'Le corps de la requête dépasse {limit}.'],
  headers_too_large: [431, 'Les en-têtes de la requête sont trop longs.'],
  rate_limited: [429, 'Trop de requêtes. Réessayez dans {seconds} s.', { retryAfter: true }],
  not_configured: [
    500,
    'Cette installation n’est pas configurée : son journal indique quelle variable d’environnement manque ou est incorrecte.',
  ],
  answer_too_large: [
    500,
    'La réponse dépasse {limit}, que cet hébergement ne transmet pas : demandez l’historique sans les sorties (output=none), et chaque sortie par /api/updates/jobs/<id>/output.',
  ],
  sockets_missing: [
    501,
    'Cet hébergement ne permet pas les WebSockets : lisez la sortie d’une tâche à /api/updates/jobs/<id>/output ; le terminal n’est pas disponible.',
  ],
  storage_failed: [500, 'La base de données ne répond pas.'],
  internal: [500, 'Une erreur interne est survenue.'],
} as const satisfies ErrorTable

/** One rejected field of a request. */
export interface Detail {
  field: string
  message: string
}

export interface FailureOptions {
  /** Values for the placeholders in the sentence. */
  values?: Record<string, string | number>
  details?: Detail[]
  /** The further fields of the response that the code declares. */
  more?: Readonly<Record<string, unknown>>
  /** Logged, never sent. */
  cause?: unknown
  /** Seconds until a retry makes sense: the `Retry-After` header. */
  retryAfter?: number
}

/** A named failure: `message` is the French sentence that the caller sees, `cause` stays in the log. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly code: string
  readonly status: number
  readonly details: Detail[] | undefined
  readonly more: Readonly<Record<string, unknown>> | undefined
  readonly retryAfter: number | undefined
  /** Whether the token that came with the request is to blame. */
  readonly badToken: boolean

  constructor(code: string, [status, text, traits]: ErrorEntry, options: FailureOptions = {}) {
    const { values = {}, details, more, cause, retryAfter } = options
    super(
      text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? '')),
      { cause },
    )
    this.code = code
    this.status = status
    this.details = details
    this.more = more
    this.retryAfter = retryAfter
    this.badToken = traits?.badToken ?? false
  }
}

/**
 * Returns a function that creates failures of one table: `const fail = failuresOf(TABLE)`, then `throw fail('code', {
 * values })`.
 */
export function failuresOf<code extends string>(table: ErrorTable<code>) {
  return (code: code, options?: FailureOptions): Failure => new Failure(code, table[code], options)
}

/** Creates a failure of the runtime's own table. */
export const fail = failuresOf(RUNTIME_ERRORS)

/** Creates a failure from any table. A code that the table lacks becomes `internal`. */
export function failureIn(table: ErrorTable, code: string, options?: FailureOptions): Failure {
  const entry = table[code]
  return entry ? new Failure(code, entry, options) : fail('internal', { cause: new Error(`unknown code ${code}`) })
}

/** The JSON body of an error response. */
export function errorBody({ code, message, details, more }: Failure): string {
  return JSON.stringify({ error: message, code, ...(details && { details }), ...more })
}

/** An error outside this service, such as on the host. It converts itself to a Failure; its log line has no stack. */
export abstract class OutsideError extends Error {
  abstract toFailure(): Failure
  /** Writes the log line of a request that failed for it. */
  logTo(log: Log, request: Record<string, unknown>): void {
    log.warn({ ...request, reason: this.message }, 'request failed at the host')
  }
}

/** The logged reason for refusing a page of another origin. Its message says what to configure for the panel's own. */
export class ForeignPage extends Error {
  override readonly name = 'ForeignPage'
  readonly origin: string

  constructor(origin: string) {
    super(
      'refused, the page is of another origin: see PANEL_ORIGINS, or have the proxy set X-Forwarded-Proto and pass Host on',
    )
    // Room for the longest host name and the rest of an origin.
    this.origin = origin.slice(0, 300)
  }
}

/** Converts any thrown value to a Failure. Unknown errors become `internal` and reveal nothing of their cause. */
export function translate(error: unknown): Failure {
  if (error instanceof Failure) return error
  if (error instanceof StorageError) return fail('storage_failed', { cause: error })
  if (error instanceof OutsideError) return error.toFailure()
  return fail('internal', { cause: error })
}

/** Whether a failure is a fault of the service, not one outside. A 501 or 503 without a cause is an intended response. */
export function isFault({ status, cause }: Failure): boolean {
  return status >= 500 && !(cause instanceof OutsideError) && !((status === 501 || status === 503) && !cause)
}

/** Logs one line about a refused request. Only faults include a stack; errors on the host include one sentence. */
export function logRefusal(log: Log, request: Record<string, unknown>, failure: Failure): void {
  const { code, details, cause } = failure
  const entry = { ...request, code, ...(details && { details }) }
  if (cause instanceof OutsideError) cause.logTo(log, entry)
  else if (cause instanceof ForeignPage) log.warn({ ...entry, origin: cause.origin }, cause.message)
  else if (isFault(failure)) log.error({ ...entry, err: cause }, 'request failed')
  else log.info(entry, 'request refused')
}
