import * as z from 'zod'
import { saveAgreement } from '../../db/applications.ts'
import { timestamp } from '../../platform/clock.ts'
import { WRITES } from '../../runtime/function.ts'
import { Target } from '../hypervisor/target.ts'
import { defineFunction } from '../services.ts'
import { ApplicationId, Digest } from './application.ts'
import { knownApplication } from './known-applications.ts'

export default defineFunction({
  method: 'PUT',
  path: '/api/updates/applications/agreement',
  summary: 'Agree to what an update of an application would run',
  description:
    'Stores that an administrator agrees to exactly this digest. It must be that of what was fetched last for this application: 409 `source_changed` otherwise, so that nobody agrees to what nobody was shown. An agreement is for the digest, and so for every container whose update runs the same texts from the same addresses.',
  auth: 'admin',
  stepUp: true,
  rateLimit: WRITES,
  audit: ['application_agree'],
  request: { body: z.object({ target: Target, id: ApplicationId, digest: Digest }) },
  response: z.object({ message: z.string() }),
  example: {
    body: {
      target: 'lxc:101',
      id: 'community_script:vaultwarden',
      digest: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    },
    response: { message: 'Script accepté.' },
  },
  errors: ['target_invalid', 'check_missing', 'application_missing', 'source_changed'],

  async handler({ body: { target, id, digest } }, { db, user, clock, auditEntry, fail }) {
    const { found, fetched } = await knownApplication(db, target, id)
    if (fetched?.digest !== digest) throw fail('source_changed')
    const entry = auditEntry('application_agree', {
      target,
      details: { application: found.id, address: fetched.address, digest },
    })
    const agreed = await saveAgreement(
      db,
      { target, application: found.id, digest },
      { at: timestamp(clock()), by: user.username, entry },
    )
    // Another request has fetched it meanwhile.
    if (!agreed) throw fail('source_changed')
    return { message: 'Script accepté.' }
  },
})
