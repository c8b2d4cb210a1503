import { TLSSocket } from 'node:tls'
import type { buildConnector } from 'undici'
import { Failure } from '../../runtime/errors.ts'

/**
 * Connects, and looks at the certificate before anything is sent: it must be the agreed one or, without such, one that an
 * authority vouches for. Fails with `hypervisor_certificate`, which names the one that came. What is connecting, or has,
 * ends with `signal`. `met` is told its SHA-256, as the hypervisor's own pages show it.
 */
export function createConnector(
  build: typeof buildConnector,
  agreed: string,
  { signal, met }: { signal: AbortSignal; met(fingerprint: string): void },
): buildConnector.connector {
  // Judged below, where the fingerprint is at hand. Of a session taken up again there would be no certificate to see.
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

/** Without TLS there is none to compare: where one was agreed to, the address has slipped. */
function withoutOne(agreed: string): Failure | undefined {
  return agreed === '' ? undefined : new Failure('hypervisor_in_clear')
}

function judge(socket: TLSSocket, agreed: string, met: (fingerprint: string) => void): Failure | undefined {
  // Node gives an empty object where there is none.
  const fingerprint: string | undefined = socket.getPeerCertificate().fingerprint256
  const refused = (message: string) =>
    new Failure('hypervisor_certificate', { values: { message, fingerprint: fingerprint ?? 'aucun' } })
  if (fingerprint === undefined) return refused('n’est pas arrivé')
  met(fingerprint)
  if (agreed !== '') {
    if (isSame(fingerprint, agreed)) return undefined
    return refused('n’est pas celui qui a été accepté')
  }
  return socket.authorized ? undefined : refused('n’est garanti par aucune autorité')
}

/** Whether two fingerprints are one, however their digits are written. */
export function isSame(one: string, other: string): boolean {
  return one.toUpperCase() === other.toUpperCase()
}
