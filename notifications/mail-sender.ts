import type { OpenChannel } from './channel-secrets.ts'
import { whyUnreachable } from './connection-errors.ts'
import { codeOf } from './http-sender.ts'
import { type Outgoing, receiverWords, SendError, type Taken } from './outgoing.ts'
import { redaction } from './redact.ts'
import { escapeHtml, withLink } from './requests.ts'

/** Time for a connection, as for HTTP. */
const CONNECT_MS = 10_000
/** Time for the greeting, which servers delay by up to half a minute to turn away spammers, and for any other answer. */
const ANSWER_MS = 35_000
/** Time for a whole mail. */
export const MAIL_MS = 45_000
/** Bytes of one answer of a server. */
const ANSWER_BYTES = 16 * 1024
/** Characters of a subject, which some programs show whole. */
const SUBJECT = 200

/** Begins a line of a message that tells of one event of several. */
const ITEM = '- '

/** The urgency of a mail, in the words of mail programs. */
const PRIORITY = { info: 'normal', warning: 'normal', critical: 'high' } as const

/**
 * Sends a message by SMTP, as text and as HTML without remote content. With `starttls` nothing is sent to a server that
 * offers no encryption. Each attempt has the same Message-ID, so that a receiver can know a repeated mail. Rejects with a
 * SendError whose sentence has no secret, and with the reason of `signal` when that ends it.
 */
export async function sendMail(
  { plain, secrets }: OpenChannel,
  message: Outgoing,
  { signal, withinMs = MAIL_MS }: { signal: AbortSignal; withinMs?: number },
): Promise<Taken> {
  const { host = '', port = 0, security, username, from = '', to = [], allow_self_signed } = plain
  const server = `${host}:${port}`
  const redact = redaction(Object.values(secrets))
  const words = (text: string) => receiverWords(redact(text, { cut: text.length >= ANSWER_BYTES }))
  // Imported on first use, like undici.
  const { createTransport } = await import('nodemailer')
  const transport = createTransport({
    host,
    port,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    ...(username !== undefined && { auth: { user: username, pass: secrets.password ?? '' } }),
    tls: { rejectUnauthorized: allow_self_signed !== true },
    connectionTimeout: CONNECT_MS,
    dnsTimeout: CONNECT_MS,
    greetingTimeout: ANSWER_MS,
    socketTimeout: ANSWER_MS,
    socketCloseTimeout: 0,
    maxResponseSize: ANSWER_BYTES,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const late = AbortSignal.timeout(withinMs)
  const ending = AbortSignal.any([signal, late])
  try {
    const sent = await transport.sendMail({ ...mailOf(message, from, to), signal: ending })
    const refused = sent.rejected.length === 0 ? null : words(sent.rejected.join(', '))
    return {
      status: Number.parseInt(sent.response, 10) || 250,
      answer: words(sent.response),
      refused: refused === null ? null : `${server} refuse ces destinataires : ${refused}`,
    }
  } catch (error) {
    signal.throwIfAborted()
    if (late.aborted) throw new SendError(`${server} n’a pas répondu à temps.`)
    const response = error instanceof Error && 'response' in error ? String(error.response ?? '') : ''
    if (response !== '') throw new SendError(`${server} a répondu : ${words(response)}`)
    throw new SendError(whyUnreachable(error, server, host) ?? `${server} ne répond pas (${codeOf(error)}).`)
  } finally {
    transport.close()
  }
}

function mailOf(message: Outgoing, from: string, to: readonly string[]) {
  const { id, at, title, text, link, severity, event } = message
  const shown = link === null ? '' : `<p><a href="${escapeHtml(link)}">${escapeHtml(link)}</a></p>`
  return {
    from: { name: 'ops-panel', address: from },
    to: [...to],
    envelope: { from, to: [...to] },
    subject: Array.from(title.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' '))
      .slice(0, SUBJECT)
      .join(''),
    text: `${withLink(message)}\n`,
    html: `<!doctype html><meta charset="utf-8"><h1 style="font-size:1.1em">${escapeHtml(title)}</h1>${paragraphs(text)}${shown}`,
    date: new Date(at),
    messageId: `<${id}@${from.slice(from.lastIndexOf('@') + 1)}>`,
    priority: PRIORITY[severity],
    headers: {
      // RFC 3834: no out-of-office answer.
      'Auto-Submitted': 'auto-generated',
      'X-Panel-Delivery': id,
      'X-Panel-Event': event,
    },
  }
}

/** Returns a text as HTML: its lines that begin with a dash as lists, the others between them as they are. */
function paragraphs(text: string): string {
  const parts: { isList: boolean; lines: string[] }[] = []
  for (const line of text.split('\n')) {
    const isList = line.startsWith(ITEM)
    const last = parts.at(-1)
    if (last?.isList === isList) last.lines.push(line)
    else parts.push({ isList, lines: [line] })
  }
  const html = ({ isList, lines }: (typeof parts)[number]) =>
    isList
      ? `<ul>${lines.map((line) => `<li>${escapeHtml(line.slice(ITEM.length))}</li>`).join('')}</ul>`
      : `<p style="white-space:pre-wrap">${escapeHtml(lines.join('\n'))}</p>`
  return parts.map(html).join('')
}
