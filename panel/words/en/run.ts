import type { run as fr } from '../fr/run.ts'

export const run: typeof fr = {
  title: 'Several upgrades',
  decide: (count: number) => `${count} broken: your decision`,
  ended: (ended: number, all: number) => `${ended} of ${all} ended`,
}
