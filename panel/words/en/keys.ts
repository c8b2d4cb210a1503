import type { keys as fr } from '../fr/keys.ts'

export const keys: typeof fr = {
  title: 'Keyboard shortcuts',
}
