import { expect, test } from 'vitest'
import { DEFAULT_PROTECTION } from '../../../functions/protection/protection.ts'
import { readNotes } from '../../../functions/protection/run-notes.ts'
import { outcomeOfRun, ProtectedRun, runStatements } from '../../../functions/protection/run-record.ts'
import type { EndedJob } from '../../../jobs/jobs.ts'
import { openMigrated } from '../../db/database.ts'
import { recordJob } from '../../db/job.ts'
import { findJob } from '../../../db/jobs.ts'

const BEFORE = [
  ['unit', 'nginx.service', 'good', 'active running'],
  ['socket', 'tcp/443', 'good', 'nginx'],
  ['unit', 'old.service', 'bad', 'failed failed'],
]
const AFTER = [
  ['unit', 'nginx.service', 'bad', 'failed failed'],
  ['unit', 'old.service', 'bad', 'failed failed'],
]
const WORSE = [
  ['unit', 'nginx.service', 'active running', 'failed failed'],
  ['socket', 'tcp/443', 'nginx', null],
]
const NOTES = [
  { phase: 'protecting', at: 1_772_366_400 },
  { snapshot: 'panel-1772366400-k3x9q2pa', kind: 'snapshot', at: 1_772_366_401 },
  { health: 'before', at: 1_772_366_402, items: BEFORE },
  { upgraded: 0 },
  { health: 'after', at: 1_772_366_500, items: AFTER },
  { compared: WORSE, unsteady: [] },
  { phase: 'done', at: 1_772_366_501 },
  { outcome: 'regressed', at: 1_772_366_501 },
].map((note) => JSON.stringify(note))

async function ended(notes: readonly string[], given: Partial<EndedJob> = {}): Promise<EndedJob> {
  const db = await openMigrated()
  await recordJob(db, 'job')
  const row = await findJob(db, 'job')
  if (!row) throw new Error('the job is missing')
  return { db, row, code: 0, cancelled: false, at: '2026-03-01T12:00:00.000Z', notes, ...given }
}

test('a regression is named, and everything is compared, the worst first', async () => {
  const job = await ended(NOTES)
  const report = readNotes(job.notes)
  const run = { target: 'lxc:101', snapshot: 'panel-1772366400-k3x9q2pa', protection: DEFAULT_PROTECTION }

  const [record] = runStatements(run, job, { outcome: outcomeOfRun(report, job, undefined), report })

  expect(record?.args?.[1]).toBe('regressed')
  const stored = ProtectedRun.parse(JSON.parse(String(record?.args?.[2])))
  expect(stored.regressions.map(({ message }) => message)).toEqual([
    'Le service nginx.service est en échec.',
    'Le port tcp/443 n’écoute plus (nginx).',
  ])
  expect(stored.comparison?.map(({ name, state }) => `${name} ${state}`)).toEqual([
    'nginx.service worse',
    'tcp/443 worse',
    'old.service same',
  ])
  expect(stored.phases.map(({ phase }) => phase)).toEqual(['protecting', 'done'])
})

test('a run whose notes are cut off is no upgrade that went well', async () => {
  const job = await ended(NOTES.slice(0, 5))

  expect(outcomeOfRun(readNotes(job.notes), job, undefined)).toBe('failed')
})

test.each([
  ['a lost job that has found a regression', { code: null, notes: NOTES.slice(0, 6) }, undefined, 'regressed'],
  ['a job that was lost before it has found anything', { code: null, notes: NOTES.slice(0, 4) }, undefined, 'failed'],
  [
    'a job that was lost after its rollback',
    { code: null, notes: [...NOTES.slice(0, 6), JSON.stringify({ rollback: 'done', outage: 3 })] },
    undefined,
    'rolled_back',
  ],
  ['a cancelled job', { cancelled: true }, undefined, 'cancelled'],
  ['a changed plan', {}, 'plan_changed', 'plan_changed'],
] as const)('%s has its outcome', async (_, given, error, outcome) => {
  const job = await ended(NOTES, given)

  expect(outcomeOfRun(readNotes(job.notes), job, error)).toBe(outcome)
})

test('a rollback that has ended counts, whatever else the job came to', async () => {
  const job = await ended([JSON.stringify({ outcome: 'rollback_failed' })], { cancelled: true })

  expect(outcomeOfRun(readNotes(job.notes), job, 'plan_unbound')).toBe('rollback_failed')
})

test('lines that are no notes are left out', () => {
  const report = readNotes(['', 'x', '[]', '{"outcome":7}', '{"health":"before","items":[["unit"]]}', '101 done 0'])

  expect(report).toMatchObject({ phases: [], looks: {}, worse: [] })
  expect(report.outcome).toBeUndefined()
})
