import { removeOldOutput } from '../../db/output.ts'
import { defineTask } from '../../runtime/task.ts'

/** Removes the output of jobs older than the newest `PANEL_KEEP_JOBS`; their records stay. */
export default defineTask({
  name: 'forget-output',
  every: 600,

  async run({ db, config }) {
    while (await removeOldOutput(db, config.keepJobs)) {
      // Others write in between.
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  },
})
