import { randomInt } from 'node:crypto'
import { onTestFailed } from 'vitest'
import { createRandom, type Random } from './soak/random.ts'

/** `npm run test:long`: many rounds, every combination, and another seed each time. */
export const isLong = process.env.LONG === '1'

/** Returns the number of trials of a property: `few` in `npm test`, `many` in `npm run test:long`. */
export const rounds = (few: number, many: number): number => (isLong ? many : few)

/**
 * The seed of a test file. `npm test` always uses the same one, so that a failure comes from a change and not from
 * chance. `npm run test:long` uses a random one and prints how to repeat it.
 */
export function seedOf(file: string, project: 'unit' | 'unit-alone' | 'whole' | 'panel' | 'host' = 'unit'): number {
  const seed = Number(process.env.TEST_SEED ?? (isLong ? randomInt(2 ** 31) : 20_260_301))
  if (isLong) console.info(`seed ${seed}; again: LONG=1 TEST_SEED=${seed} npx vitest run --project ${project} ${file}`)
  return seed
}

/** The random numbers of a running test. The message of its failure names the seed. */
export function randomOf(seed: number): Random {
  onTestFailed(({ task }) => {
    for (const error of task.result?.errors ?? []) error.message += `\n(seed ${seed}: TEST_SEED=${seed} repeats it)`
  })
  return createRandom(seed)
}
