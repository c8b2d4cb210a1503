import * as z from 'zod'
import { enableModule, findModule } from '../../db/modules.ts'
import { DeploymentId } from '../../modules/modules.ts'
import { timestamp } from '../../platform/clock.ts'
import { WRITES } from '../../runtime/function.ts'
import { defineFunction } from '../services.ts'
import { ModuleId } from './module.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/modules/:id/enable',
  summary: 'Enable a module',
  description:
    'Enables a module, also one that the service has taken out. If the service has not loaded the module’s code at its start, it restarts, and `deployment` is the id of the deployment.',
  auth: 'admin',
  stepUp: true,
  rateLimit: WRITES,
  audit: ['module_enabled'],
  request: { params: z.object({ id: ModuleId }) },
  response: z.object({ message: z.string(), restart: z.boolean(), deployment: DeploymentId.nullable() }),
  example: {
    response: { message: 'Module « Bonjour » activé.', restart: false, deployment: null },
  },
  errors: [
    'module_missing',
    'core_module',
    'module_busy',
    'deployer_missing',
    'deployment_busy',
    'modules_folder_unusable',
  ],

  async handler({ params: { id } }, { db, clock, modules, deployer, auditEntry, fail }) {
    return modules.change(id, async () => {
      const module = await findModule(db, id)
      if (!module) throw fail('module_missing')
      if (module.is_core) throw fail('core_module')
      const message = `Module « ${module.name} » activé.`
      if (module.is_enabled && module.fault === null) return { message, restart: false, deployment: null }
      const changes = [enableModule(id, true, timestamp(clock())), auditEntry('module_enabled', { target: id })]
      if (module.backend === null || modules.isLoaded(module)) {
        await db.batch(changes)
        return { message, restart: false, deployment: null }
      }
      const deployment = await deployer.begin({ module: id, before: module, record: changes })
      return { message: `Le service redémarre avec le module « ${module.name} ».`, restart: true, deployment }
    })
  },
})
