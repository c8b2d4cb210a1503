import * as z from 'zod'
import { readCheck, readCheckedPackages, upgradesOfAll } from '../../db/checks.ts'
import { JobId } from '../../jobs/jobs.ts'
import { WRITES } from '../../runtime/function.ts'
import { noted } from '../audit/values.ts'
import { OWNER_ERRORS, requireOwner } from '../auth/job-owner.ts'
import { type Finding, RemedyAction } from '../findings/finding.ts'
import { parseTarget, shortened, Target } from '../hypervisor/target.ts'
import { defineFunction } from '../services.ts'
import { PackageUpdate } from '../managers/package-update.ts'
import { checkOf } from './check.ts'
import { startCheck } from './check-job.ts'
import { remedyJob } from './remedy-job.ts'

/** The actions that this endpoint accepts. The panel carries out the others itself, in a terminal of the target. */
const ACTIONS = RemedyAction.exclude(['review_conffile', 'open_terminal'])

const MESSAGES = {
  retry_check: 'Vérification lancée.',
  repair_dpkg: 'Réparation lancée.',
  allow_release_change: 'Changement du dépôt en cours d’acceptation.',
  lift_hold: 'Libération des paquets lancée.',
  clean_cache: 'Nettoyage du cache lancé.',
  start_container: 'Démarrage du conteneur lancé.',
  disable_auto_upgrades: 'Désactivation des mises à jour automatiques lancée.',
} as const satisfies Record<z.infer<typeof ACTIONS>, string>

export default defineFunction({
  method: 'POST',
  path: '/api/updates/remedies',
  summary: 'Apply the remedy of a finding',
  description:
    'Starts a job with the remedy that a finding of the target’s last check names. A client follows it like an upgrade. `retry_check` starts a check, or returns the one that runs already. `repair_dpkg` completes an interrupted run of dpkg, and removes packages with unmet dependencies where nothing else helps and the finding says so. `allow_release_change` accepts that a repository calls itself otherwise: `repository`, as a `repository_changed` finding names it, or every repository with such a finding. `lift_hold` lifts the hold of `packages`, or of every held package of the check. `clean_cache` removes the package files that the package manager has downloaded. `disable_auto_upgrades` writes a file of apt’s configuration that turns unattended-upgrades off. `start_container` starts a stopped container, the only remedy of one.',
  auth: 'admin',
  stepUp: true,
  targets: ({ body: { target } }) => [target],
  rateLimit: WRITES,
  audit: ['remedy_start'],
  request: {
    body: z.object({
      target: Target,
      action: RemedyAction.meta({ override: { type: 'string', enum: [...ACTIONS.options] } }),
      packages: z.array(z.string().max(256)).max(1000).optional(),
      repository: z.string().max(1000).optional(),
    }),
  },
  status: 202,
  response: z.object({ job_id: JobId, message: z.string() }),
  example: {
    body: { target: 'lxc:101', action: 'repair_dpkg' },
    response: { job_id: '1772366400-k3x9q2pa', message: 'Réparation lancée.' },
  },
  errors: ['target_invalid', ...OWNER_ERRORS, 'remedy_unknown', 'queue_full'],

  async handler(
    { body: { target, action: asked, packages, repository } },
    { db, user, settings, jobs, clock, auditEntry, fail },
  ) {
    const parsed = parseTarget(target)
    if (!parsed || parsed.kind === 'all') throw fail('target_invalid', { values: { target: shortened(target) } })
    await requireOwner({ db, settings, user })
    const action = ACTIONS.safeParse(asked).data
    const row = await readCheck(db, target)
    const check = row && checkOf(row, await upgradesOfAll(db), clock())
    const reported = check?.findings.filter(({ remedy }) => remedy?.action === action) ?? []
    const isStopped = check?.state === 'stopped'
    if (action === undefined || reported.length === 0 || isStopped !== (action === 'start_container'))
      throw fail('remedy_unknown')
    // Only these actions can be limited, so a limit of any other one is not what it would do.
    const isUnlimited =
      (packages === undefined || action === 'lift_hold') &&
      (repository === undefined || action === 'allow_release_change')
    if (!isUnlimited) throw fail('remedy_unknown')

    const started = (changed: object = {}) => ({
      target,
      startedBy: user.id,
      announce: (id: string) =>
        auditEntry('remedy_start', { target, details: { job_id: id, action, ...noted(changed) } }),
    })
    const message = MESSAGES[action]
    if (action === 'retry_check') return { job_id: await startCheck({ db, jobs, settings }, started()), message }

    const args =
      action === 'allow_release_change'
        ? approvedOf(reported, repository)
        : action === 'lift_hold'
          ? heldOf(reported, await readCheckedPackages(db, target), packages)
          : action === 'repair_dpkg'
            ? removableOf(await readCheckedPackages(db, target))
            : []
    if (!args) throw fail('remedy_unknown')
    const changed = args.length === 0 ? {} : (CHANGES[action]?.(args) ?? {})
    const job_id = await jobs.start({ kind: remedyJob.kind, args: { target, action, args }, ...started(changed) })
    return { job_id, message }
  },
})

/** The changes of a remedy for the audit log, by the names that the check has found. */
const CHANGES: Partial<Record<z.infer<typeof ACTIONS>, (names: readonly string[]) => object>> = {
  lift_hold: (held) => ({ held_before: held, held_after: [] }),
  allow_release_change: (repositories) => ({ repositories }),
  repair_dpkg: (removable) => ({ removable }),
}

/** The host helper takes these names alone. */
const REPOSITORY = /^(?!-)[ -~]{1,300}$/
const PACKAGE = /^[a-z0-9][a-z0-9+.-]{1,199}(:[a-z0-9][a-z0-9-]{0,49})?$/
const MOST_REPOSITORIES = 47
const MOST_PACKAGES = 900

/** Returns the repositories whose change is accepted; undefined when the check has not found the asked one to have changed. */
function approvedOf(findings: readonly Finding[], asked: string | undefined): string[] | undefined {
  const changed = new Set(findings.flatMap(({ repository }) => repository ?? []))
  const chosen = (asked === undefined ? [...changed] : [asked]).filter((name) => REPOSITORY.test(name))
  const isKnown = chosen.length > 0 && chosen.every((name) => changed.has(name))
  return isKnown ? chosen.slice(0, MOST_REPOSITORIES) : undefined
}

const Removable = z.array(PackageUpdate.pick({ name: true, action: true, reason: true }))

/** Returns the broken packages that a repair removes, as the check has shown it. */
function removableOf(stored: string | undefined): string[] {
  const listed = Removable.safeParse(JSON.parse(stored ?? '[]')).data ?? []
  const removed = listed.filter(({ action, reason }) => action === 'remove' && reason === 'kept_back_dependencies')
  return removed
    .map(({ name }) => name)
    .filter((name) => PACKAGE.test(name))
    .slice(0, MOST_PACKAGES)
}

const Held = z.array(PackageUpdate.pick({ name: true, arch: true, status: true }))

/** Returns the packages whose hold is lifted; undefined when the check has not found one of them held. */
function heldOf(
  findings: readonly Finding[],
  stored: string | undefined,
  asked: readonly string[] | undefined,
): string[] | undefined {
  const listed = Held.safeParse(JSON.parse(stored ?? '[]')).data?.filter(({ status }) => status === 'held') ?? []
  const held = new Set([...findings.flatMap(({ packages }) => packages), ...listed.map(({ name }) => name)])
  const known = new Set([...held, ...listed.map(({ name, arch }) => `${name}:${arch}`)])
  if (asked?.some((name) => !known.has(name) || !PACKAGE.test(name))) return undefined
  const chosen = [...new Set(asked ?? held)].filter((name) => PACKAGE.test(name)).slice(0, MOST_PACKAGES)
  return chosen.length > 0 ? chosen : undefined
}
