import * as z from 'zod'
import { ENDS, findDeployment, STEPS } from '../../db/deployments.ts'
import { DeploymentId, deploymentView } from '../../runtime/deployment-events.ts'
import { defineFunction, READS } from '../../runtime/function.ts'
import { ModuleId } from '../modules/module.ts'

/** How far the deployment of a module has come. */
export default defineFunction({
  method: 'GET',
  path: '/api/registry/deployments/:id',
  auth: 'admin',
  rateLimit: READS,
  request: { params: z.object({ id: DeploymentId }) },
  response: z.object({
    id: DeploymentId,
    module: ModuleId,
    state: z.enum([...STEPS, ...ENDS]),
    log: z.array(z.string()),
    error: z.string().nullable(),
    started_at: z.string(),
    finished_at: z.string().nullable(),
  }),
  errors: ['deployment_missing'],

  async handler({ params: { id } }, { db, fail }) {
    const deployment = await findDeployment(db, id)
    if (!deployment) throw fail('deployment_missing')
    return deploymentView(deployment)
  },
})
