import { forgetDeployments } from '../../db/deployments.ts'
import { defineTask } from '../../runtime/task.ts'

/** Who changed what stays in the audit log; these are for who watches, and for the next start. */
const KEPT = 200

/** Removes all but the newest deployments. */
export default defineTask({
  name: 'forget-deployments',
  every: 3_600,
  run: ({ db }) => forgetDeployments(db, KEPT),
})
