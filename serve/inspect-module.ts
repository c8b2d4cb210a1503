import { AUDIT_ACTIONS, ERRORS } from '../functions/services.ts'
import { inspectModule } from '../modules/modules.ts'
import { speakFrench } from '../runtime/input.ts'

/** Internal: the argument of the process that loads the code of a module for its author. */
export const INSPECT = 'inspect-module'

/** Loads a module and sends the parent process what it declares. The code of the module may end or block this process. */
export async function runInspection([folder = '', id = '', file = '']: readonly string[]): Promise<void> {
  speakFrench()
  process.send?.('ready')
  const found = await inspectModule(folder, { id, file }, { errors: ERRORS, actions: AUDIT_ACTIONS })
  await new Promise((sent) => process.send?.(found, sent))
  process.exit(0)
}
