import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { soak } from './soak.ts'

const SOURCE = join(import.meta.dirname, '../../serve/main.ts')
/** The service starts as a program, while other tests load the machine. */
const LONG_MS = 60_000

test(
  'an interrupted run stops everything that it started',
  async () => {
    const stopping = new AbortController()
    const folders = () => readdirSync(tmpdir()).filter((name) => name.startsWith('ops-panel-soak-'))
    const before = folders()
    const options = { seconds: 60, clients: 40, seed: 7, json: false, faults: ['lock' as const] }
    const run = soak(options, { program: SOURCE, tell: () => {}, signal: stopping.signal })
    run.catch(() => {})
    await expect.poll(() => folders().length, { timeout: LONG_MS }).toBe(before.length + 1)
    stopping.abort(new Error('enough'))

    await expect(run).rejects.toThrow('enough')
    expect(folders()).toEqual(before)
  },
  LONG_MS,
)
