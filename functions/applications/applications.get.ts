import * as z from 'zod'
import { READS } from '../../runtime/function.ts'
import { Target } from '../hypervisor/target.ts'
import { defineFunction } from '../services.ts'
import { Application } from './application.ts'
import { applicationOf, knownApplications } from './known-applications.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/updates/applications',
  summary: 'The applications of a target',
  description:
    'Returns the applications that the last check of a target has found beside its packages: a community script, which the command `update` of its container runs; stacks of Docker Compose; packages of flatpak and snap. It does not ask the target. `version` and `available` are null where they cannot be read: a community script does not tell what it would install. `source` is what an update would run: its `digest` is of what was fetched last, and `agreed` says whether an administrator has agreed to exactly that.',
  auth: 'user',
  targets: ({ query: { target } }) => [target],
  rateLimit: READS,
  request: { query: z.object({ target: Target }) },
  response: z.object({ applications: z.array(Application) }),
  example: {
    query: { target: 'lxc:101' },
    response: {
      applications: [
        {
          id: 'community_script:vaultwarden',
          kind: 'community_script',
          name: 'vaultwarden',
          version: '1.33.2',
          available: null,
          source: {
            address: 'https://raw.githubusercontent.com/community-scripts/ProxmoxVE/main/ct/vaultwarden.sh',
            digest: null,
            agreed: false,
            agreed_by: null,
            agreed_at: null,
          },
          updatable: true,
        },
      ],
    },
  },
  errors: ['target_invalid', 'check_missing'],

  async handler({ query: { target } }, { db }) {
    return { applications: (await knownApplications(db, target)).map(applicationOf) }
  },
})
