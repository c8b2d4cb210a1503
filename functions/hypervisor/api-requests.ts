import * as z from 'zod'
import { checked } from '../../runtime/checked.ts'
import { Failure } from '../../runtime/errors.ts'
import type { HypervisorAccess } from '../../runtime/hypervisor-access.ts'
import { createConnector } from './certificate.ts'

/** A person waits: connecting, asking, and the last byte of the last answer, all within this time. */
const WITHIN_MS = 10_000
/** Ten thousand containers take less. */
const MAX_BYTES = 4 * 1024 * 1024
/** More than a list has: it takes long to look at each, and others wait meanwhile. */
const MAX_ITEMS = 10_000

/** Requests to the hypervisor's API over one connection. */
export interface ApiRequests {
  /** The whole answer to a request, of that shape. `refused` may name another failure for what the hypervisor says. */
  ask<schema extends z.ZodType>(
    schema: schema,
    path: string,
    options?: { method?: 'GET' | 'POST'; refused?(reason: string): Failure | undefined },
  ): Promise<z.output<schema>>
  /** The certificate that answered; undefined without TLS, and before the first answer. */
  fingerprint(): string | undefined
}

/**
 * Does some work with the API of Proxmox VE, within ten seconds in all; afterwards nothing of it is left. Rejects with a
 * Failure, in whose words the token never is. Redirects are not followed, no proxy is asked.
 */
export async function withApi<result>(
  access: HypervisorAccess,
  work: (requests: ApiRequests) => Promise<result>,
  { withinMs = WITHIN_MS } = {},
): Promise<result> {
  const ending = new AbortController()
  let late = false
  const timer = setTimeout(() => {
    late = true
    ending.abort()
  }, withinMs)
  let fingerprint: string | undefined
  // Loaded where it is used alone: it takes a sixth of a start.
  const { buildConnector, Client } = await import('undici')
  const connect = createConnector(buildConnector, access.fingerprint, {
    signal: ending.signal,
    met: (seen) => {
      fingerprint = seen
    },
  })
  const { origin, pathname } = new URL(access.url)
  const client = new Client(origin, { connect })
  const root = `${pathname.replace(/\/+$/, '').replace(/\/api2(\/json)?$/, '')}/api2/json`
  const secret = access.token.slice(access.token.indexOf('=') + 1)
  const hidden = (text: string) => text.replaceAll(secret, '…')

  const send = async (method: 'GET' | 'POST', path: string): Promise<Answer> => {
    const headers = { authorization: `PVEAPIToken=${access.token}`, accept: 'application/json' }
    const {
      statusCode,
      statusText,
      headers: given,
      body,
    } = await client.request({
      method,
      path: root + path,
      headers,
      signal: ending.signal,
    })
    const text = await read(body)
    const type = String(given['content-type'] ?? '')
    return { status: statusCode, reason: statusText, type, text: hidden(text) }
  }

  try {
    return await work({
      fingerprint: () => fingerprint,
      async ask(schema, path, { method = 'GET', refused } = {}) {
        const answer = await send(method, path)
        if (answer.status !== 200) throw refusal(answer, hidden, refused)
        return dataOf(schema, answer)
      },
    })
  } catch (cause) {
    if (cause instanceof Failure) throw cause
    const why = late ? `aucune réponse complète de ${origin} en ${withinMs / 1000} s` : `${origin} (${codeOf(cause)})`
    // Not the cause: it may hold the request, with its headers.
    throw new Failure('hypervisor_unreachable', { values: { message: why } })
  } finally {
    clearTimeout(timer)
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

async function read(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  // Leaving the loop early ends the rest, and with it the connection.
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > MAX_BYTES) throw unreadable(`elle dépasse ${MAX_BYTES / 1024 / 1024} Mio`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
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

/** What an answer other than 200 comes to. A wrong token is told after three seconds, by the hypervisor's own choice. */
function refusal(
  answer: Answer,
  hidden: (text: string) => string,
  refused: (reason: string) => Failure | undefined = () => undefined,
): Failure {
  const { status } = answer
  if (status >= 300 && status < 400) return unreadable(`elle renvoie ailleurs (HTTP ${status})`)
  if (status === 401) return new Failure('hypervisor_unauthorized')
  // Once more: in JSON a text can be written in many ways.
  const reason = told(hidden(reasonOf(answer))) || `HTTP ${status}`
  if (status === 403) return new Failure('hypervisor_forbidden', { values: { message: reason } })
  const [, lock] = /\bis locked \(([^)]{1,80})\)/.exec(reason) ?? []
  if (lock !== undefined) return new Failure('container_locked', { values: { lock } })
  return refused(reason) ?? new Failure('hypervisor_refused', { values: { message: reason } })
}

/** Whatever is asked for comes in this. */
const Envelope = z.object({ data: z.unknown() })

const Refusal = z.object({
  message: z.string().nullish().catch(undefined),
  errors: z.record(z.string(), z.string()).nullish().catch(undefined),
})

/** Older releases say why in the status line alone. */
function reasonOf({ type, text, reason, status }: Answer): string {
  const parsed = isJson(type) ? checked(Refusal, parseJson(text)) : undefined
  const { message, errors } = parsed?.success ? parsed.data : {}
  const fields = Object.entries(errors ?? {}).map(([field, why]) => `${field} : ${why}`)
  return [message || reason || `HTTP ${status}`, ...fields].join(' ')
}

/** Somebody else's words as they may stand in a sentence. */
function told(text: string): string {
  const line = text
    .slice(0, 1_000)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
  return line.length > 200 ? `${line.slice(0, 200)}…` : line
}

export function unreadable(message: string): Failure {
  return new Failure('hypervisor_unreadable', { values: { message: told(message) } })
}

function isJson(type: string): boolean {
  return /^\s*application\/json\b/i.test(type)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'la connexion a échoué'
}
