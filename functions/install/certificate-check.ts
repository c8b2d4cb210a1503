import { stat } from 'node:fs/promises'
import { lifeOf, readPair } from '../../platform/certificate.ts'
import { type Config, ConfigError } from '../../platform/config.ts'
import type { Check } from './host-check.ts'

type Finding = Omit<Check, 'id'>

/** Returns findings about the HTTPS certificate and its key; none when HTTPS is off. */
export async function checkCertificate({ tls }: Config, now: Date): Promise<Finding[]> {
  if (!tls) return []
  try {
    const { leaf } = await readPair(tls)
    const { state, days, until } = lifeOf(leaf, now)
    const name = `Le certificat TLS (${leaf.subject.replaceAll('\n', ', ')})`
    const left = days < 1 ? 'moins d’un jour' : `${days} jour${days > 1 ? 's' : ''}`
    const message = {
      well: `${name} va avec sa clé et vaut encore ${left}.`,
      soon: `${name} ne vaut plus que ${left} : il aurait dû être renouvelé.`,
      over: `${name} a expiré le ${until.slice(0, 10)} : renouvelez-le, le service le prendra de lui-même.`,
    }[state]
    return [{ ok: state === 'well', message }, ...(await checkKey(tls.key))]
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return [{ ok: false, message: `${error.message}.` }]
  }
}

/** A group may read the key, so that the service need not run as root. */
async function checkKey(file: string): Promise<Finding[]> {
  const { mode } = await stat(file)
  return (mode & 0o007) === 0 ? [] : [{ ok: false, message: `${file} est lisible par tous : chmod o= ${file}` }]
}
