import type { dashboard as fr } from '../fr/dashboard.ts'

export const dashboard: typeof fr = {
  title: 'Dashboard',
}
