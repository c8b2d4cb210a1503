import * as z from 'zod'
import { ENDS, findDeployment, STEPS } from '../../db/deployments.ts'
import { DeploymentId, deploymentView } from '../../runtime/deployment-events.ts'
import { defineFunction, READS } from '../../runtime/function.ts'
import { ModuleId } from '../modules/module.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/registry/deployments/:id',
  summary: 'How far a deployment has come',
  description: 'A change of a module that takes a restart, with what it has told so far.',
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
  example: {
    response: {
      id: '0b9c3f6e-6f0a-4a49-9f50-6f6f2b1f5a31',
      module: 'hello',
      state: 'done',
      log: ['Le service redémarre.'],
      error: null,
      started_at: '2026-03-01T12:00:00.000Z',
      finished_at: '2026-03-01T12:00:04.000Z',
    },
  },
  errors: ['deployment_missing'],

  async handler({ params: { id } }, { db, fail }) {
    const deployment = await findDeployment(db, id)
    if (!deployment) throw fail('deployment_missing')
    return deploymentView(deployment)
  },
})
