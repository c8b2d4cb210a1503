import type { Dispatcher } from 'undici'
import type { OpenChannel } from './channel.ts'
import { type Outgoing, receiverWords, SendError, type Taken } from './outgoing.ts'
import { redaction } from './redact.ts'
import { requestOf } from './requests.ts'

/** Time for a connection: a server that is there accepts one within seconds, also over a slow line. */
const CONNECT_MS = 10_000
/** Time for the connection, the request and the answer together. */
export const HTTP_MS = 15_000
/** Time for the rest of an answer whose status is there: the status decides, and the words only explain it. */
const WORDS_MS = 3_000
/** Bytes that are read of an answer. */
const ANSWER_BYTES = 4 * 1024
/** Bytes of an answer's headers. */
const HEADER_BYTES = 16 * 1024

/**
 * Sends a message over HTTP. Rejects with a SendError whose sentence has no secret. A redirect is a failure, so that
 * nothing goes to another server than the one that an administrator named. Uses no proxy, and leaves no connection open.
 * Rejects with the reason of `signal` when that ends it.
 */
export async function sendByHttp(
  channel: OpenChannel,
  message: Outgoing,
  { now, signal, withinMs = HTTP_MS }: { now: Date; signal: AbortSignal; withinMs?: number },
): Promise<Taken> {
  const { url, method, headers, body } = requestOf(channel, message, Math.floor(now.getTime() / 1000))
  const redact = redaction(Object.values(channel.secrets))
  const { origin } = new URL(url)
  const late = AbortSignal.timeout(withinMs)
  const ending = AbortSignal.any([signal, late])
  // Imported on first use: undici takes a sixth of the start-up time.
  const { Agent, request } = await import('undici')
  const dispatcher = new Agent({
    connect: { timeout: CONNECT_MS, rejectUnauthorized: channel.plain.allow_self_signed !== true },
    maxHeaderSize: HEADER_BYTES,
  })
  try {
    const sent = { 'user-agent': 'ops-panel', accept: '*/*', ...headers }
    const answer = await request(url, { dispatcher, method, headers: sent, body, signal: ending })
    const status = answer.statusCode
    const { text, cut } = await beginningOf(answer.body)
    const words = receiverWords(redact(text, { cut }))
    // The Apprise server answers 204 where it has no address stored under the key, so nobody was told.
    if (status === 204 && channel.kind === 'apprise')
      throw new SendError(`${origin} n’a aucune adresse sous cette clé (HTTP 204).`)
    if (status >= 200 && status < 300) return { status, answer: words, refused: null }
    if (status >= 300 && status < 400)
      throw new SendError(`${origin} renvoie ailleurs (HTTP ${status}), et un renvoi n’est pas suivi.`)
    throw new SendError(
      words === '' ? `${origin} a répondu HTTP ${status}.` : `${origin} a répondu HTTP ${status} : ${words}`,
    )
  } catch (error) {
    if (error instanceof SendError) throw error
    signal.throwIfAborted()
    if (late.aborted) throw new SendError(`${origin} n’a pas répondu à temps.`)
    throw new SendError(`${origin} ne répond pas (${codeOf(error)}).`)
  } finally {
    await dispatcher.destroy().catch(() => {})
  }
}

/** Reads the beginning of an answer. An answer that breaks off or never ends is as good as one that ends there. */
async function beginningOf(body: Dispatcher.ResponseData['body']): Promise<{ text: string; cut: boolean }> {
  const chunks: Buffer[] = []
  let size = 0
  const timer = setTimeout(() => body.destroy(), WORDS_MS)
  try {
    for await (const chunk of body) {
      const bytes = Buffer.from(chunk)
      chunks.push(bytes)
      size += bytes.length
      if (size > ANSWER_BYTES) break
    }
    const all = Buffer.concat(chunks)
    return { text: all.toString('utf8', 0, ANSWER_BYTES), cut: all.length > ANSWER_BYTES }
  } catch {
    return { text: Buffer.concat(chunks).toString(), cut: true }
  } finally {
    clearTimeout(timer)
    body.destroy()
  }
}

/** The code of an error alone: a message may quote headers, which have secrets. */
export function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return /^[A-Z0-9_]{2,60}$/.test(code) ? code : 'la connexion a échoué'
}
