import type { palette as fr } from '../fr/palette.ts'

export const palette: typeof fr = {
  title: 'Commands',
}
