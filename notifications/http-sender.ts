import type { Dispatcher } from 'undici'
import * as z from 'zod'
import { parseJson } from '../platform/untrusted.ts'
import type { ChannelKind } from './channel.ts'
import { hiddenParts, type OpenChannel } from './channel-secrets.ts'
import { whyUnreachable } from './connection-errors.ts'
import { type Outgoing, receiverWords, SendError, type Taken } from './outgoing.ts'
import { redaction } from './redact.ts'
import { requestOf } from './requests.ts'

/** Time for a connection: a server that is there accepts one within seconds, also over a slow line. */
const CONNECT_MS = 10_000
/** Time for the connection, the request and the answer together. */
export const HTTP_MS = 15_000
/** Time for the rest of an answer whose status is there: the status decides, and the words only explain it. */
const WORDS_MS = 3_000
/** Bytes that are read of an answer that only explains its status. */
const ANSWER_BYTES = 4 * 1024
/** Bytes of an answer that proves the delivery: ntfy and Gotify repeat the message in it. */
const PROOF_BYTES = 128 * 1024
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
  const redact = redaction([...Object.values(channel.secrets), ...hiddenParts(channel.kind, channel.plain)])
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
    const isTaken = status >= 200 && status < 300
    const hasProof = isTaken && PROOFS[channel.kind] !== undefined
    const bounds = hasProof ? { bytes: PROOF_BYTES, ms: withinMs } : { bytes: ANSWER_BYTES, ms: WORDS_MS }
    const { text, cut } = await beginningOf(answer.body, bounds)
    const words = receiverWords(redact(text, { cut }))
    // The Apprise server answers 204 where it has no address stored under the key, so nobody was told.
    if (status === 204 && channel.kind === 'apprise')
      throw new SendError(`${origin} n’a aucune adresse sous cette clé (HTTP 204).`)
    if (isTaken && !isProof(channel.kind, text))
      throw new SendError(
        `${origin} n’a pas répondu comme un serveur ${channel.kind} (HTTP ${status}) : un portail ou un autre service est à cette adresse.`,
      )
    if (isTaken) return { status, answer: words, refused: null }
    if (status >= 300 && status < 400)
      throw new SendError(`${origin} renvoie ailleurs (HTTP ${status}), et un renvoi n’est pas suivi.`)
    throw new SendError(
      words === '' ? `${origin} a répondu HTTP ${status}.` : `${origin} a répondu HTTP ${status} : ${words}`,
    )
  } catch (error) {
    if (error instanceof SendError) throw error
    signal.throwIfAborted()
    if (late.aborted) throw new SendError(`${origin} n’a pas répondu à temps.`)
    throw new SendError(
      whyUnreachable(error, origin, new URL(url).hostname) ?? `${origin} ne répond pas (${codeOf(error)}).`,
    )
  } finally {
    await dispatcher.destroy().catch(() => {})
  }
}

const Id = z.union([z.string().min(1), z.int()])

/** The proof in the answer of a service that it took a message. Without it, the 200 of a captive portal would be a delivery. */
const PROOFS: Partial<Record<ChannelKind, z.ZodType>> = {
  ntfy: z.object({ id: Id }),
  gotify: z.object({ id: Id }),
  matrix: z.object({ event_id: Id }),
}

function isProof(kind: ChannelKind, text: string): boolean {
  const proof = PROOFS[kind]
  return proof === undefined || proof.safeParse(parseJson(text)).success
}

/** Reads the beginning of an answer. An answer that breaks off or never ends is as good as one that ends there. */
async function beginningOf(
  body: Dispatcher.ResponseData['body'],
  { bytes: most, ms }: { bytes: number; ms: number },
): Promise<{ text: string; cut: boolean }> {
  const chunks: Buffer[] = []
  let size = 0
  const timer = setTimeout(() => body.destroy(), ms)
  try {
    for await (const chunk of body) {
      const bytes = Buffer.from(chunk)
      chunks.push(bytes)
      size += bytes.length
      if (size > most) break
    }
    const all = Buffer.concat(chunks)
    return { text: all.toString('utf8', 0, most), cut: all.length > most }
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
