import { removeModule } from '../../db/modules.ts'
import { atConsole, auditStatement } from '../../runtime/audit.ts'
import { defineCommand } from '../../runtime/command-line.ts'
import { moduleFiles } from '../../runtime/module-folder.ts'
import { ownModule } from './console-switch.ts'

/** Removes a module with its files, at once, also from a service that is running. */
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
