import type { run as fr } from '../fr/run.ts'

export const run: typeof fr = {
  title: 'Several upgrades',
  ended: (ended: number, all: number) => `${ended} of ${all} ended`,
}
