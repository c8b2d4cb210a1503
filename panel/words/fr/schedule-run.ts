/** The words of the page of a run, and of the list of all runs of a schedule. */
export const run = {
  title: (name: string, state: string) => `${name}\u00a0: ${state.toLowerCase()}`,
  of: (when: string) => `Prévue ${when}`,
  byHand: (name: string, when: string) => `Lancée par ${name} ${when}`,
  took: (duration: string) => `en ${duration}`,
  closes: (time: string) => `plus rien ne commence après ${time}`,
  cancelledBy: (name: string) => `annulée par ${name}`,
  missed: (count: number) => (count === 1 ? '1 heure manquée' : `${count} heures manquées`),
  whyMissed: (reason: string) => `Rien n’a été fait\u00a0: ${reason}.`,
  whyStopped: (reason: string, isCut: boolean) =>
    `Arrêtée\u00a0: ${reason}.${isCut ? ' Les vagues suivantes n’ont pas commencé.' : ''}`,
  whyClosed: 'La plage s’est terminée avant la fin. Ce qui n’a pas commencé attend la prochaine fois.',
  whyPartial:
    'Des cibles ont été laissées de côté, et le seront chaque fois\u00a0: une planification des seuls correctifs de sécurité n’y fait rien. Mettez-les à jour par une planification de tous les paquets.',
  pingFailed: (reason: string) => `L’adresse de surveillance n’a pas pu être appelée\u00a0: ${reason}`,
  whyCancelled: 'Ce qui avait commencé est allé jusqu’au bout, rien d’autre n’a commencé.',
  stations: { done: 'faite', now: 'en cours', fail: 'en échec', ahead: 'à venir', off: 'non atteinte' },
  packages: (count: number) => (count === 1 ? '1 paquet' : `${count} paquets`),
  decided: {
    keep: (name: string) => `${name} garde la mise à jour`,
    rollback: (name: string) => `${name} a choisi de revenir en arrière`,
  },
  night: {
    title: 'Chronologie',
    axis: (day: string, from: string, to: string) => `${day}, de ${from} à ${to}`,
    span: (from: string, to: string | undefined) => (to === undefined ? `depuis ${from}` : `${from} – ${to}`),
    closes: (time: string) => `fin de la plage\u00a0: ${time}`,
  },
  history: 'Toutes les exécutions',
  historyOf: (name: string) => `Toutes les exécutions\u00a0: ${name}`,
  noRuns: 'Aucune exécution pour l’instant. La première apparaîtra ici.',
  older: 'Afficher les plus anciennes',
  kept: 'Les 200 dernières sont gardées.',
  startedBy: (name: string) => `lancée par ${name}`,
  queued: 'En attente',
  planning: 'Plans en préparation',
  pauseUntil: (time: string) => `Attente jusqu’à ${time}`,
  pauseOf: (duration: string) => `puis ${duration} d’attente`,
  noTargets: 'Aucune cible pour l’instant.',
  notReached: 'Cette vague n’a pas commencé.',
  ahead: 'Cette vague attend les précédentes.',
  target: 'Cible',
  state: 'État',
  reason: 'Détail',
  job: 'Mise à jour',
  check: 'Vérification',
  together: 'Toutes ses mises à jour',
  reboot: 'Redémarrage de l’hôte',
  rebootCheck: 'Vérification qui en décide',
  rebootJob: 'Suivre le redémarrage',
  rebootOutcome: (outcome: string | null): string =>
    outcome === null
      ? 'En cours'
      : outcome === 'rebooted'
        ? 'Redémarré'
        : outcome === 'not_required'
          ? 'Pas nécessaire'
          : /^(not_started|skipped)$/.test(outcome)
            ? 'Pas commencé'
            : 'Échec',
  cancel: 'Annuler cette exécution',
  cancelling: {
    title: 'Annuler cette exécution\u202f?',
    text: 'Rien d’autre ne commence. Ce qui est en cours va jusqu’au bout.',
    verb: 'Annuler l’exécution',
  },
  keep: 'Laisser continuer',
  cancelAsked: (name: string) => `${name} l’annule\u00a0: ce qui est en cours se termine.`,
  toSchedule: 'Planification',
  toAll: 'Toutes les planifications',
}
