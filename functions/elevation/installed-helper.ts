import { type Elevation, HOST_HELPER, type Host } from '../../ssh/ssh.ts'
import { fail } from '../services.ts'

/** The host helper's version, raised with every new or changed verb. Verbs are never removed. */
export const HELPER_VERSION = 9

/**
 * Returns how the service account gets the rights of root. Where it has them only through the host helper, asks for the
 * installed version: an older program would run former scripts under the same verbs. Throws `host_helper_old` then.
 */
export async function elevationOf(host: Host): Promise<Elevation> {
  const elevation = await host.elevation()
  if (elevation !== 'helper') return elevation
  const version = await installedVersion(host)
  if (version < HELPER_VERSION)
    throw fail('host_helper_old', { values: { version: String(version), needed: String(HELPER_VERSION) } })
  return elevation
}

/** Returns the version of the host helper that the account runs by sudo; 0 when it does not say. */
export async function installedVersion(host: Host): Promise<number> {
  const { stdout } = await host.exec([HOST_HELPER, 'version'], { rights: 'command', verb: ['version'] })
  return /^\d{1,6}$/.test(stdout.trim()) ? Number(stdout.trim()) : 0
}
