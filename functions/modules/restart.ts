import type { ModuleRow } from '../../db/modules.ts'
import type { Deployer } from '../../runtime/deployer.ts'
import { Failure } from '../../runtime/errors.ts'

/**
 * Has the service restarted without the code of a module that is not to be used any more; `left` is what is left of its
 * record. The deployment's id; null where that cannot be done now: nothing answers from that code in any case.
 */
export async function restartWithout(
  deployer: Deployer,
  module: string,
  left: ModuleRow | undefined,
): Promise<string | null> {
  try {
    return await deployer.begin({ module, before: left, record: [] })
  } catch (error) {
    if (error instanceof Failure) return null
    throw error
  }
}
