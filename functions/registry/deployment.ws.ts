import * as z from 'zod'
import { findDeployment } from '../../db/deployments.ts'
import { deploymentEvent, DeploymentId, deploymentTopic } from '../../modules/modules.ts'
import { frame } from '../../platform/hub.ts'
import { envelope, textFrame } from '../../runtime/socket.ts'
import { defineSocket } from '../services.ts'
import { Deployment, EXAMPLE_DEPLOYMENT } from './deployment.ts'

export default defineSocket({
  path: '/ws/deployments/:id',
  summary: 'A deployment, live',
  description: 'Sends the state of the deployment at each change.',
  auth: 'admin',
  rateLimit: { limit: 1200, seconds: 60, by: 'address' },
  request: { params: z.object({ id: DeploymentId }) },
  sends: {
    deployment: textFrame(
      'The whole current deployment; `seq` is the number of lines of its log.',
      envelope('deployment', 'deploy:<id>', Deployment),
      { type: 'deployment', topic: `deploy:${EXAMPLE_DEPLOYMENT.id}`, seq: 1, data: EXAMPLE_DEPLOYMENT },
    ),
  },
  closes: { done: 'After the end of the deployment.', missing: 'There is no such deployment.' },

  async open({ params: { id } }, { db, hub, socket }) {
    const topic = deploymentTopic(id)
    let sent = 0
    const send = async (next: ReturnType<typeof frame>) => {
      if (next.seq <= sent) return
      sent = next.seq
      await socket.send(next)
    }
    // The subscription comes before the first read, so that no change between the two is missed.
    const leave = hub.subscribe(topic, {
      deliver: (next) => void send(next),
      finish(last) {
        const told = last ? send(last) : Promise.resolve()
        void told.then(() => socket.close('done'))
      },
      fail: socket.fail,
    })
    socket.closed.addEventListener('abort', leave)
    const deployment = await findDeployment(db, id)
    if (!deployment) return socket.close('missing')
    await send(frame(topic, deploymentEvent(deployment)))
    if (deployment.finished_at !== null) socket.close('done')
  },
})
