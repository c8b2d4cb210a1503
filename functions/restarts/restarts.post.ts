import * as z from 'zod'
import { readCheck } from '../../db/checks.ts'
import { JobId } from '../../jobs/jobs.ts'
import { WRITES } from '../../runtime/function.ts'
import { OWNER_ERRORS, requireOwner } from '../auth/job-owner.ts'
import { parseTarget, shortened, Target } from '../hypervisor/target.ts'
import { defineFunction } from '../services.ts'
import { isServiceName, whyNever } from './never.ts'
import { OutdatedService } from './outdated-services.ts'
import { restartJob } from './restart-job.ts'

/** Services of one request. */
const MOST = 50

export default defineFunction({
  method: 'POST',
  path: '/api/updates/restarts',
  summary: 'Restart services',
  description:
    'Starts a job that restarts services which still use files that an upgrade has replaced, one after another. A client follows it like an upgrade. Its output has a line for each service, with its main process before and after. It accepts only services of the target’s last check whose `restart` is `service`: 422 `service_unknown` for another one, and `service_protected` for one that is never restarted alone, such as dbus, logind or Docker. The exit code is 1 where a service did not come back. The target is checked again afterwards.',
  auth: 'admin',
  targets: ({ body: { target } }) => [target],
  rateLimit: WRITES,
  audit: ['restart_start'],
  request: {
    body: z.object({
      target: Target,
      services: z
        .array(
          z
            .string()
            .min(1)
            .max(200)
            .meta({ examples: ['ssh'] }),
        )
        .min(1)
        .max(MOST),
    }),
  },
  status: 202,
  response: z.object({ job_id: JobId, message: z.string() }),
  example: {
    body: { target: 'lxc:101', services: ['ssh', 'nginx'] },
    response: { job_id: '1772366400-k3x9q2pa', message: 'Redémarrage des services lancé.' },
  },
  errors: ['target_invalid', ...OWNER_ERRORS, 'service_unknown', 'service_protected', 'queue_full'],

  async handler({ body: { target, services } }, { db, user, settings, jobs, auditEntry, fail }) {
    const parsed = parseTarget(target)
    if (!parsed || parsed.kind === 'all') throw fail('target_invalid', { values: { target: shortened(target) } })
    await requireOwner({ db, settings, user })
    const names = [...new Set(services.map((name) => name.replace(/\.service$/, '')))]
    for (const service of names) {
      const why = whyNever(service)
      if (why !== undefined) throw fail('service_protected', { values: { service: shortened(service), why } })
    }
    const row = await readCheck(db, target)
    const isRunning = row?.vmid === null || row?.status === 'running'
    const known = restartableOf(isRunning ? row?.summary : null)
    const unknown = names.find((name) => !known.has(name) || !isServiceName(name))
    if (unknown !== undefined) throw fail('service_unknown', { values: { service: shortened(unknown) } })
    const job_id = await jobs.start({
      kind: restartJob.kind,
      args: { target, services: names },
      target,
      startedBy: user.id,
      announce: (id) => auditEntry('restart_start', { target, details: { job_id: id, services: names.join(' ') } }),
    })
    return {
      job_id,
      message: names.length === 1 ? 'Redémarrage du service lancé.' : 'Redémarrage des services lancé.',
    }
  },
})

const Stored = z.object({ services: z.array(OutdatedService) })

/** Returns the names of the services that the last check offers to restart. */
function restartableOf(summary: string | null | undefined): Set<string> {
  const stored = Stored.safeParse(JSON.parse(summary ?? 'null')).data?.services ?? []
  return new Set(stored.filter(({ restart }) => restart === 'service').map(({ name }) => name))
}
