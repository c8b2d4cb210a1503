import { setImmediate as nextTurn } from 'node:timers/promises'
import { StorageError } from '../../db/libsql/database.ts'
import { waveJobs } from '../../db/schedules/runs.ts'
import { Failure } from '../../runtime/errors.ts'
import { SshError } from '../../ssh/ssh.ts'
import { defineTask, type Services } from '../services.ts'
import { type Background, createBackground } from './background.ts'
import { type HeldRun, heldRuns, type Jobs, partId } from './held-run.ts'
import { stepEnd } from './run-reboot.ts'
import type { Found } from './tick.ts'
import type { Prepared } from './wave-plans.ts'
import { stepWave } from './wave-step.ts'

/** The work in the background of each service: tests run several in one process. */
const works = new WeakMap<Services['boot'], Background<Found>>()

/**
 * Carries the running runs of schedules out, wave after wave. Of several instances, the one with the lease of a run does
 * so, and stores each step on the condition that the run is as it has read it.
 */
export default defineTask({
  name: 'carry-schedules',
  every: 2,

  async run(services) {
    const background = works.get(services.boot) ?? backgroundOf(services)
    works.set(services.boot, background)
    const runs = await heldRuns(services)
    background.keepOnly(new Set(runs.map(({ id }) => id)))
    if (runs.length === 0) return
    const jobs = await jobsOf(services, runs)
    for (const run of runs) {
      try {
        let revision: number
        do {
          revision = run.revision
          const at = openWave(run)
          const wave = run.progress.waves[at]
          const tick = { services, run, jobs, background }
          await (wave ? stepWave(tick, at, wave) : stepEnd(tick))
        } while (run.revision !== revision && canGoOn(run))
      } catch (error) {
        if (error instanceof StorageError) throw error
        // The other runs go on, and the next tick tries again.
        services.log.error({ run: run.id, err: error }, 'the run of a schedule could not be carried on')
      }
      // A database in a file answers in the same turn, and requests would wait for all runs.
      await nextTurn()
    }
  },
})

/** The place of the wave that is next or at work; -1 when all have ended. */
function openWave({ progress }: HeldRun): number {
  return progress.waves.findIndex(({ state }) => state !== 'ended')
}

/** Whether the next step of a run needs no jobs, which were read at the beginning of the tick. */
function canGoOn(run: HeldRun): boolean {
  const next = run.progress.waves[openWave(run)]?.state
  const needsJobs = next === 'running' || (next === undefined && run.settings.reboot !== 'never')
  return run.state === 'running' && !needsJobs
}

/** Reads the jobs that the runs wait for now. */
async function jobsOf({ db }: Services, runs: readonly HeldRun[]): Promise<Jobs> {
  const parts = runs.flatMap((run) => {
    const at = openWave(run)
    return at === -1 ? [partId(run, 'reboot')] : [partId(run, at)]
  })
  const single = runs.flatMap(({ settings, progress: { waves, reboot } }) => {
    const checks = waves.find(({ state }) => state === 'running')?.jobs ?? []
    const ids = settings.action === 'check' ? checks.flatMap(({ job_id }) => job_id ?? []) : []
    return [...ids, ...(reboot?.check_id ? [reboot.check_id] : [])]
  })
  return new Map((await waveJobs(db, { runs: parts, jobs: single })).map((job) => [job.id, job]))
}

function backgroundOf({ clock, log }: Services): Background<Found> {
  return createBackground<Found>(clock, (error): Prepared => {
    // A host that is away, a full queue and settings that lack something may be well again in some seconds.
    const isOutside = error instanceof SshError || error instanceof Failure
    if (isOutside) return { kind: 'away', message: error.message }
    log.error({ err: error }, 'the wave of a schedule could not be prepared')
    return { kind: 'broken' }
  })
}
