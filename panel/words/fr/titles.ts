/** The titles of the pages whose other words load later. */
export const titles = {
  audit: { title: 'Audit' },
  notifications: { title: 'Notifications' },
  schedule: { title: 'Planification' },
  scheduleRun: { title: 'Exécution planifiée' },
  schedules: { title: 'Planifications' },
}
