import type { ModuleRow } from '../../db/modules.ts'
import type { Deployer } from '../../modules/modules.ts'
import { Failure } from '../../runtime/errors.ts'

/**
 * Restarts the service without the code of a module that must not be used any more; `left` is the rest of its record.
 * Returns the deployment's id, or null when the service cannot restart now. No request reaches that code in either
 * case.
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
