import type { audit as fr } from '../fr/audit.ts'

export const audit: typeof fr = {
  title: 'Audit',
}
