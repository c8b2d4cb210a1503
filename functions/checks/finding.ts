import * as z from 'zod'

/** Every code of a finding. */
const FindingCode = z.enum([
  'repository_unreachable',
  'repository_changed',
  'repository_unsigned',
  'repository_expired',
  'lists_stale',
  'held',
  'phased',
  'kept_back_install',
  'kept_back_remove',
  'kept_back_dependencies',
  'dpkg_interrupted',
  'dependencies_broken',
  'disk_low',
  'conffile_changed',
  'manager_locked',
  'container_locked',
  'container_stopped',
  'container_template',
  'manager_missing',
  'network_missing',
  'root_read_only',
  'protection_unavailable',
  'self_impact',
  'reboot_required',
  'services_outdated',
  'end_of_life',
  'application_update',
])

export const RemedyAction = z.enum([
  'retry_check',
  'allow_release_change',
  'repair_dpkg',
  'lift_hold',
  'clean_cache',
  'start_container',
  'review_conffile',
  'open_terminal',
])

/** An obstacle or a remark about a target, with the repair that applies. */
export const Finding = z.object({
  code: FindingCode,
  severity: z.enum(['info', 'warning', 'blocking']),
  message: z.string(),
  packages: z.array(z.string()),
  repository: z.string().nullable(),
  remedy: z.object({ action: RemedyAction, label: z.string() }).nullable(),
})
export type Finding = z.infer<typeof Finding>

const RETRY = { action: 'retry_check', label: 'Revérifier' } as const
const REPAIR = { action: 'repair_dpkg', label: 'Réparer' } as const

/** Severity, message and repair of the codes that checks report today. */
const FINDINGS = {
  repository_unreachable: ['warning', 'Un dépôt n’a pas répondu.', RETRY],
  repository_changed: ['warning', 'Un dépôt a changé de nom ou de version.', RETRY],
  repository_unsigned: ['warning', 'La signature d’un dépôt n’est pas reconnue.', RETRY],
  repository_expired: ['warning', 'Les listes d’un dépôt, ou sa clé, ne sont plus valables.', RETRY],
  lists_stale: ['warning', 'Les listes de paquets manquent ou ont plus d’un jour.', RETRY],
  held: ['info', 'Des paquets sont figés.', null],
  dpkg_interrupted: ['warning', 'dpkg n’a pas fini : la prochaine mise à jour répare d’abord.', REPAIR],
  dependencies_broken: ['blocking', 'Des dépendances ne sont pas satisfaites.', REPAIR],
  manager_locked: ['warning', 'apt ou dpkg est déjà en cours d’exécution.', RETRY],
  manager_missing: ['info', 'Aucun gestionnaire de paquets connu.', null],
  container_stopped: ['info', 'Le conteneur est arrêté : il n’est pas démarré pour être vérifié.', null],
} as const satisfies Partial<Record<Finding['code'], readonly [Finding['severity'], string, Finding['remedy']]>>

type ReportedCode = keyof typeof FINDINGS

/** Package names in one finding. */
const MAX_NAMES = 100
/** Cuts a name that a target reports: every page loads the findings of all targets. */
const short = (name: string) => name.slice(0, 200)

/** Returns a finding; `message` adds detail to the code. */
export function findingOf(
  code: ReportedCode,
  { message, packages = [], repository = null }: Partial<Pick<Finding, 'message' | 'packages' | 'repository'>> = {},
): Finding {
  const [severity, sentence, remedy] = FINDINGS[code]
  const named = packages.slice(0, MAX_NAMES).map(short)
  return {
    code,
    severity,
    message: message ?? sentence,
    packages: named,
    repository: repository && short(repository),
    remedy,
  }
}
