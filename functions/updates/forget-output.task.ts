import { removeOldOutput } from '../../db/output.ts'
import { defineTask } from '../../runtime/task.ts'

/** Removes the output of jobs older than the newest `PANEL_KEEP_JOBS` of their kind; their records stay. */
export default defineTask({
  name: 'forget-output',
  every: 600,

  async run({ db, config, jobs }) {
    for (const kind of jobs.kinds) {
      while (await removeOldOutput(db, { kind, keep: config.keepJobs })) {
        // Others write in between.
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    }
  },
})
