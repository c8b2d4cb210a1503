import * as z from 'zod'
import { WRITES } from '../../runtime/function.ts'
import { requireWorker, WORKER_ERRORS } from '../auth/job-owner.ts'
import { Target } from '../hypervisor/target.ts'
import { defineFunction } from '../services.ts'
import { ApplicationId, Digest } from './application.ts'
import { FETCH_ERRORS, fetchedSource, knownApplication } from './known-applications.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/updates/applications/source',
  summary: 'Fetch what an update of an application would run',
  description:
    'Fetches, inside the container, the script that the command `update` loads, and every other file that this script and those files load as code by an address that their text tells. Runs nothing. The first of `files` is the one that runs; `digest` is of all of them. At most 20 files and 1 MiB are fetched. `refused` are addresses, or patterns of addresses, of further code: it cannot be fetched, or its address is known only during the run. A run that wants to load it is stopped. Of a Docker Compose stack, the registry is asked once more; the one text names the image of each service, with the digest that it has and the one that a run pulls. `digest` then is of these, and of the whole configuration with its variables.',
  auth: 'operator',
  targets: ({ body: { target } }) => [target],
  rateLimit: WRITES,
  audit: false,
  request: { body: z.object({ target: Target, id: ApplicationId }) },
  response: z.object({
    address: z.string(),
    digest: Digest,
    files: z.array(z.object({ address: z.string(), digest: Digest, size: z.int().min(0), text: z.string() })),
    refused: z.array(z.string()),
    agreed: z.boolean(),
  }),
  example: {
    body: { target: 'lxc:101', id: 'community_script:vaultwarden' },
    response: {
      address: 'https://raw.githubusercontent.com/community-scripts/ProxmoxVE/main/ct/vaultwarden.sh',
      digest: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      files: [
        {
          address: 'https://raw.githubusercontent.com/community-scripts/ProxmoxVE/main/ct/vaultwarden.sh',
          digest: '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
          size: 3932,
          text: '#!/usr/bin/env bash\n',
        },
      ],
      refused: [],
      agreed: false,
    },
  },
  errors: [...WORKER_ERRORS, ...FETCH_ERRORS],

  async handler({ body: { target, id } }, { db, user, host, settings, clock }) {
    await requireWorker({ db, settings, user })
    const known = await knownApplication(db, target, id)
    return fetchedSource({ db, host, clock }, { target, known, user: user.id })
  },
})
