import { randomBytes } from 'node:crypto'
import * as z from 'zod'

/** The id of a run. The schema accepts any string; a lookup in the database decides whether the run exists. */
export const RunId = z.string().meta({
  id: 'RunId',
  description: 'Names a run: several plans that were started together.',
  examples: ['9d1e0f2c3b4a596877665544'],
  override: { pattern: '^[0-9a-f]{24}$' },
})

/** Makes the id of a new run. */
export function newRunId(): string {
  return randomBytes(12).toString('hex')
}

/** The id of the documents' examples. */
export const EXAMPLE_RUN = '9d1e0f2c3b4a596877665544'

/** Most plans of one run: more containers than one host has. */
export const MOST_PLANS = 200
