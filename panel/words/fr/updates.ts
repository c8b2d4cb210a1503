type Findings = Partial<Record<string, (repository: string | null, packages: readonly string[]) => string>>

/** The first of them, and how many more. */
function some(packages: readonly string[]): string {
  const more = packages.length - 8
  return packages.slice(0, 8).join(', ') + (more > 0 ? ` et ${more} autre${more > 1 ? 's' : ''}` : '')
}

export const updates = {
  title: 'Mises à jour',
  targets: 'Cibles',
  check: 'Vérifier',
  checking: 'Vérification…',
  checked: (ago: string) => `vérifié ${ago}`,
  lists: (ago: string) => `listes actualisées ${ago}`,
  listsMissing: 'aucune actualisation complète des listes connue',
  unsure: (targets: number) => (targets === 1 ? 'incertain sur 1 cible' : `incertain sur ${targets} cibles`),
  lastKnown: (ago: string) => `Dernier état connu, vérifié ${ago}.`,
  awayBlocks: 'Rien ne peut être lancé tant que l’hôte ne répond pas.',
  failed: (ago: string) => `La dernière mise à jour a échoué ${ago}`,
  changed: (ago: string) => `Modifié ${ago}, pas vérifié depuis`,
  unanswered: (ago: string) => `N’a pas répondu à la dernière vérification\u202f; vérifié ${ago}`,
  neverAnswered: 'N’a pas répondu à la dernière vérification',
  seeCheck: 'Voir cette vérification',
  repair: 'Réparer',
  repairOf: (name: string) => `Réparer les paquets de ${name}`,
  states: {
    stopped: 'Arrêté',
    unsupported: 'Gestionnaire de paquets non pris en charge',
    blocked: 'Une mise à jour ne peut pas aboutir',
    unfinished: 'dpkg n’a pas fini\u202f; la prochaine mise à jour répare d’abord',
    attention: 'Pas sûr d’être à jour',
    upToDate: 'À jour',
  },
  /** Of the others, the row says it already, or it is not looked at yet. */
  findings: {
    repository_unreachable: (repository) => `Le dépôt ${repository ?? '?'} n’a pas répondu.`,
    repository_changed: (repository) => `Le dépôt ${repository ?? '?'} a changé de nom ou de version.`,
    repository_unsigned: (repository) => `La signature du dépôt ${repository ?? '?'} n’est pas reconnue.`,
    repository_expired: (repository) => `Les listes du dépôt ${repository ?? '?'}, ou sa clé, ne sont plus valables.`,
    lists_stale: (file) =>
      file === null
        ? 'Les listes de paquets n’ont pas pu être actualisées.'
        : `Le compte de service ne peut pas lire ${file}\u00a0: ce qui y attend n’est pas connu.`,
    held: (_, packages) => `Retenus\u00a0: ${some(packages)}`,
    dpkg_interrupted: (_, packages) => `Inachevés\u00a0: ${some(packages) || 'dpkg a été interrompu'}`,
    dependencies_broken: (_, packages) => `Dépendances non satisfaites\u00a0: ${some(packages) || '?'}`,
    manager_locked: () => 'apt ou dpkg est déjà à l’œuvre\u00a0: vérifiez à nouveau dans un moment.',
  } satisfies Findings as Findings,
  packageStates: { held: 'retenu', phased: 'déployé par étapes', kept_back: 'conservé' },
  upgrade: 'Mettre à jour',
  upgradeOf: (name: string) => `Mettre à jour ${name}`,
  show: 'Voir la sortie',
  showOf: (name: string) => `Voir la sortie de ${name}`,
  upgradeHostTitle: 'Mettre à jour l’hôte\u202f?',
  upgradeHostText: (packages: string) =>
    `Sur l’hôte lui-même, apt met à jour tous ses paquets (${packages}). Ses conteneurs ne sont pas mis à jour, mais ce dont ils ont besoin peut redémarrer.`,
  upgradeHostUnknown: 'leur nombre n’est pas connu',
  upgradeHost: 'Mettre à jour l’hôte',
  upgradeAll: 'Tout mettre à jour',
  upgradeAllTitle: 'Mettre à jour toutes ces cibles\u202f?',
  upgradeAllText: 'Sur chacune, apt met à jour tous ses paquets\u00a0:',
  triedInVain: (names: string) => `Essayés aussi, où cela ne peut pas aboutir\u00a0: ${names}`,
  summary: (packages: number, targets: number) =>
    packages === 0
      ? 'Aucun paquet en attente'
      : `${packages === 1 ? '1 paquet' : `${packages} paquets`} sur ${targets === 1 ? '1 cible' : `${targets} cibles`}`,
  packages: (count: number) => (count === 1 ? '1 paquet' : `${count} paquets`),
  upToDate: 'À jour',
  running: 'Mise à jour en cours',
  repairing: 'Réparation en cours',
  runningWithAll: 'À son tour, dans la mise à jour de tous les conteneurs',
  unknown: 'Pas encore vérifié',
  again: 'Vérifier à nouveau',
  againOf: (name: string) => `Vérifier ${name} à nouveau`,
  showPackages: (name: string) => `Paquets de ${name}`,
  name: 'Paquet',
  installed: 'Installé',
  available: 'Disponible',
  filter: 'Filtrer les paquets',
  noMatch: 'Aucun paquet ne correspond.',
  noJob: 'La sortie d’une mise à jour s’affiche ici, en direct, dès que vous en lancez une.',
  outputs: 'Tâches en cours',
  history: 'Historique',
  noHistory: 'Aucune mise à jour n’a encore été lancée.',
  state: 'État',
  target: 'Cible',
  when: 'Commencée',
  duration: 'Durée',
  open: (target: string) => `Voir la mise à jour de ${target}`,
  more: 'Afficher plus',
}
