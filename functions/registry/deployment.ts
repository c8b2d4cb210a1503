import * as z from 'zod'
import { ENDS, STEPS } from '../../db/deployments.ts'
import { DeploymentId } from '../../modules/modules.ts'
import { ModuleId } from '../modules/module.ts'

/** The deployment of a module as clients see it. */
export const Deployment = z
  .object({
    id: DeploymentId,
    module: ModuleId,
    state: z.enum([...STEPS, ...ENDS]),
    log: z.array(z.string()),
    error: z.string().nullable(),
    started_at: z.string(),
    finished_at: z.string().nullable(),
  })
  .meta({ id: 'Deployment', description: 'The state of a module’s deployment, with its messages so far.' })

/** The example of the documents. */
export const EXAMPLE_DEPLOYMENT: z.infer<typeof Deployment> = {
  id: '0b9c3f6e-6f0a-4a49-9f50-6f6f2b1f5a31',
  module: 'hello',
  state: 'done',
  log: ['Le service redémarre.'],
  error: null,
  started_at: '2026-03-01T12:00:00.000Z',
  finished_at: '2026-03-01T12:00:04.000Z',
}
