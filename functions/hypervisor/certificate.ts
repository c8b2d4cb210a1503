import { TLSSocket } from 'node:tls'
import type { buildConnector } from 'undici'

/** The errors of a connector: each user of it has its own codes and sentences. */
export interface Refusals {
  /** The address has no TLS although a certificate was agreed to. */
  inClear(): Error
  /** `message` is a French predicate about the certificate; `fingerprint` is undefined when none was received. */
  untrusted(message: string, fingerprint: string | undefined): Error
}

interface ConnectorOptions {
  refuse: Refusals
  /** Receives the SHA-256 fingerprint of each certificate, in the notation of browsers: `AA:BB:…`. */
  met?(fingerprint: string): void
  /** Ends connections, also pending ones. */
  signal?: AbortSignal
  /** Most ms until a connection stands; 0 for no limit of its own. */
  timeout: number
}

/**
 * Returns a connector that checks the certificate before anything is sent: it must be the agreed one or, without one,
 * valid for a certificate authority. Fails with the errors of `refuse`.
 */
export function createConnector(
  build: typeof buildConnector,
  agreed: string,
  { refuse, met, signal, timeout }: ConnectorOptions,
): buildConnector.connector {
  // The certificate is checked below, where the fingerprint is available. A resumed session would carry no certificate.
  const connect = build({ rejectUnauthorized: false, maxCachedSessions: 0, timeout, ...(signal && { signal }) })
  return (options, callback) =>
    connect(options, (error, socket) => {
      if (error) return callback(error, null)
      const wrong = socket instanceof TLSSocket ? judge(socket, agreed, { refuse, met }) : withoutOne(agreed, refuse)
      if (!wrong) return callback(null, socket)
      socket.destroy()
      callback(wrong, null)
    })
}

/**
 * An address without TLS has no certificate to compare. A stored fingerprint then means that the address was changed by
 * mistake.
 */
function withoutOne(agreed: string, refuse: Refusals): Error | undefined {
  return agreed === '' ? undefined : refuse.inClear()
}

function judge(
  socket: TLSSocket,
  agreed: string,
  { refuse, met }: { refuse: Refusals; met: ConnectorOptions['met'] },
): Error | undefined {
  // Node returns an empty object when the peer sent no certificate.
  const fingerprint: string | undefined = socket.getPeerCertificate().fingerprint256
  if (fingerprint === undefined) return refuse.untrusted('n’a pas été reçu', undefined)
  met?.(fingerprint)
  if (agreed !== '') {
    if (isSame(fingerprint, agreed)) return undefined
    return refuse.untrusted('n’est pas celui qui a été accepté', fingerprint)
  }
  return socket.authorized ? undefined : refuse.untrusted('n’est garanti par aucune autorité', fingerprint)
}

/** Whether two fingerprints are equal, ignoring case and separators. */
export function isSame(one: string, other: string): boolean {
  return one.toUpperCase() === other.toUpperCase()
}
