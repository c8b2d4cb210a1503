import { setTimeout } from 'node:timers/promises'
import { removeOldJobs } from '../../db/jobs.ts'
import { removeOldOutput } from '../../db/output.ts'
import { defineTask } from '../../runtime/task.ts'
import { checkJob } from './check-job.ts'

/** Checks change nothing: who looks into an older one has the audit log. */
const CHECKS_KEPT = 1_000
/** Others write in between. */
const PAUSE_MS = 5

/**
 * Removes the output of jobs older than the newest `PANEL_KEEP_JOBS` of their kind. Records of upgrades and repairs stay; of
 * checks, which anybody may start at any rate, the newest thousand do.
 */
export default defineTask({
  name: 'forget-output',
  every: 600,

  async run({ db, config, jobs }) {
    for (const kind of jobs.kinds) {
      while (await removeOldOutput(db, { kind, keep: config.keepJobs })) {
        await setTimeout(PAUSE_MS)
      }
    }
    while (await removeOldJobs(db, { kind: checkJob.kind, keep: CHECKS_KEPT })) await setTimeout(PAUSE_MS)
  },
})
