import { pruneDeployments } from '../../db/deployments.ts'
import { defineTask } from '../services.ts'

/** Deployments serve current clients and the next start. The audit log keeps every change with its user. */
const KEPT = 200

/** Removes all but the newest deployments. */
export default defineTask({
  name: 'prune-deployments',
  every: 3_600,
  run: ({ db }) => pruneDeployments(db, KEPT),
})
