import { TLSSocket } from 'node:tls'
import type { buildConnector } from 'undici'
import type { Failure } from '../../runtime/errors.ts'
import { fail } from '../services.ts'

/**
 * Returns a connector that checks the certificate before anything is sent: it must be the trusted certificate or,
 * without one, valid for a certificate authority. Fails with `hypervisor_certificate`, which names the certificate
 * received. `signal` ends connections, also pending ones. `met` receives the SHA-256 fingerprint in the notation of the
 * hypervisor's own pages.
 */
export function createConnector(
  build: typeof buildConnector,
  agreed: string,
  { signal, met }: { signal: AbortSignal; met(fingerprint: string): void },
): buildConnector.connector {
  // The certificate is checked below, where the fingerprint is available. A resumed session would carry no certificate.
  const connect = build({ rejectUnauthorized: false, maxCachedSessions: 0, timeout: 0, signal })
  return (options, callback) =>
    connect(options, (error, socket) => {
      if (error) return callback(error, null)
      const wrong = socket instanceof TLSSocket ? judge(socket, agreed, met) : withoutOne(agreed)
      if (!wrong) return callback(null, socket)
      socket.destroy()
      callback(wrong, null)
    })
}

/**
 * An address without TLS has no certificate to compare. A stored fingerprint then means that the address was changed by
 * mistake.
 */
function withoutOne(agreed: string): Failure | undefined {
  return agreed === '' ? undefined : fail('hypervisor_in_clear')
}

function judge(socket: TLSSocket, agreed: string, met: (fingerprint: string) => void): Failure | undefined {
  // Node returns an empty object when the peer sent no certificate.
  const fingerprint: string | undefined = socket.getPeerCertificate().fingerprint256
  const refused = (message: string) =>
    fail('hypervisor_certificate', { values: { message, fingerprint: fingerprint ?? 'aucun' } })
  if (fingerprint === undefined) return refused('n’a pas été reçu')
  met(fingerprint)
  if (agreed !== '') {
    if (isSame(fingerprint, agreed)) return undefined
    return refused('n’est pas celui qui a été accepté')
  }
  return socket.authorized ? undefined : refused('n’est garanti par aucune autorité')
}

/** Whether two fingerprints are equal, ignoring case and separators. */
export function isSame(one: string, other: string): boolean {
  return one.toUpperCase() === other.toUpperCase()
}
