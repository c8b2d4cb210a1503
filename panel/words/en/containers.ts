import type { containers as fr } from '../fr/containers.ts'

export const containers: typeof fr = {
  title: 'Containers',
}
