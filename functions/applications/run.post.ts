import * as z from 'zod'
import { AlreadyQueued } from '../../db/job-start.ts'
import { JobId } from '../../jobs/jobs.ts'
import { WRITES } from '../../runtime/function.ts'
import { OWNER_ERRORS, requireOwner } from '../auth/job-owner.ts'
import { Target } from '../hypervisor/target.ts'
import { policyOf } from '../protection/policies.ts'
import { Protection } from '../protection/protection.ts'
import { defineFunction } from '../services.ts'
import { ApplicationId, Digest } from './application.ts'
import { applicationJob } from './application-job.ts'
import { FETCH_ERRORS, fetchedSource, knownApplication } from './known-applications.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/updates/applications/run',
  summary: 'Update an application',
  description:
    'Starts a job that runs the update of an application of a container: the texts with this digest, to which an administrator must have agreed (422 `not_agreed`), and no others. They are fetched again before the job starts: 409 `source_changed` where they are no longer the same; the job compares them once more right before it runs them from files. While an update of the same application runs or waits, nothing starts, and that job is named in `job_id`: 409 `application_queued`. A client follows it like an upgrade. It has the protection of the container’s policy, or the given one. Nobody can answer a question of the script: such a run is stopped and ends with `application_asks`, and one that wants to load other code with `application_refused`. A script that ends well without a newer version leaves a warning, because it tells nothing else.',
  auth: 'admin',
  stepUp: true,
  targets: ({ body: { target } }) => [target],
  rateLimit: WRITES,
  audit: ['application_start'],
  request: {
    body: z.object({ target: Target, id: ApplicationId, digest: Digest, protection: Protection.optional() }),
  },
  status: 202,
  response: z.object({ job_id: JobId, message: z.string() }),
  example: {
    body: {
      target: 'lxc:101',
      id: 'community_script:vaultwarden',
      digest: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    },
    response: { job_id: '1772366400-k3x9q2pa', message: 'Mise à jour de vaultwarden lancée.' },
  },
  errors: [...OWNER_ERRORS, ...FETCH_ERRORS, 'not_agreed', 'source_changed', 'application_queued', 'queue_full'],

  async handler(
    { body: { target, id, digest, protection: given } },
    { db, user, host, settings, jobs, clock, auditEntry, fail },
  ) {
    await requireOwner({ db, settings, user })
    const known = await knownApplication(db, target, id)
    if (known.fetched?.digest !== digest || !known.fetched.agreed) throw fail('not_agreed')
    const source = await fetchedSource({ db, host, clock }, { target, known, user: user.id })
    if (source.digest !== digest) throw fail('source_changed')
    const { name } = known.found
    const protection = given ?? (await policyOf(db, target))
    // A stack is bound by its digest: what a run pulls is in no file.
    const isStack = known.found.kind === 'compose'
    const files = isStack ? [] : source.files.map(({ address, digest: own }) => ({ address, digest: own }))
    const start = jobs.start({
      kind: applicationJob.kind,
      args: { target, application: id, name, digest, files, refused: source.refused, protection },
      target,
      startedBy: user.id,
      alone: true,
      announce: (job) => auditEntry('application_start', { target, details: { job_id: job, application: id, digest } }),
    })
    const job_id = await start.catch((error: unknown) => {
      throw error instanceof AlreadyQueued ? fail('application_queued', { more: { job_id: error.id } }) : error
    })
    return { job_id, message: `Mise à jour de ${name} lancée.` }
  },
})
