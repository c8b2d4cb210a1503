import { expect, test } from 'vitest'
import { markLaunched, setPhase } from '../../../db/jobs.ts'
import job from '../../../functions/jobs/job.get.ts'
import jobs from '../../../functions/jobs/jobs.get.ts'
import { DEFAULT_PROTECTION, type Protection } from '../../../functions/protection/protection.ts'
import { testApp } from '../../app.ts'
import { recordJob } from '../../db/job.ts'
import { answered } from '../answers.ts'

const at = (second: number) => `2026-03-01T12:00:${String(second).padStart(2, '0')}.000Z`

/** A service with an upgrade that was started with this protection, and what one job and the list tell of it. */
async function running({ target = 'lxc:101', protection }: { target?: string; protection?: Protection }) {
  const app = await testApp([job, jobs])
  const args = JSON.stringify({ target, ...(protection && { protection }) })
  const followed = await recordJob(app.db, '1772366400-k3x9q2pa', { target, args })
  const read = async () =>
    answered(await app.request('GET', '/api/updates/jobs/1772366400-k3x9q2pa', { as: 'user' }), 200)
  const list = async () => answered(await app.request('GET', '/api/updates/jobs', { as: 'user' }), 200)
  const phase = (name: string, second: number) => setPhase(app.db, followed, { phase: name, at: at(second) })
  return { db: app.db, followed, read, list, phase }
}

test('a protected upgrade tells its policy from the start, and each phase once it has begun', async () => {
  const { db, followed, read, list, phase } = await running({ protection: DEFAULT_PROTECTION })
  const start = { protection: DEFAULT_PROTECTION, phases: [], comparison: null, outcome: null }
  expect(await read()).toMatchObject({ ...start, phase: 'waiting' })
  expect(await list()).toMatchObject({ jobs: [{ protection: DEFAULT_PROTECTION, phase: 'waiting' }] })

  await markLaunched(db, followed)
  expect(await read()).toMatchObject({ ...start, phase: 'protecting' })

  expect(await phase('protecting', 1)).toBe(true)
  expect(await phase('protecting', 2)).toBe(false)
  expect(await phase('measuring', 3)).toBe(true)

  const phases = [
    { phase: 'protecting', at: at(1) },
    { phase: 'measuring', at: at(3) },
  ]
  expect(await read()).toMatchObject({ ...start, phases, phase: 'measuring' })
  // One query serves all lists of a moment.
  await expect.poll(list).toMatchObject({ jobs: [{ protection: DEFAULT_PROTECTION, phase: 'measuring' }] })
})

test.each([
  ['without a policy', {}],
  ['with a policy that wants nothing', { protection: { ...DEFAULT_PROTECTION, before: 'none' } }],
  ['of the host', { target: 'host', protection: DEFAULT_PROTECTION }],
] as const)('an upgrade %s has no protection, and begins with the upgrade itself', async (_, given) => {
  const { db, followed, read, list } = await running(given)
  await markLaunched(db, followed)

  expect(await read()).toMatchObject({ protection: null, phase: 'upgrading', phases: [] })
  expect(await list()).toMatchObject({ jobs: [{ protection: null, phase: 'upgrading' }] })
})

test('a host that repeats phases without end does not fill the row', async () => {
  const { read, phase } = await running({ protection: DEFAULT_PROTECTION })

  for (let n = 0; n < 200; n += 1) await phase(n % 2 === 0 ? 'settling' : 'comparing', 1)

  const { phases, phase: last } = (await read()) as { phases: unknown[]; phase: string }
  expect(phases).toHaveLength(30)
  expect(last).toBe('comparing')
})
