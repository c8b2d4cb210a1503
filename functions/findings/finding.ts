import * as z from 'zod'

/** Every code of a finding. */
export const FindingCode = z.enum([
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
  'other_upgrader',
  'security_unknown',
  'selection_unsupported',
])

export const RemedyAction = z.enum([
  'retry_check',
  'allow_release_change',
  'repair_dpkg',
  'lift_hold',
  'clean_cache',
  'start_container',
  'disable_auto_upgrades',
  'review_conffile',
  'open_terminal',
])

/** The part that is away for a moment while something is changed or restarts: the panel, its way to the host, or both. */
export const Interrupted = z
  .enum(['panel', 'host', 'both'])
  .meta({ description: 'What is away while it restarts: the panel, its way to the host, or both.' })
export type Interrupted = z.infer<typeof Interrupted>

/**
 * The meaning of a target for the panel. `away`: the part that its upgrade takes away for a moment. `late`: how late the target comes among
 * several ones: 0 where nothing of the panel stands, 1 for what the panel needs, 2 where it runs, 3 for the host. `panel`:
 * whether the panel goes away with the target: it runs there, or its proxy, or its database.
 */
const Impact = z.object({ away: Interrupted.nullable(), late: z.int().min(0).max(3), panel: z.boolean() })
export type Impact = z.infer<typeof Impact>

/** An obstacle or a remark about a target, with the repair that applies. `impact` belongs to the code `self_impact`. */
export const Finding = z.object({
  code: FindingCode,
  severity: z.enum(['info', 'warning', 'blocking']),
  message: z.string(),
  packages: z.array(z.string()),
  repository: z.string().nullable(),
  remedy: z.object({ action: RemedyAction, label: z.string() }).nullable(),
  impact: Impact.exactOptional().meta({
    description:
      'Of `self_impact`: what the upgrade takes away for a moment (`away`), how late the target comes among several ones, from 0 to 3 for the host (`late`), and whether the panel goes away with the target (`panel`).',
  }),
})
export type Finding = z.infer<typeof Finding>

const RETRY = { action: 'retry_check', label: 'Revérifier' } as const
const REPAIR = { action: 'repair_dpkg', label: 'Réparer' } as const
const ALLOW = { action: 'allow_release_change', label: 'Accepter le changement' } as const
const LIFT = { action: 'lift_hold', label: 'Libérer' } as const
const CLEAN = { action: 'clean_cache', label: 'Vider le cache' } as const
const START = { action: 'start_container', label: 'Démarrer' } as const
const DISABLE = { action: 'disable_auto_upgrades', label: 'Désactiver' } as const
const REVIEW = { action: 'review_conffile', label: 'Examiner le fichier' } as const
const TERMINAL = { action: 'open_terminal', label: 'Ouvrir un terminal' } as const

/** Severity, message and remedy of the codes that checks report. */
const FINDINGS = {
  repository_unreachable: ['warning', 'Un dépôt n’a pas répondu : ses listes ne sont pas à jour.', RETRY],
  repository_changed: [
    'warning',
    'Un dépôt a changé de nom ou de version. Acceptez le changement si vous l’attendiez.',
    ALLOW,
  ],
  repository_unsigned: [
    'warning',
    'La signature d’un dépôt n’est pas reconnue. Installez sa clé, ou retirez le dépôt.',
    TERMINAL,
  ],
  repository_expired: ['warning', 'Les listes d’un dépôt ne sont plus valables : le miroir est en retard.', RETRY],
  lists_stale: ['warning', 'Les listes de paquets manquent ou ont plus d’un jour.', RETRY],
  held: ['info', 'Des paquets sont figés : aucune mise à jour ne les change tant qu’ils ne sont pas libérés.', LIFT],
  phased: ['info', 'Des paquets sont en diffusion progressive : leur tour viendra sans rien faire.', null],
  kept_back_install: ['info', 'Des mises à jour installent aussi de nouveaux paquets.', null],
  kept_back_remove: ['info', 'Des mises à jour ne passent qu’en supprimant d’autres paquets.', null],
  kept_back_dependencies: ['info', 'Des paquets attendent des dépendances que les dépôts n’offrent pas.', null],
  dpkg_interrupted: ['warning', 'dpkg n’a pas fini : la prochaine mise à jour répare d’abord.', REPAIR],
  dependencies_broken: ['blocking', 'Des dépendances ne sont pas satisfaites : apt refuse toute mise à jour.', REPAIR],
  disk_low: ['blocking', 'La place manque sur le disque pour cette mise à jour.', TERMINAL],
  conffile_changed: [
    'warning',
    'Vous avez modifié des fichiers de configuration que la mise à jour remplacerait : les vôtres sont gardés.',
    REVIEW,
  ],
  manager_locked: ['warning', 'apt ou dpkg est déjà en cours d’exécution. Revérifiez quand il aura fini.', RETRY],
  container_locked: ['warning', 'L’hyperviseur a verrouillé le conteneur. Revérifiez quand il aura fini.', RETRY],
  container_stopped: ['info', 'Le conteneur est arrêté : il n’est pas démarré pour être vérifié.', START],
  container_template: ['info', 'Ce conteneur est un modèle : il ne démarre pas et n’est pas vérifié.', null],
  manager_missing: ['info', 'Aucun gestionnaire de paquets connu.', null],
  network_missing: ['warning', 'Aucun dépôt n’a répondu : le réseau semble manquer.', RETRY],
  root_read_only: ['blocking', 'Le système de fichiers est en lecture seule : rien ne peut être installé.', TERMINAL],
  protection_unavailable: ['info', 'Ce conteneur ne peut pas avoir d’instantané.', null],
  self_impact: [
    'warning',
    'Cette mise à jour change ce dont le panneau dépend : il peut être injoignable un moment, la mise à jour continue.',
    null,
  ],
  reboot_required: ['info', 'Un redémarrage est requis.', null],
  services_outdated: ['info', 'Des services utilisent encore des fichiers remplacés par une mise à jour.', null],
  end_of_life: ['warning', 'Cette distribution ne reçoit plus de corrections de sécurité.', null],
  application_update: ['info', 'Une version plus récente du panneau est proposée.', null],
  other_upgrader: [
    'info',
    'unattended-upgrades installe des mises à jour de lui-même, sans instantané et à côté des plans.',
    DISABLE,
  ],
  security_unknown: [
    'info',
    'Le gestionnaire de paquets ne dit pas quelles mises à jour corrigent une faille, et aucune liste de failles de cette distribution n’est enregistrée.',
    null,
  ],
  selection_unsupported: ['blocking', 'Le gestionnaire de paquets ne peut pas faire ce choix.', null],
} as const satisfies Partial<Record<Finding['code'], readonly [Finding['severity'], string, Finding['remedy']]>>

/** Remedies that a finding may have instead of that of its code. */
export const REMEDIES = { CLEAN, TERMINAL } as const

type ReportedCode = keyof typeof FINDINGS

/** Package names in one finding. */
const MAX_NAMES = 100
/** Cuts a name that a target reports: every page loads the findings of all targets. */
const short = (name: string) => name.slice(0, 200)

/** Returns a finding; the given fields replace those of its code. */
export function findingOf(
  code: ReportedCode,
  { packages = [], repository = null, ...own }: Partial<Omit<Finding, 'code'>> = {},
): Finding {
  const [severity, message, remedy] = FINDINGS[code]
  const named = packages.slice(0, MAX_NAMES).map(short)
  return {
    code,
    severity,
    message,
    remedy,
    ...own,
    packages: named,
    repository: repository?.slice(0, 300) ?? null,
  }
}
