import * as z from 'zod'
import type { Deployment } from '../db/deployments.ts'
import type { HubEvent } from './hub.ts'

/** Names a deployment. Whether there is one by a name is the database's to say. */
export const DeploymentId = z.string().meta({
  id: 'DeploymentId',
  description: 'Names the deployment of a module.',
  examples: ['0b9c3f6e-6f0a-4a49-9f50-6f6f2b1f5a31'],
  override: { format: 'uuid' },
})

/** What is told of a deployment to those who watch it: all of it, each time. */
export function deploymentEvent(deployment: Deployment): HubEvent {
  const seq = deployment.log.length
  return { type: 'deployment', start: seq - 1, seq, data: deploymentView(deployment) }
}

export const deploymentTopic = (id: string) => `deploy:${id}`

/** A deployment as clients see it. */
export function deploymentView({ id, module, state, log, error, started_at, finished_at }: Deployment) {
  return { id, module, state, log, error, started_at, finished_at }
}
