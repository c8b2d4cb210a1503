import * as z from 'zod'
import { listedContainers } from '../../db/protections.ts'
import { presentSnapshots, readStorage, type SnapshotRow } from '../../db/snapshots.ts'
import { JobId } from '../../jobs/jobs.ts'
import { mayRead } from '../../runtime/access.ts'
import { READS } from '../../runtime/function.ts'
import { Target } from '../hypervisor/target.ts'
import { defineFunction } from '../services.ts'
import { readPolicies } from './policies.ts'
import { DEFAULT_PROTECTION, Protection } from './protection.ts'
import { factsFrom, StorageFacts, storagesFrom } from './storage-facts.ts'

const Snapshot = z.object({
  name: z.string(),
  made_at: z.string(),
  kind: z.enum(['snapshot', 'backup']),
  job_id: JobId.nullable(),
  ours: z.boolean(),
  present: z.boolean(),
})

export default defineFunction({
  method: 'GET',
  path: '/api/updates/protection',
  summary: 'The protection of each container',
  description:
    'Returns the default policy and, for each container in the last list, the policy that applies (`own` tells whether it is the container’s), what its storage can do (`can`; null where no check has told), and the snapshots and backups that exist. `ours` are those of the panel; it never changes others. `storages` are those that take backups. The host has no protection.',
  auth: 'user',
  targets: 'own',
  rateLimit: READS,
  response: z.object({
    default: Protection,
    targets: z.array(
      z.object({
        target: Target,
        name: z.string(),
        protection: Protection,
        own: z.boolean(),
        can: StorageFacts,
        snapshots: z.array(Snapshot),
      }),
    ),
    storages: z.array(z.string()),
  }),
  example: {
    response: {
      default: DEFAULT_PROTECTION,
      targets: [
        {
          target: 'lxc:101',
          name: 'web',
          protection: { ...DEFAULT_PROTECTION, on_failure: 'rollback', probes: [{ kind: 'tcp', port: 443 }] },
          own: true,
          can: { snapshot: true, backup: true, why: null },
          snapshots: [
            {
              name: 'panel-1772366400-k3x9q2pa',
              made_at: '2026-03-01T12:00:00.000Z',
              kind: 'snapshot',
              job_id: '1772366400-k3x9q2pa',
              ours: true,
              present: true,
            },
          ],
        },
      ],
      storages: ['local'],
    },
  },

  async handler(_, { db, user }) {
    const policies = await readPolicies(db)
    const facts = await readStorage(db)
    const snapshots = new Map<string, SnapshotRow[]>()
    for (const each of await presentSnapshots(db)) {
      const others = snapshots.get(each.target)
      if (others) others.push(each)
      else snapshots.set(each.target, [each])
    }
    return {
      default: policies.default,
      targets: (await listedContainers(db))
        .filter(({ target }) => mayRead(user, target))
        .map(({ target, name }) => ({
          target,
          name,
          protection: policies.own.get(target) ?? policies.default,
          own: policies.own.has(target),
          can: factsFrom(facts.get(target)),
          snapshots: snapshots.get(target) ?? [],
        })),
      storages: storagesFrom(facts.get('host')),
    }
  },
})
