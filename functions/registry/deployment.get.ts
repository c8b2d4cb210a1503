import * as z from 'zod'
import { findDeployment } from '../../db/deployments.ts'
import { DeploymentId, deploymentView } from '../../modules/modules.ts'
import { READS } from '../../runtime/function.ts'
import { defineFunction } from '../services.ts'
import { Deployment, EXAMPLE_DEPLOYMENT } from './deployment.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/registry/deployments/:id',
  summary: 'The state of a deployment',
  description: 'Returns the state of a module’s change that needs a restart, and its messages so far.',
  auth: 'admin',
  rateLimit: READS,
  request: { params: z.object({ id: DeploymentId }) },
  response: Deployment,
  example: { response: EXAMPLE_DEPLOYMENT },
  errors: ['deployment_missing'],

  async handler({ params: { id } }, { db, fail }) {
    const deployment = await findDeployment(db, id)
    if (!deployment) throw fail('deployment_missing')
    return deploymentView(deployment)
  },
})
