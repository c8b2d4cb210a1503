/** The meaning of each option of the line of `authorized_keys`, in French; `optional` ones are not in it. */
export const KEY_PARTS = [
  {
    text: 'restrict',
    message:
      'La clé ne permet que d’exécuter des commandes : ni redirection de port, ni agent, ni X11, ni fichier ~/.ssh/rc.',
    optional: false,
  },
  {
    text: 'pty',
    message: 'Le panneau ouvre des terminaux ; sans cette option, ils ne s’ouvrent pas.',
    optional: false,
  },
  {
    text: 'from="<adresse du panneau>"',
    message:
      'À ajouter devant, suivi d’une virgule, si l’adresse du panneau ne change pas : la clé ne sert alors que de là.',
    optional: true,
  },
] as const
