import type { updates as fr } from '../fr/updates.ts'

export const updates: typeof fr = {
  title: 'Updates',
}
