import type { Config } from '../../runtime/config.ts'
import { detectDeployer } from '../../runtime/detect-deployer.ts'
import { reachEngine } from '../../runtime/docker-access.ts'

/** Whether the engine that modules with code are installed by can be reached; undefined where none is meant to be. */
export async function checkEngine(
  config: Config,
): Promise<{ ok: boolean; optional?: boolean; message: string } | undefined> {
  if ((await detectDeployer(config, {}, 0)) !== 'docker') return undefined
  try {
    await reachEngine(config.dockerSocket)
    return { ok: true, message: 'Le moteur Docker répond.' }
  } catch (error) {
    const message = `Les modules avec du code ne s’installent pas : ${error instanceof Error ? error.message : error}`
    // Where nobody has asked for it, all the rest works without.
    return { ok: false, optional: config.deployer === undefined, message }
  }
}
