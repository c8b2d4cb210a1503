import * as z from 'zod'
import { findModule, removeModule } from '../../db/modules.ts'
import { moduleFiles } from '../../modules/modules.ts'
import { WRITES } from '../../runtime/function.ts'
import { ModuleId } from '../modules/module.ts'
import { restartWithout } from '../modules/restart.ts'
import { defineFunction } from '../services.ts'

export default defineFunction({
  method: 'DELETE',
  path: '/api/repair/modules/:id',
  summary: 'Remove a module',
  description:
    'Removes a module and its files. Its endpoints answer 404 at once. A restart follows if the module had code.',
  auth: 'admin',
  stepUp: true,
  rateLimit: WRITES,
  audit: ['module_removed'],
  request: { params: z.object({ id: ModuleId }) },
  response: z.object({ message: z.string() }),
  example: {
    response: { message: 'Module « Bonjour » supprimé.' },
  },
  errors: ['module_missing', 'core_module', 'module_busy'],

  async handler({ params: { id } }, { db, config, modules, deployer, auditEntry, fail }) {
    return modules.change(id, async () => {
      const module = await findModule(db, id)
      if (!module) throw fail('module_missing')
      if (module.is_core) throw fail('core_module')
      await db.batch([
        removeModule(id),
        auditEntry('module_removed', { target: id, details: { version: module.version } }),
      ])
      await moduleFiles(config.modulesDir, id).remove()
      const message = `Module « ${module.name} » supprimé.`
      const restart = modules.isLoaded(module) && (await restartWithout(deployer, id, undefined)) !== null
      return { message: restart ? `${message} Le service redémarre.` : message }
    })
  },
})
