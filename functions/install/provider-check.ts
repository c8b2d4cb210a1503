import type { Clock } from '../../platform/clock.ts'
import type { Config } from '../../platform/config.ts'
import { OidcError, tryProvider } from '../oidc/provider.ts'
import type { Check } from './host-check.ts'

type Finding = Omit<Check, 'id'>

/** Checks the provider by which people sign in, as far as it answers without a person; returns nothing without one. */
export async function checkProvider({ oidc }: Config, clock: Clock): Promise<Finding[]> {
  if (!oidc) return []
  try {
    await tryProvider(oidc, clock)
    return [{ ok: true, message: `Le fournisseur OpenID Connect ${oidc.issuer} répond, et ne refuse pas ce panneau.` }]
  } catch (error) {
    if (!(error instanceof OidcError)) throw error
    const { reason, message, technical } = error
    const cause = technical === '' ? '' : ` (${technical})`
    const advice = reason === 'unreachable' ? ` ${ADVICE}` : ''
    return [{ ok: false, message: `Les connexions par OpenID Connect échouent : ${message}${cause}.${advice}` }]
  }
}

const ADVICE =
  'Vérifiez PANEL_OIDC_ISSUER, et que cette machine atteint cette adresse (nom, pare-feu, certificat : NODE_EXTRA_CA_CERTS).'
