import * as z from 'zod'
import { readCheck } from '../../db/checks.ts'
import type { Database } from '../../db/libsql/database.ts'
import { findUser } from '../../db/users.ts'
import { JobId } from '../../jobs/jobs.ts'
import { WRITES } from '../../runtime/function.ts'
import { notedChange } from '../audit/values.ts'
import { remedyJob } from '../checks/remedy-job.ts'
import { parseTarget, shortened, Target } from '../hypervisor/target.ts'
import { defineFunction } from '../services.ts'
import { MOST_NAMES, PackageName } from './plan.ts'

/** Packages that the audit entry names. It counts them all. */
const NAMED = 20

export default defineFunction({
  method: 'PUT',
  path: '/api/updates/holds',
  summary: 'Hold packages, or lift their hold',
  description:
    'Starts a job that holds installed packages of the host or of one container, so that no upgrade changes them, or that lifts their hold. A client follows it like an upgrade. Its exit code is 0 when all of them are held, or none of them, afterwards. The next check shows it.',
  auth: 'admin',
  stepUp: true,
  targets: ({ body: { target } }) => [target],
  rateLimit: WRITES,
  audit: ['remedy_start'],
  request: {
    body: z.object({
      target: Target,
      packages: z.array(PackageName).min(1).max(MOST_NAMES),
      held: z.boolean(),
    }),
  },
  status: 202,
  response: z.object({ job_id: JobId, message: z.string() }),
  example: {
    body: { target: 'lxc:101', packages: ['librig2'], held: true },
    response: { job_id: '1772366400-k3x9q2pa', message: 'Les paquets vont être figés.' },
  },
  errors: ['target_invalid', 'ssh_incomplete', 'ssh_password_unreadable', 'profile_missing', 'queue_full'],

  async handler({ body: { target, packages, held } }, { db, user, settings, jobs, auditEntry, fail }) {
    const parsed = parseTarget(target)
    if (!parsed || parsed.kind === 'all') throw fail('target_invalid', { values: { target: shortened(target) } })
    await settings.sshAccount()
    // The token may outlive its user's record, and a job needs an owner.
    if (!(await findUser(db, user.id))) throw fail('profile_missing')
    const action = held ? 'hold' : 'unhold'
    const args = [...new Set(packages)]
    const change = notedChange({ held: await heldBefore(db, target, args) }, { held: held ? args : [] })
    const job_id = await jobs.start({
      kind: remedyJob.kind,
      args: { target, action, args },
      target,
      startedBy: user.id,
      announce: (id) =>
        auditEntry('remedy_start', {
          target,
          details: { job_id: id, action, packages: args.slice(0, NAMED).join(' '), count: args.length, ...change },
        }),
    })
    return { job_id, message: held ? 'Les paquets vont être figés.' : 'Les paquets vont être libérés.' }
  },
})

const Found = z.object({ findings: z.array(z.object({ code: z.string(), packages: z.array(z.string()).default([]) })) })

/** Returns which of the packages the last check has found held, as it names them; undefined where it has found none. */
async function heldBefore(db: Database, target: string, asked: readonly string[]): Promise<string[] | undefined> {
  const summary = (await readCheck(db, target))?.summary
  const findings = summary ? Found.parse(JSON.parse(summary)).findings : []
  const names = new Set(asked.flatMap((name) => [name, bare(name)]))
  const found = findings
    .flatMap(({ code, packages }) => (code === 'held' ? packages : []))
    .filter((name) => names.has(name) || asked.includes(bare(name)))
  return found.length > 0 ? found : undefined
}

/** A package without its architecture. */
function bare(name: string): string {
  return name.replace(/:.*/, '')
}
