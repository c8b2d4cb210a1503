import type { titles as fr } from '../fr/titles.ts'

export const titles: typeof fr = {
  audit: { title: 'Audit' },
  notifications: { title: 'Notifications' },
  schedule: { title: 'Schedule' },
  scheduleRun: { title: 'Scheduled run' },
  schedules: { title: 'Schedules' },
}
