import { hostSilence, lastAttempts, runningJobs } from '../../db/check-schedule.ts'
import { readChecks, upgradesOfAll } from '../../db/checks.ts'
import { AUTOMATIC_USER } from '../../db/users.ts'
import { Failure } from '../../runtime/errors.ts'
import { defineTask, type Services } from '../services.ts'
import { checkOf, uncheckedHost } from './check.ts'
import { startCheck } from './check-job.ts'
import { AWAY, dueTargets } from './due.ts'

/**
 * Starts the checks that are due: of changed targets at once, of all others some hours after their last check. The jobs
 * belong to the automatic user, and have no audit entry because nobody acted. Does nothing while the setting is off or
 * the service account is missing.
 */
export default defineTask({
  name: 'check-due',
  every: 10,

  async run(services) {
    const { automatic, parallel } = await services.settings.checks()
    if (!automatic || !(await services.settings.hasSshAccount())) return
    const targets = await dueNow(services, parallel)
    // On a function host each start lasts until the host has the job.
    await Promise.all(targets.map((target) => start(services, target)))
  },
})

async function dueNow({ db, clock }: Services, parallel: number): Promise<string[]> {
  // The running jobs are read first: a check that ends meanwhile counts as running, and its target waits for the next run.
  const running = await runningJobs(db)
  const rows = await readChecks(db)
  const ofAll = await upgradesOfAll(db)
  const now = clock()
  const host = rows.some(({ target }) => target === 'host') ? [] : [await uncheckedHost(db)]
  const checks = [...host, ...rows].map((row) => checkOf(row, ofAll, now))
  const [attempts, silence] = [await lastAttempts(db), await hostSilence(db, AWAY)]
  return dueTargets({ checks, attempts, running, silence, parallel, now })
}

async function start(services: Services, target: string): Promise<void> {
  try {
    const job = await startCheck(services, { target, startedBy: AUTOMATIC_USER })
    services.log.info({ target, job }, 'automatic check')
  } catch (error) {
    // Other instances have started as many as may run.
    if (!(error instanceof Failure) || error.code !== 'queue_full') throw error
    services.log.debug({ target }, 'an automatic check has to wait')
  }
}
