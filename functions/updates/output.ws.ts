import * as z from 'zod'
import { JobId } from '../../runtime/job-id.ts'
import { subscribeToJob, subscribeToLiveOutput } from '../../runtime/job-subscription.ts'
import { defineSocket } from '../../runtime/socket.ts'
import { findUpgrade } from './job-record.ts'
import { UPDATE_EVENT } from './upgrade.ts'

/** The output of an upgrade, live: from byte `from` on for who is signed in, from now on for who is not. */
export default defineSocket({
  path: '/ws/updates/:jobId',
  auth: 'optional',
  rateLimit: { limit: 1200, seconds: 60, by: 'address' },
  request: {
    params: z.object({ jobId: JobId }),
    query: z.object({ from: z.coerce.number().int().min(0).default(0) }),
  },

  async open({ params: { jobId }, query: { from } }, { user, socket, config, ...services }) {
    if (!user && !config.anonymousOutput) socket.close('unauthenticated')
    else if (!(await findUpgrade(services.db, jobId))) socket.close('missing')
    else if (user) await subscribeToJob(services, socket, UPDATE_EVENT, jobId, from)
    else await subscribeToLiveOutput(services, socket, UPDATE_EVENT, jobId)
  },
})
