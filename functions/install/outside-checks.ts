import { detectDeployer, reachEngine } from '../../modules/modules.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Config } from '../../platform/config.ts'
import { testForge } from '../forge/checks.ts'
import { OidcError, tryProvider } from '../oidc/provider.ts'
import type { Settings } from '../services.ts'
import type { Check } from './host-check.ts'

/**
 * Checks that the Docker engine, which installs modules with code, is reachable. Returns undefined where no engine is
 * expected.
 */
export async function checkEngine(
  config: Config,
): Promise<{ ok: boolean; optional?: boolean; message: string } | undefined> {
  if ((await detectDeployer(config, {}, 0)) !== 'docker') return undefined
  try {
    await reachEngine(config.dockerSocket)
    return { ok: true, message: 'Le moteur Docker répond.' }
  } catch (error) {
    const message = `Les modules avec du code ne s’installent pas : ${error instanceof Error ? error.message : error}`
    // The engine is optional unless the configuration asks for it.
    return { ok: false, optional: config.deployer === undefined, message }
  }
}

/** Checks the provider by which people sign in, as far as it answers without a person; returns nothing without one. */
export async function checkProvider({ oidc }: Config, clock: Clock): Promise<Omit<Check, 'id'>[]> {
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

/** Checks the forge that modules come from, as the test of the settings does; returns nothing without one. */
export async function checkForge(settings: Settings, { forge }: Config): Promise<Omit<Check, 'id'>[]> {
  // The check of the account tells settings that cannot be read, and a token that cannot be decrypted.
  const address = await settings.forgeWith({}, forge).catch(() => undefined)
  if (!address) return []
  const { checks, fingerprint } = await testForge(address)
  return checks.map(({ ok, message }) => {
    const isRefused = !ok && fingerprint !== null
    return { ok, message: isRefused ? message.replace(/\.$/, ` : ${fingerprint}.`) : message }
  })
}

const ADVICE =
  'Vérifiez PANEL_OIDC_ISSUER, et que cette machine atteint cette adresse (nom, pare-feu, certificat : NODE_EXTRA_CA_CERTS).'
