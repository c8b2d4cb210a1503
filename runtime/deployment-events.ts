import type { Deployment } from '../db/deployments.ts'
import type { HubEvent } from './hub.ts'

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
