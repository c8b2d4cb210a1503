import type { output as fr } from '../fr/output.ts'

export const output: typeof fr = {
  title: 'Output',
}
