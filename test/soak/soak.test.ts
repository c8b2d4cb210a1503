import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describe } from './report.ts'
import { soak } from './soak.ts'

const SOURCE = join(import.meta.dirname, '../../serve/main.ts')
const OPTIONS = { seconds: 10, clients: 40, seed: 7, json: false }
/** Generous: two waits for jobs of ten seconds, on a machine that runs other tests. */
const LONG_MS = 300_000

test(
  'forty clients lose nothing while the service is killed and its database locked',
  async () => {
    const report = await soak(
      // On a machine that runs other tests, ten seconds are too short for several jobs.
      { ...OPTIONS, seconds: 40, faults: ['kill', 'lock'] },
      { program: SOURCE, tell: () => {}, signal: new AbortController().signal },
    )

    const text = describe(report)
    expect(report.findings.none(), text).toBe(true)
    expect(report.lives).toBeGreaterThan(1)
    expect(report.struck.get('lock')).toBeGreaterThan(0)
    expect(report.ledger.followed.length).toBeGreaterThan(5)
    expect(text).toMatch(/^ {2}bytes of output lost +0$/m)
  },
  LONG_MS,
)

test(
  'an interrupted run stops everything that it started',
  async () => {
    const stopping = new AbortController()
    const folders = () => readdirSync(tmpdir()).filter((name) => name.startsWith('ops-panel-soak-'))
    const before = folders()
    const options = { ...OPTIONS, seconds: 60, faults: ['lock' as const] }
    const run = soak(options, { program: SOURCE, tell: () => {}, signal: stopping.signal })
    run.catch(() => {})
    await expect.poll(() => folders().length, { timeout: LONG_MS }).toBe(before.length + 1)
    stopping.abort(new Error('enough'))

    await expect(run).rejects.toThrow('enough')
    expect(folders()).toEqual(before)
  },
  LONG_MS,
)
