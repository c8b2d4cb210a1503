import * as z from 'zod'
import { parseJson, readUpTo } from '../../platform/untrusted.ts'
import { Failure } from '../../runtime/errors.ts'
import { checked } from '../../runtime/input.ts'
import { fail } from '../services.ts'
import { createConnector, type Refusals } from './certificate.ts'
import { HYPERVISOR_ERRORS } from './codes.ts'
import type { HypervisorAccess } from './settings.ts'

/** Time for the connection, the requests and the last byte of the last answer together: a person waits. */
const TIMEOUT_MS = 10_000
/** Ten thousand containers take less. */
const MAX_BYTES = 4 * 1024 * 1024
/** More items than any list has. Checking each takes long enough to delay other requests. */
const MAX_ITEMS = 10_000

type Method = 'GET' | 'POST' | 'DELETE'

interface AskOptions {
  method?: Method
  form?: Record<string, string>
  refused?(reason: string): Failure | undefined
}

/** A refusal of the hypervisor. `reason` has its own words, in one short line without the token. */
export class ApiRefusal extends Failure {
  readonly reason: string

  constructor(
    code: 'hypervisor_forbidden' | 'hypervisor_refused' | 'container_locked',
    reason: string,
    values: Record<string, string> = { message: reason },
  ) {
    super(code, HYPERVISOR_ERRORS[code], { values })
    this.reason = reason
  }
}

/** Requests to the hypervisor's API over one connection. */
export interface ApiRequests {
  /**
   * Sends a request and parses the whole answer by the schema. `form` has the parameters of a POST. `refused` may choose
   * another failure for a refusal.
   */
  ask<schema extends z.ZodType>(schema: schema, path: string, options?: AskOptions): Promise<z.output<schema>>
  /** The fingerprint of the certificate that answered; undefined without TLS and before the first answer. */
  fingerprint(): string | undefined
}

const REFUSALS: Refusals = {
  inClear: () => fail('hypervisor_in_clear'),
  untrusted: (message, fingerprint = 'aucun') => fail('hypervisor_certificate', { values: { message, fingerprint } }),
}

/**
 * Runs `work` with the API of Proxmox VE, within ten seconds in all unless told otherwise, and closes the connection
 * afterwards. Rejects with a Failure whose text never contains the token, also when `signal` ends it. Follows no
 * redirects and uses no proxy.
 */
export async function withApi<result>(
  access: HypervisorAccess,
  work: (requests: ApiRequests) => Promise<result>,
  { withinMs = TIMEOUT_MS, signal }: { withinMs?: number; signal?: AbortSignal } = {},
): Promise<result> {
  const ending = new AbortController()
  const end = () => ending.abort()
  signal?.addEventListener('abort', end)
  if (signal?.aborted) end()
  let late = false
  const timer = setTimeout(() => {
    late = true
    ending.abort()
  }, withinMs)
  let fingerprint: string | undefined
  // Imported on first use: undici takes a sixth of the start-up time.
  const { buildConnector, Client } = await import('undici')
  const connect = createConnector(buildConnector, access.fingerprint, {
    refuse: REFUSALS,
    signal: ending.signal,
    timeout: 0,
    met: (seen) => {
      fingerprint = seen
    },
  })
  const { origin, pathname } = new URL(access.url)
  const client = new Client(origin, { connect })
  const root = `${pathname.replace(/\/+$/, '').replace(/\/api2(\/json)?$/, '')}/api2/json`
  const secret = access.token.slice(access.token.indexOf('=') + 1)
  const hidden = (text: string) => text.replaceAll(secret, '…')

  const send = async (method: Method, path: string, form?: Record<string, string>): Promise<Answer> => {
    const headers = {
      authorization: `PVEAPIToken=${access.token}`,
      accept: 'application/json',
      ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
    }
    const {
      statusCode,
      statusText,
      headers: given,
      body,
    } = await client.request({
      method,
      path: root + path,
      headers,
      body: form ? String(new URLSearchParams(form)) : null,
      signal: ending.signal,
    })
    const bytes = await readUpTo(MAX_BYTES, body)
    if (!bytes) throw unreadable(`elle dépasse ${MAX_BYTES / 1024 / 1024} Mio`)
    const type = String(given['content-type'] ?? '')
    return { status: statusCode, reason: statusText, type, text: hidden(bytes.toString()) }
  }

  try {
    return await work({
      fingerprint: () => fingerprint,
      async ask(schema, path, { method = 'GET', form, refused } = {}) {
        const answer = await send(method, path, form)
        if (answer.status !== 200) throw refusal(answer, hidden, refused)
        return dataOf(schema, answer)
      },
    })
  } catch (cause) {
    if (cause instanceof Failure) throw cause
    const why = late ? `aucune réponse complète de ${origin} en ${withinMs / 1000} s` : `${origin} (${codeOf(cause)})`
    // The cause is left out: it may hold the request with its headers.
    throw fail('hypervisor_unreachable', { values: { message: why } })
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
    await client.destroy().catch(() => {})
    ending.abort()
  }
}

interface Answer {
  status: number
  reason: string
  type: string
  text: string
}

function dataOf<schema extends z.ZodType>(schema: schema, { type, text }: Answer): z.output<schema> {
  if (!isJson(type)) throw unreadable('ce n’est pas du JSON')
  const whole = checked(Envelope, parseJson(text))
  if (!whole.success) throw unreadable('le JSON est illisible')
  const { data } = whole.data
  if (Array.isArray(data) && data.length > MAX_ITEMS) throw unreadable(`elle compte plus de ${MAX_ITEMS} éléments`)
  const parsed = checked(schema, data)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw unreadable([issue?.path.join('.') ?? '', issue?.message ?? ''].filter((word) => word !== '').join(' : '))
}

/** Maps an answer other than 200 to a failure. The hypervisor delays its refusal of a wrong token by three seconds. */
function refusal(
  answer: Answer,
  hidden: (text: string) => string,
  refused: (reason: string) => Failure | undefined = () => undefined,
): Failure {
  const { status } = answer
  if (status >= 300 && status < 400) return unreadable(`elle renvoie ailleurs (HTTP ${status})`)
  if (status === 401) return fail('hypervisor_unauthorized')
  // The token is removed again after decoding, because JSON can escape any text.
  const reason = asOneLine(hidden(reasonOf(answer))) || `HTTP ${status}`
  if (status === 403) return new ApiRefusal('hypervisor_forbidden', reason)
  const [, lock] = /\bis locked \(([^)]{1,80})\)/.exec(reason) ?? []
  if (lock !== undefined) return new ApiRefusal('container_locked', reason, { lock })
  return refused(reason) ?? new ApiRefusal('hypervisor_refused', reason)
}

/** The envelope of every answer. */
const Envelope = z.object({ data: z.unknown() })

const Refusal = z.object({
  message: z.string().nullish().catch(undefined),
  errors: z.record(z.string(), z.string()).nullish().catch(undefined),
})

/** Returns the hypervisor's reason. Older releases put it into the status line only. */
function reasonOf({ type, text, reason, status }: Answer): string {
  const parsed = isJson(type) ? checked(Refusal, parseJson(text)) : undefined
  const { message, errors } = parsed?.success ? parsed.data : {}
  const fields = Object.entries(errors ?? {}).map(([field, why]) => `${field} : ${why}`)
  return [message || reason || `HTTP ${status}`, ...fields].join(' ')
}

/** Makes foreign text fit into a sentence: one line of bounded length. */
function asOneLine(text: string): string {
  const line = text
    .slice(0, 1_000)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
  return line.length > 200 ? `${line.slice(0, 200)}…` : line
}

export function unreadable(message: string): Failure {
  return fail('hypervisor_unreadable', { values: { message: asOneLine(message) } })
}

function isJson(type: string): boolean {
  return /^\s*application\/json\b/i.test(type)
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'la connexion a échoué'
}
