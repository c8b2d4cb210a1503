import { isBeingDeployed } from '../../db/deployments.ts'
import type { Database } from '../../db/libsql/database.ts'
import { enableModule, findModule, type ModuleRow } from '../../db/modules.ts'
import { timestamp } from '../../platform/clock.ts'
import { atConsole } from '../../runtime/audit.ts'
import { type CommandContext, CommandError } from '../../runtime/command.ts'
import { auditStatement } from '../services.ts'

/** Returns an installed module. Throws a CommandError for a module of the panel itself and for an unknown one. */
export async function ownModule({ db }: Pick<CommandContext, 'db'>, id: string): Promise<ModuleRow> {
  const module = await findModule(db, id)
  if (!module) throw new CommandError(`il n’y a pas de module « ${id} » (ops-panel modules list).`)
  if (module.is_core) throw new CommandError(`« ${id} » fait partie du panneau.`)
  await expectIdle(db, id)
  return module
}

/** Throws a CommandError while the service installs the module. */
export async function expectIdle(db: Database, id: string): Promise<void> {
  if (await isBeingDeployed(db, id)) throw new CommandError(`une installation de « ${id} » est en cours.`)
}

/** Enables or disables a module. Returns the administrator's next step, if any. */
export async function switchFromConsole(context: CommandContext, id: string, enabled: boolean): Promise<string> {
  const { db, clock } = context
  const module = await ownModule(context, id)
  const state = enabled ? 'activé' : 'désactivé'
  if (module.is_enabled === (enabled ? 1 : 0) && (module.fault === null || !enabled))
    return `Le module « ${id} » est déjà ${state}.`
  const action = enabled ? 'module_enabled' : 'module_disabled'
  const entry = auditStatement(context, atConsole(context.operator), action, { target: id })
  await db.batch([enableModule(id, enabled, timestamp(clock())), entry])
  const restart = enabled && module.backend !== null ? ' Redémarrez le service pour qu’il charge son code.' : ''
  return `Module « ${id} » ${state}.${restart}`
}
