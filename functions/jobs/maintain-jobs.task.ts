import { defineTask } from '../services.ts'

/** Renews the leases of the jobs that this instance follows, and takes over abandoned jobs. */
export default defineTask({
  name: 'maintain-jobs',
  every: 2,
  run: ({ jobs }) => jobs.maintain(),
})
