import { expect, test } from 'vitest'
import { needsOf } from '../../../panel/nouns/needs.ts'
import { outcomeOf } from '../../../panel/nouns/outcome.ts'
import { type Listed, withStanding } from '../../../panel/nouns/standing.ts'
import { newsOf } from '../../../panel/nouns/upgrade-news.ts'
import { check } from './checks.ts'

const at = (minute: number) => `2026-03-01T12:${String(minute).padStart(2, '0')}:00.000Z`
const unfit = { job_id: 'unfit', outcome: 'plan_changed', exit_code: null, finished_at: at(50) } as const
const job = (minute: number, rest: Partial<Listed> = {}): Listed => ({
  job_id: `job-${minute}`,
  target: 'lxc:101',
  status: 'success',
  finished_at: at(minute),
  exit_code: 0,
  error_code: null,
  containers: null,
  ...rest,
})
const failed = (minute: number) => job(minute, { exit_code: 100 })
const changed = job(50, { job_id: 'unfit', status: 'error', exit_code: null, error_code: 'plan_changed' })
const part = (state: 'done' | 'failed' | 'waiting') => [
  { vmid: 101, name: 'web', state, exit_code: state === 'done' ? 0 : 100 },
]
const of = (jobs: Listed[], rest: Parameters<typeof check>[1] = {}) =>
  withStanding([check('lxc:101', { waits: 2, last_upgrade: unfit, ...rest })], [changed, ...jobs])[0]

test('a failure stands after an upgrade that changed nothing, and needs somebody', () => {
  const found = of([failed(40)])
  expect(found).toMatchObject({ state: 'attention', unfit, last_upgrade: { job_id: 'job-40', outcome: 'failed' } })
  expect(found && needsOf(found)).toBe('broken')
  // The dashboard tells the failure too.
  const listed = [changed, failed(40)].map((each) => {
    const { status, exit_code: exitCode, error_code: errorCode, finished_at = '' } = each
    return { ...each, started_at: finished_at, outcome: outcomeOf({ status, exitCode, errorCode }) }
  })
  expect(listed[0]?.outcome).toBe('unfit')
  expect(newsOf(listed, found ? [found] : [])).toEqual([
    { target: 'lxc:101', job: 'job-40', at: at(40), outcome: 'failed' },
  ])
})

test('an upgrade that changed nothing keeps a good state when no failure is before it', () => {
  for (const jobs of [[], [job(40), failed(30)], [job(40, { target: 'lxc:102', exit_code: 100 })]])
    expect(of(jobs)).toMatchObject({ state: 'ready', unfit, last_upgrade: unfit })
})

test('several upgrades that changed nothing end no failure, and a job that runs or repairs is no upgrade', () => {
  const between = [
    job(46, { status: 'running', finished_at: undefined }),
    job(45, { job_id: 'other', status: 'error', error_code: 'plan_changed' }),
    job(44, { kind: 'check' }),
  ]
  expect(of([...between, failed(40)])).toMatchObject({ last_upgrade: { job_id: 'job-40' } })
})

test.each([
  ['failed', 'attention'],
  ['done', 'ready'],
  ['waiting', 'ready'],
] as const)('the part of an upgrade of all that is %s gives %s', (state, expected) => {
  const ofAll = job(40, { target: 'all', containers: part(state) })
  expect(of([ofAll])?.state).toBe(expected)
})

test('a later repair, or a later check with nothing to install, ends the failure', () => {
  const repaired = job(45, { kind: 'remedy' })
  expect(of([repaired, failed(40)], { checked_at: at(55) })?.state).toBe('ready')
  expect(of([repaired, failed(40)], { checked_at: at(30) })?.state).toBe('attention')
  expect(of([failed(40)], { checked_at: at(55), waits: 0 })?.state).toBe('up_to_date')
  expect(of([failed(40)], { checked_at: at(55) })?.state).toBe('attention')
})

test('what is worse than a failure stays, and other results are as they were', () => {
  expect(of([failed(40)], { state: 'blocked' })?.state).toBe('blocked')
  const other = check('lxc:101', { waits: 2, last_upgrade: { ...unfit, outcome: 'done' } })
  expect(withStanding([other], [failed(40)])).toEqual([other])
})
