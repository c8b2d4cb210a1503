import type { titles as fr } from '../fr/titles.ts'

export const titles: typeof fr = {
  access: { title: 'Access' },
  audit: { title: 'Audit' },
  enrol: { title: 'Passkey' },
  logs: { title: 'Logs' },
  module: { title: 'Module' },
  notifications: { title: 'Notifications' },
  oidc: { title: 'Sign-in' },
  schedule: { title: 'Schedule' },
  scheduleRun: { title: 'Scheduled run' },
  schedules: { title: 'Schedules' },
  setup: { title: 'Setup' },
  terminal: { title: 'Terminal' },
}
