import * as z from 'zod'
import { enableModule, findModule } from '../../db/modules.ts'
import { DeploymentId } from '../../modules/modules.ts'
import { timestamp } from '../../platform/clock.ts'
import { WRITES } from '../../runtime/function.ts'
import { defineFunction } from '../services.ts'
import { ModuleId } from './module.ts'
import { restartWithout } from './restart.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/modules/:id/disable',
  summary: 'Disable a module',
  description:
    'Disables a module at once: its endpoints answer 404. Its record and its files stay. A restart removes its code from memory.',
  auth: 'admin',
  stepUp: true,
  rateLimit: WRITES,
  audit: ['module_disabled'],
  request: { params: z.object({ id: ModuleId }) },
  response: z.object({ message: z.string(), restart: z.boolean(), deployment: DeploymentId.nullable() }),
  example: {
    response: { message: 'Module « Bonjour » désactivé.', restart: false, deployment: null },
  },
  errors: ['module_missing', 'core_module', 'module_busy'],

  async handler({ params: { id } }, { db, clock, modules, deployer, auditEntry, fail }) {
    return modules.change(id, async () => {
      const module = await findModule(db, id)
      if (!module) throw fail('module_missing')
      if (module.is_core) throw fail('core_module')
      const message = `Module « ${module.name} » désactivé.`
      if (!module.is_enabled) return { message, restart: false, deployment: null }
      const now = timestamp(clock())
      await db.batch([enableModule(id, false, now), auditEntry('module_disabled', { target: id })])
      const left = { ...module, is_enabled: 0 as const, updated_at: now }
      const deployment = modules.isLoaded(module) ? await restartWithout(deployer, id, left) : null
      const restart = deployment !== null
      return { message: restart ? `${message} Le service redémarre.` : message, restart, deployment }
    })
  },
})
