export const keys = {
  title: 'Raccourcis clavier',
  palette: 'Ouvrir les commandes',
  filter: 'Filtrer la page',
  follow: 'Suivre la sortie',
  map: 'Afficher ces raccourcis',
  close: 'Fermer',
  leaveTerminal: 'Quitter le terminal',
  show: 'Voir les raccourcis',
  escape: 'Échap',
  shift: 'Maj',
  waiting: 'Aller à… Tapez la lettre d’une page, ou Échap.',
  singleKeys: 'Raccourcis d’une seule touche',
  singleKeysMeans:
    'Désactivez-les si vous dictez ou si des touches se déclenchent par mégarde. Ce choix vaut pour ce navigateur.',
}
