import { setTimeout } from 'node:timers/promises'
import { jobsWithFolder, noteFoldersRemoved, removeOldJobs } from '../../db/jobs.ts'
import { removeOldOutput } from '../../db/output.ts'
import { removeFolders } from '../../jobs/jobs.ts'
import { timestamp } from '../../platform/clock.ts'
import { checkJob } from '../checks/check-job.ts'
import { defineTask, type Services } from '../services.ts'

/** Checks change nothing, and the audit log records older ones. */
const CHECKS_KEPT = 1_000
/** A pause between deletions, so that other writes get their turn. */
const PAUSE_MS = 5
/** A start of a job on the host removes folders that are older. */
const LEFT_FOR_MS = 7 * 86_400_000
/** One command has the names of this many folders as its arguments. */
const MOST_FOLDERS = 50

/**
 * Removes the output of jobs older than the newest `PANEL_KEEP_JOBS` of their kind. Records of upgrades and repairs are
 * kept. Any user may start checks at any rate, so only the newest thousand records of checks are kept. Then removes the
 * folders that ended jobs have left on the host.
 */
export default defineTask({
  name: 'prune-jobs',
  every: 600,

  async run(services) {
    const { db, config, jobs } = services
    for (const kind of jobs.kinds) {
      while (await removeOldOutput(db, { kind, keep: config.keepJobs })) {
        await setTimeout(PAUSE_MS)
      }
    }
    while (await removeOldJobs(db, { kind: checkJob.kind, keep: CHECKS_KEPT })) await setTimeout(PAUSE_MS)
    await removeLeftFolders(services)
  },
})

/**
 * The follower of a job removes its folder. Some are left: the service was killed between the end and the removal, or
 * the host was away for long. A removal by the follower at the same time does no harm.
 */
async function removeLeftFolders({ db, host, clock, log }: Services): Promise<void> {
  const since = timestamp(new Date(clock().getTime() - LEFT_FOR_MS))
  const left = await jobsWithFolder(db, { since, most: MOST_FOLDERS })
  if (left.length === 0) return
  const names = left.map(({ name }) => name)
  const ids = left.map(({ id }) => id)
  try {
    await removeFolders(host, names)
  } catch (error) {
    log.warn({ jobs: ids, err: error }, 'folders of ended jobs not removed')
    return
  }
  await noteFoldersRemoved(db, ids)
}
