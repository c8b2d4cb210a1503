/** The description of each area in the documents. */
export const areas: Readonly<Record<string, string>> = {
  auth: 'Sign-in with the host’s own accounts, sessions and preferences.',
  updates: 'Available updates, upgrades as jobs, and their output.',
  hypervisor: 'The host and its containers.',
  modules: 'Installed modules of the panel.',
  registry: 'Modules that a forge offers, and their installation.',
  notifications: 'Notices of what happened, and the channels that they are sent to.',
  repair: 'Modules that do not work.',
  schedules: 'Checks and upgrades at set times, and what each time came to.',
  settings: 'The connection to the host, and settings that every user sees.',
  dashboard: 'Each user’s own start page.',
  audit: 'The audit log.',
  install: 'The first start of a new service.',
  documents: 'The documents of this API.',
  health: 'The health of the service.',
  metrics: 'Metrics for Prometheus.',
}
