export const keys = {
  title: 'Raccourcis clavier',
  palette: 'Ouvrir la palette de commandes',
  filter: 'Filtrer cette page',
  follow: 'Suivre la sortie',
  map: 'Afficher les raccourcis clavier',
  close: 'Fermer',
  leaveTerminal: 'Quitter le terminal',
  show: 'Afficher les raccourcis',
  escape: 'Échap',
  shift: 'Maj',
  waiting: 'Aller à… Appuyez sur la lettre d’une page, ou sur Échap.',
  singleKeys: 'Raccourcis d’une seule touche',
  singleKeysMeans:
    'Désactivez-les si vous utilisez la saisie vocale ou si vous appuyez sur des touches par mégarde. Ce choix vaut pour ce navigateur.',
}
