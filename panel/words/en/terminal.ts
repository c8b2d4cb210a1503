import type { terminal as fr } from '../fr/terminal.ts'

export const terminal: typeof fr = {
  title: 'Terminal',
}
