import { defineTask } from '../../runtime/task.ts'
import { databaseProblem } from './database-problem.ts'

/** Says in the log what is wrong with the database: once in a while, and also where nobody asks for the health. */
export default defineTask({
  name: 'watch-database',
  every: 20,
  async run({ db, log }) {
    const problem = await databaseProblem(db)
    if (problem) log.error({ err: problem }, 'the database is not in order')
  },
})
