import { detectDeployer, reachEngine } from '../../modules/modules.ts'
import type { Config } from '../../platform/config.ts'

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
