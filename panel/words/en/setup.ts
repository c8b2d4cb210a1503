import type { setup as fr } from '../fr/setup.ts'

export const setup: typeof fr = {
  title: 'Set up',
}
