import { defineTask } from '../services.ts'
import { databaseProblem } from './database-problem.ts'

/** Logs problems of the database at intervals, also when no client asks for the health. */
export default defineTask({
  name: 'monitor-database',
  every: 20,
  async run({ db, log }) {
    const problem = await databaseProblem(db)
    if (problem) log.error({ err: problem }, 'the database is not in order')
  },
})
