import { defineTask } from '../../runtime/task.ts'

/** Keeps the leases of the jobs that are seen to here, and takes up those that nobody sees to. */
export default defineTask({
  name: 'tend-jobs',
  every: 2,
  run: ({ jobs }) => jobs.tend(),
})
