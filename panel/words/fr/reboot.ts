const some = (count: number, one: string, more: string) => (count === 1 ? `1 ${one}` : `${count} ${more}`)

export const reboot = {
  verb: 'Redémarrer l’hôte',
  follow: 'Suivre',
  seeJob: 'Voir la tâche',
  required: 'Redémarrage requis',
  reasons: (reasons: string) => `Redémarrage requis\u00a0: ${reasons}`,
  unnamed: 'des mises à jour le demandent',
  title: (host: string) => `Redémarrer ${host}\u202f?`,
  interrupts: (count: number, names: string) =>
    count === 0
      ? 'Aucun conteneur n’est en marche.'
      : `${some(count, 'conteneur en marche s’arrête', 'conteneurs en marche s’arrêtent')} avec l’hôte\u00a0: ${names}.`,
  interruptsAll: 'Tous les conteneurs en marche s’arrêtent avec l’hôte.',
  onboot: 'Ceux qui démarrent avec l’hôte reviennent ensuite. La page du redémarrage nomme les autres.',
  self: 'Ce panneau s’arrête aussi\u00a0: cette page attend, et revient d’elle-même.',
  alone: 'Jusqu’à la fin, aucune autre tâche ne commence.',
  steps: 'Étapes du redémarrage',
  stops: { asked: 'Demandé', away: 'Départ', back: 'Retour', containers: 'Conteneurs' },
  states: {
    done: 'fait',
    now: 'en cours',
    fail: 'échec',
    warn: 'incomplet',
    ahead: 'à venir',
    off: 'pas atteint',
  },
  notes: {
    queued: 'après les vérifications',
    answers: 'l’hôte répond encore',
    silent: 'l’hôte ne répond plus',
    back: 'redémarrage confirmé',
    starting: 'ils démarrent',
    all: 'tous en marche',
    missing: (count: number) => some(count, 'manque', 'manquent'),
  },
  told: {
    queued: 'L’hôte redémarre dès que les vérifications en cours sont finies.',
    answers: 'L’hôte arrête ses conteneurs, puis redémarre. Il a 15 minutes pour revenir.',
    silent: 'L’hôte redémarre\u202f; cette page revient d’elle-même. Il a 15 minutes pour revenir.',
    containers: 'L’hôte a bien redémarré. Ses conteneurs ont 5 minutes pour démarrer.',
  },
  since: (time: string) => `depuis ${time}`,
  done: 'Redémarré',
  warned: 'Redémarré, avec des avertissements',
  notBack: (count: number) =>
    count === 1 ? 'Un conteneur n’est pas revenu' : `${count} conteneurs ne sont pas revenus`,
  runsAgain: 'En marche',
  toContainers: 'Voir les conteneurs',
  underWay: 'Le redémarrage de l’hôte est lancé\u202f; cette page revient d’elle-même.',
  away: {
    reboot: 'L’hôte redémarre\u202f; cette page revient d’elle-même. Rien n’est perdu.',
    late: 'L’hôte redémarre depuis plus de 15 minutes, et ce panneau ne répond pas. Regardez la console de l’hôte.',
    upgrade: (of: string) =>
      `La mise à jour ${of} coupe le panneau un moment. Elle continue, et cette page revient d’elle-même.`,
    rollback: (of: string) =>
      `Le retour en arrière ${of} coupe le panneau un moment. Il continue, et cette page revient d’elle-même.`,
    restart: (of: string) =>
      `Le redémarrage de services ${of} coupe le panneau un moment. Cette page revient d’elle-même.`,
  },
  failed: 'Le redémarrage de l’hôte n’a pas abouti.',
  gone: (names: string) => `Pas revenus après le redémarrage de l’hôte\u00a0: ${names}.`,
}
