import type { Answer } from '../../../client/index.ts'

type Finding = Answer<'GET /api/updates/checks'>['checks'][number]['findings'][number]
/** A few words for each code, from the packages that the finding names and its repository. */
type Short = Record<Finding['code'], (packages: number, repository: string | null) => string>

const many = (count: number, one: string, more: string) => (count === 1 ? `1 ${one}` : `${count} ${more}`)
const at = (repository: string | null) => (repository === null ? '' : `\u00a0: ${repository}`)

export const findings = {
  short: {
    repository_unreachable: (_, repository) => `Dépôt injoignable${at(repository)}`,
    repository_changed: (_, repository) => `Dépôt modifié${at(repository)}`,
    repository_unsigned: (_, repository) => `Signature non reconnue${at(repository)}`,
    repository_expired: (_, repository) => `Dépôt périmé${at(repository)}`,
    lists_stale: (_, repository) => (repository === null ? 'Listes de plus d’un jour' : `Illisible${at(repository)}`),
    held: (count) => many(count, 'paquet figé', 'paquets figés'),
    phased: (count) => `${count === 0 ? '' : `${count} en `}diffusion progressive`,
    kept_back_install: (count) =>
      count === 0 ? 'Installe de nouveaux paquets' : `Installe ${many(count, 'nouveau paquet', 'nouveaux paquets')}`,
    kept_back_remove: (count) =>
      count === 0 ? 'Supprime des paquets' : `Supprime ${many(count, 'paquet', 'paquets')}`,
    kept_back_dependencies: (count) => many(count, 'paquet en attente', 'paquets en attente'),
    dpkg_interrupted: () => 'Paquets inachevés',
    dependencies_broken: () => 'Dépendances cassées',
    disk_low: () => 'Place insuffisante',
    conffile_changed: (count) =>
      count === 0 ? 'Configuration modifiée' : many(count, 'configuration modifiée', 'configurations modifiées'),
    manager_locked: () => 'Gestionnaire de paquets occupé',
    container_locked: () => 'Conteneur verrouillé',
    container_stopped: () => 'Pas vérifié à l’arrêt',
    container_template: () => 'Modèle, pas vérifié',
    manager_missing: () => 'Gestionnaire de paquets non géré',
    network_missing: () => 'Pas de réseau',
    root_read_only: () => 'Système en lecture seule',
    protection_unavailable: () => 'Sans instantané',
    self_impact: (count) => (count === 0 ? 'Porte le panneau' : 'Touche le panneau'),
    reboot_required: () => 'Redémarrage requis',
    services_outdated: (count) =>
      count === 0 ? 'Services à redémarrer' : many(count, 'service à redémarrer', 'services à redémarrer'),
    end_of_life: () => 'Fin de prise en charge',
    application_update: (count) =>
      count === 0 ? 'Applications pas vérifiées' : many(count, 'application à examiner', 'applications à examiner'),
    other_upgrader: () => 'Autre mise à jour automatique',
    security_unknown: () => 'Correctifs de sécurité non signalés',
    selection_unsupported: () => 'Choix impossible ici',
  } satisfies Short as Short,
  /** The whole sentence: in French, the service's own. */
  sentence: ({ message }: Pick<Finding, 'code' | 'message' | 'packages' | 'repository'>): string => message,
  remedies: {
    retry_check: 'Revérifier',
    allow_release_change: 'Accepter le changement',
    repair_dpkg: 'Réparer',
    lift_hold: 'Libérer',
    clean_cache: 'Vider le cache',
    start_container: 'Démarrer',
    disable_auto_upgrades: 'Désactiver',
    review_conffile: 'Examiner le fichier',
    open_terminal: 'Ouvrir un terminal',
  },
  /** The remedy as the service names it, in its own language. */
  remedy: ({ label }: NonNullable<Finding['remedy']>): string => label,
  severities: { blocking: 'Bloquant', warning: 'Attention', info: 'Remarque' },
  named: (packages: readonly string[]): string => {
    const more = packages.length - 8
    return packages.slice(0, 8).join(', ') + (more > 0 ? ` et ${more} autre${more > 1 ? 's' : ''}` : '')
  },
  remedyOf: (remedy: string, target: string) => `${remedy}\u00a0: ${target}`,
  allowTitle: 'Accepter le changement de ce dépôt\u202f?',
  allowText: 'Ses nouvelles listes seront utilisées. Refusez si vous n’attendiez pas ce changement.',
  allow: 'Accepter le changement',
}
