import type { AnyFunction } from '../runtime/function.ts'
import type { AnyJobKind } from '../runtime/job-kind.ts'
import type { AnySocket } from '../runtime/socket.ts'
import login from './auth/login.post.ts'
import me from './auth/me.get.ts'
import health from './health/health.get.ts'
import history from './updates/history.get.ts'
import output from './updates/output.ws.ts'
import packages from './updates/packages.get.ts'
import run from './updates/run.post.ts'
import targets from './updates/targets.get.ts'
import { upgradeJob } from './updates/upgrade.ts'

/** Every endpoint of the service, by address: the public surface on one page. */
export const functions: readonly AnyFunction[] = [
  login, //    POST /api/auth/login
  me, //       GET  /api/auth/me
  health, //   GET  /api/health
  history, //  GET  /api/updates/history
  packages, // GET  /api/updates/packages
  run, //      POST /api/updates/run
  targets, //  GET  /api/updates/targets
]

export const sockets: readonly AnySocket[] = [
  output, //   GET  /ws/updates/:jobId
]

export const jobKinds: readonly AnyJobKind[] = [upgradeJob]
