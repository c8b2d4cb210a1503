import * as z from 'zod'
import { functions as all, jobKinds as allKinds, sockets, tasks } from '../functions/index.ts'
import { defineFunction } from '../functions/services.ts'
import { snapshotJob } from '../functions/runs/rollback-job.ts'
import { UPDATE_EVENT } from '../functions/updates/upgrade.ts'
import { defineJob } from '../jobs/jobs.ts'
import { READS, WRITES } from '../runtime/function.ts'

/** An answer like that of `me`, without its query. */
const withoutQuery = defineFunction({
  method: 'GET',
  path: '/api/bench',
  summary: 'A probe',
  description: 'Made for a test.',
  auth: 'user',
  rateLimit: READS,
  response: z.object({
    id: z.number(),
    username: z.string(),
    is_admin: z.boolean(),
    lang: z.string(),
    theme: z.string(),
    sidebar_position: z.string(),
  }),

  handler: (_, { user: { id, username, role } }) => ({
    id,
    username,
    is_admin: role === 'admin',
    lang: 'fr',
    theme: 'dark',
    sidebar_position: 'left',
  }),
})

const startJob = defineFunction({
  method: 'POST',
  path: '/api/bench/jobs',
  summary: 'A probe',
  description: 'Made for a test.',
  auth: 'user',
  rateLimit: WRITES,
  audit: false,
  request: { body: z.object({ program: z.string(), args: z.array(z.string()) }) },
  status: 202,
  response: z.object({ job_id: z.string() }),

  handler: async ({ body }, { user, jobs }) => ({
    job_id: await jobs.start({ kind: anyCommand.kind, args: body, target: 'bench', startedBy: user.id }),
  }),
})

/** Runs any command as a job, in place of a kind that no row needs: the upgrades' socket delivers only known kinds. */
const anyCommand = defineJob({
  kind: snapshotJob.kind,
  event: UPDATE_EVENT,
  args: z.object({ program: z.string(), args: z.array(z.string()) }),
  queue: () => '',
  command: async ({ program, args }) => [program, ...args],
})

export const functions = [...all, withoutQuery, startJob]
export { sockets, tasks }
export const jobKinds = [...allKinds.filter(({ kind }) => kind !== anyCommand.kind), anyCommand]
