import { removeModule } from '../../db/modules.ts'
import { moduleFiles } from '../../modules/modules.ts'
import { atConsole } from '../../runtime/audit.ts'
import { defineCommand } from '../../runtime/command.ts'
import { auditStatement } from '../services.ts'
import { ownModule } from './console-switch.ts'

/** Removes a module with its files immediately, also from a running service. */
export default defineCommand({
  name: 'modules remove',
  summary: 'supprimer un module et ses fichiers',
  args: ['module'],

  async run({ args: [id = ''] }, context) {
    const { version } = await ownModule(context, id)
    const note = { target: id, details: { version } }
    await context.db.batch([
      removeModule(id),
      auditStatement(context, atConsole(context.operator), 'module_removed', note),
    ])
    await moduleFiles(context.config.modulesDir, id).remove()
    return `Module « ${id} » supprimé.`
  },
})
