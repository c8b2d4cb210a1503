import type { Interrupted } from '../../nouns/impact.ts'

/** “3 services”, with the word that fits the number. */
const some = (count: number) => (count === 1 ? '1 service' : `${count} services`)

export const restarts = {
  outdated: (count: number): string =>
    count === 1
      ? '1 service utilise encore un fichier remplacé par une mise à jour.'
      : `${count} services utilisent encore des fichiers remplacés par une mise à jour.`,
  unseen: 'Des processus n’ont pas pu être lus\u00a0: il y a peut-être d’autres services à redémarrer.',
  listOf: (name: string) => `Services à redémarrer de ${name}`,
  sessionOf: (user: string) => `Session de ${user}`,
  theSessionOf: (user: string) => `la session de ${user}`,
  ofPackage: (name: string) => `ancienne version de ${name}`,
  ofFile: (file: string) => `ancien fichier ${file}`,
  ofNeedrestart: 'signalé par needrestart',
  /** The way to the new code where there is no button. */
  ways: {
    session: 'L’ancien code s’arrête à la fin de cette session.',
    container: 'Ne redémarre qu’avec le conteneur.',
    reboot: 'Ne redémarre qu’avec l’hôte.',
    none: 'Revérifiez cette cible pour savoir comment le redémarrer.',
  },
  cuts: {
    panel: 'coupe le panneau un moment',
    host: 'coupe l’accès à l’hôte un moment',
    both: 'coupe le panneau et l’accès à l’hôte un moment',
  } satisfies Record<Interrupted, string> as Record<Interrupted, string>,
  restart: 'Redémarrer',
  restartOf: (service: string, target: string) => `Redémarrer ${service} sur ${target}`,
  services: some,
  restartMany: (count: number) => `Redémarrer ${some(count)}`,
  byContainer: (count: number) =>
    `${some(count)} ne ${count === 1 ? 'redémarre' : 'redémarrent'} qu’avec le conteneur.`,
  byHost: (count: number) =>
    `${some(count)} ne ${count === 1 ? 'redémarre' : 'redémarrent'} qu’avec l’hôte\u00a0: il faut redémarrer l’hôte.`,
  restartContainer: 'Redémarrer le conteneur',
  restartContainerOf: (name: string) => `Redémarrer le conteneur ${name}`,
  question: (what: string, target: string) => `Redémarrer ${what} sur ${target}\u202f?`,
  consequence: (count: number): string =>
    count === 1
      ? 'Il s’arrête un moment\u00a0: ses connexions et ce qu’il fait sont coupés.'
      : 'L’un après l’autre, ils s’arrêtent un moment\u00a0: leurs connexions et ce qu’ils font sont coupés.',
  comesBack: 'Le redémarrage continue sans cette page, qui revient d’elle-même.',
  others: (_count: number) => 'Les autres services continuent, sauf ceux qui en dépendent.',
  stay: (names: string) => `Gardent leurs anciens fichiers\u00a0: ${names}.`,
  names: (names: readonly string[], more: number) =>
    new Intl.ListFormat('fr').format(more > 0 ? [...names, `${more} ${more === 1 ? 'autre' : 'autres'}`] : names),
  /** The ends of a job with an exit code of its script. */
  ends: {
    1: 'Au moins un service n’a pas redémarré. La sortie dit lequel.',
    64: 'Un service a un nom que rien ne redémarre\u00a0: rien n’a été fait.',
    65: 'Un de ces services, ou un autre qui redémarre avec lui, n’est jamais redémarré seul\u00a0: rien n’a été fait. La sortie dit lequel.',
    69: 'Cette cible n’a pas systemd\u00a0: rien n’a été fait.',
    75: 'systemd n’a pas répondu\u00a0: rien n’a été fait. Réessayez.',
  },
}
