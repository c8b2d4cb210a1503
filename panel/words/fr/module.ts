/** The words of a module's own page. */
export const module = {
  title: 'Module',
  modules: 'Modules',
  refresh: 'Actualiser',
  empty: 'Rien à montrer.',
  noParts: 'Rien de cette page n’est accessible avec vos droits.',
  noList: 'La réponse du module ne contient pas la liste attendue. Signalez-le à son auteur.',
  shown: (count: string, all: string) => `Les ${count} premières lignes, sur ${all}`,
  actions: 'Actions',
  actionOf: (label: string, row: string) => `${label}\u00a0: ${row}`,
  yes: 'oui',
  no: 'non',
  nothing: '—',
  done: (label: string) => `${label}\u00a0: fait.`,
  submit: 'Enregistrer',
  choose: 'Choisir…',
  secretSet: 'Une valeur est enregistrée. Inchangée si vide.',
  secretRemove: (label: string) => `Supprimer la valeur enregistrée (${label})`,
  fault: {
    required: 'À remplir.',
    number: 'Saisissez un nombre.',
    whole: 'Saisissez un nombre entier.',
    least: (limit: string) => `${limit} au moins.`,
    most: (limit: string) => `${limit} au plus.`,
    shortest: (limit: string) => `${limit} caractères au moins.`,
    longest: (limit: string) => `${limit} caractères au plus.`,
  },
  stopped: {
    flood:
      'La page de ce module a été arrêtée\u00a0: elle envoyait au panneau plus de messages qu’il ne peut en traiter.',
    focus:
      'La page de ce module a été arrêtée\u00a0: elle prenait le clavier pendant une question du panneau. Si vous y tapiez votre mot de passe, changez-en.',
    typing:
      'La page de ce module a été arrêtée\u00a0: elle prenait le clavier pendant que vous écriviez dans le panneau. Si c’était un secret, changez-le.',
  },
  startAgain: 'La relancer',
  frameOf: (name: string) => `Page du module ${name}`,
  bridge: {
    invalid: 'Le message n’a pas la forme attendue, ou dépasse 64 Kio.',
    notDeclared: 'Le module ne déclare pas cette fonction, ou vos droits ne suffisent pas.',
    busy: 'Trop d’appels sont en cours.',
    tooLarge: 'La réponse dépasse 1 Mio.',
    failed: 'L’appel a échoué.',
  },
}
