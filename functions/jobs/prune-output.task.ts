import { setTimeout } from 'node:timers/promises'
import { removeOldJobs } from '../../db/jobs.ts'
import { removeOldOutput } from '../../db/output.ts'
import { checkJob } from '../checks/check-job.ts'
import { defineTask } from '../services.ts'

/** Checks change nothing, and the audit log records older ones. */
const CHECKS_KEPT = 1_000
/** A pause between deletions, so that other writes get their turn. */
const PAUSE_MS = 5

/**
 * Removes the output of jobs older than the newest `PANEL_KEEP_JOBS` of their kind. Records of upgrades and repairs are
 * kept. Any user may start checks at any rate, so only the newest thousand records of checks are kept.
 */
export default defineTask({
  name: 'prune-output',
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
