/** The titles of the pages whose other words load later. */
export const titles = {
  access: { title: 'Accès' },
  audit: { title: 'Audit' },
  enrol: { title: 'Clé d’accès' },
  logs: { title: 'Journaux' },
  module: { title: 'Module' },
  notifications: { title: 'Notifications' },
  oidc: { title: 'Connexion' },
  schedule: { title: 'Planification' },
  scheduleRun: { title: 'Exécution planifiée' },
  schedules: { title: 'Planifications' },
  setup: { title: 'Installation' },
  terminal: { title: 'Terminal' },
}
