import * as z from 'zod'
import { jobEventFrames, JobId, subscribeToJob, subscribeToLiveOutput } from '../../jobs/jobs.ts'
import { integerText } from '../../runtime/input.ts'
import { defineSocket } from '../services.ts'
import { UPDATE_EVENT } from '../updates/upgrade.ts'
import { findUpdateJob } from './job-record.ts'
import { targetsOfJob } from './job-targets.ts'

export default defineSocket({
  path: '/ws/updates/:jobId',
  summary: 'The output of a job, live',
  description:
    'Sends the output of a job until the job ends. Signed-in users get it from byte `from` on, without a gap or a repeat, also if a running job has not come to that byte yet; anonymous clients get it from now on. A job whose target is not `host`, `lxc:<id>` or `all` has no event.',
  auth: 'optional',
  targets: ({ params: { jobId: id } }, services) => targetsOfJob({ params: { id } }, services),
  rateLimit: { limit: 1200, seconds: 60, by: 'address' },
  request: {
    params: z.object({ jobId: JobId }),
    query: z.object({ from: integerText({ min: 0 }).default(0) }),
  },
  sends: jobEventFrames(UPDATE_EVENT),
  closes: {
    done: 'After the last event.',
    missing: 'There is no such job.',
    tooSlow: 'The client reads too slowly. It may reconnect with `from`.',
  },

  async open({ params: { jobId }, query: { from } }, { user, socket, config, ...services }) {
    if (!user && !config.anonymousOutput) socket.close('unauthenticated')
    else if (!(await findUpdateJob(services.db, jobId))) socket.close('missing')
    else if (user) await subscribeToJob(services, socket, UPDATE_EVENT, jobId, from)
    else await subscribeToLiveOutput(services, socket, UPDATE_EVENT, jobId)
  },
})
