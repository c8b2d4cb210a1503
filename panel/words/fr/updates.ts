type Findings = Partial<Record<string, (repository: string | null, packages: readonly string[]) => string>>

/** Names the first packages and counts the rest. */
function some(packages: readonly string[]): string {
  const more = packages.length - 8
  return packages.slice(0, 8).join(', ') + (more > 0 ? ` et ${more} autre${more > 1 ? 's' : ''}` : '')
}

export const updates = {
  title: 'Mises à jour',
  targets: 'Cibles',
  checkAll: 'Tout vérifier',
  check: 'Vérifier',
  checking: 'Vérification…',
  checked: (ago: string) => `vérifié ${ago}`,
  lists: (ago: string) => `listes actualisées ${ago}`,
  listsMissing: 'listes jamais actualisées en entier',
  uncertain: (targets: number) => (targets === 1 ? 'incertain sur 1 cible' : `incertain sur ${targets} cibles`),
  lastKnown: (ago: string) => `Dernier état connu, vérifié ${ago}.`,
  awayBlocks: 'Vous ne pouvez rien lancer tant que l’hôte ne répond pas.',
  failed: (ago: string) => `La dernière mise à jour a échoué ${ago}`,
  changed: (ago: string) => `Modifié ${ago}, pas vérifié depuis`,
  unanswered: (ago: string) => `Pas de réponse à la dernière vérification\u202f; vérifié ${ago}`,
  neverAnswered: 'Pas de réponse à la dernière vérification',
  seeCheck: 'Voir cette vérification',
  repair: 'Réparer',
  repairOf: (name: string) => `Réparer les paquets de ${name}`,
  states: {
    stopped: 'Arrêté',
    unsupported: 'Gestionnaire de paquets non pris en charge',
    blocked: 'Bloqué\u00a0: une mise à jour ne peut pas aboutir',
    unfinished: 'dpkg n’a pas terminé\u202f; la prochaine mise à jour répare d’abord',
    attention: 'Peut-être pas à jour',
    upToDate: 'À jour',
  },
  /** The row already tells the other findings, or the panel does not show them yet. */
  findings: {
    repository_unreachable: (repository) => `Le dépôt ${repository ?? '?'} n’a pas répondu.`,
    repository_changed: (repository) => `Le dépôt ${repository ?? '?'} a changé de nom ou de version.`,
    repository_unsigned: (repository) => `La signature du dépôt ${repository ?? '?'} n’est pas reconnue.`,
    repository_expired: (repository) => `Les listes du dépôt ${repository ?? '?'}, ou sa clé, ne sont plus valables.`,
    lists_stale: (file) =>
      file === null
        ? 'Les listes de paquets n’ont pas pu être actualisées.'
        : `Le compte de service ne peut pas lire ${file}\u00a0: ses paquets ne sont pas connus.`,
    held: (_, packages) => `Figés\u00a0: ${some(packages)}`,
    dpkg_interrupted: (_, packages) => `Inachevés\u00a0: ${some(packages) || 'dpkg a été interrompu'}`,
    dependencies_broken: (_, packages) => `Dépendances non satisfaites\u00a0: ${some(packages) || '?'}`,
    manager_locked: () => 'apt ou dpkg est déjà en cours d’exécution. Revérifiez dans un moment.',
  } satisfies Findings as Findings,
  packageStates: { held: 'figé', phased: 'diffusion progressive', kept_back: 'conservé' },
  upgrade: 'Mettre à jour',
  upgradeOf: (name: string) => `Mettre à jour ${name}`,
  show: 'Voir la sortie',
  showOf: (name: string) => `Voir la sortie de ${name}`,
  upgradeHostTitle: 'Mettre à jour l’hôte\u202f?',
  upgradeHostText: (packages: string) =>
    `Sur l’hôte lui-même, apt met à jour tous ses paquets (${packages}). Ses conteneurs ne sont pas mis à jour, mais des services dont ils dépendent peuvent redémarrer.`,
  upgradeHostUnknown: 'nombre inconnu',
  upgradeHost: 'Mettre à jour l’hôte',
  upgradeAll: 'Tout mettre à jour',
  upgradeAllTitle: 'Mettre à jour toutes ces cibles\u202f?',
  upgradeAllText: 'Sur chacune, apt met à jour tous ses paquets\u00a0:',
  alsoTried: (names: string) => `Essayés aussi, mais bloqués\u00a0: ${names}`,
  summary: (packages: number, targets: number) =>
    packages === 0
      ? 'Aucun paquet en attente'
      : `${packages === 1 ? '1 paquet' : `${packages} paquets`} sur ${targets === 1 ? '1 cible' : `${targets} cibles`}`,
  packages: (count: number) => (count === 1 ? '1 paquet' : `${count} paquets`),
  upToDate: 'À jour',
  running: 'Mise à jour en cours',
  repairing: 'Réparation en cours',
  runningWithAll: 'Compris dans la mise à jour de tous les conteneurs',
  unknown: 'Pas vérifié',
  againOf: (name: string) => `Revérifier ${name}`,
  showPackages: (name: string) => `Paquets de ${name}`,
  name: 'Paquet',
  installed: 'Installé',
  available: 'Disponible',
  filter: 'Filtrer les paquets',
  noMatch: 'Aucun paquet ne correspond.',
  noJob: 'Lancez une mise à jour pour voir sa sortie ici, en direct.',
  outputs: 'Tâches en cours',
  history: 'Historique',
  noHistory: 'Aucune mise à jour pour l’instant.',
  state: 'État',
  target: 'Cible',
  when: 'Commencée',
  duration: 'Durée',
  open: (target: string) => `Voir la mise à jour de ${target}`,
  more: 'Afficher plus',
}
