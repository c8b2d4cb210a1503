import type { titles as fr } from '../fr/titles.ts'

export const titles: typeof fr = {
  access: { title: 'Access' },
  audit: { title: 'Audit' },
  enrol: { title: 'Passkey' },
  notifications: { title: 'Notifications' },
  oidc: { title: 'Sign-in' },
  schedule: { title: 'Schedule' },
  scheduleRun: { title: 'Scheduled run' },
  schedules: { title: 'Schedules' },
  setup: { title: 'Setup' },
}
