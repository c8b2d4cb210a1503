import type { job as fr } from '../fr/job.ts'

export const job: typeof fr = {
  title: 'Upgrade',
}
