import type { modules as fr } from '../fr/modules.ts'

export const modules: typeof fr = {
  title: 'Modules',
}
