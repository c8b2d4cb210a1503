import { expect, test } from 'vitest'
import { DEFAULT_PROTECTION } from '../../../functions/protection/protection.ts'
import { shownOf } from '../../../panel/nouns/checked.ts'
import { needsOf } from '../../../panel/nouns/needs.ts'
import { outcomeOf } from '../../../panel/nouns/outcome.ts'
import { type Listed, withHarm } from '../../../panel/nouns/standing.ts'
import { actionOf, arrange, groupOf } from '../../../panel/nouns/target-list.ts'
import { newsOf } from '../../../panel/nouns/upgrade-news.ts'
import { check } from './checks.ts'

const at = (minute: number) => `2026-03-01T12:${String(minute).padStart(2, '0')}:00.000Z`
const job = (minute: number, rest: Partial<Listed> = {}): Listed => ({
  job_id: `job-${minute}`,
  target: 'lxc:101',
  status: 'success',
  finished_at: at(minute),
  exit_code: 0,
  error_code: null,
  containers: null,
  outcome: 'upgraded',
  protection: DEFAULT_PROTECTION,
  decided: null,
  regressions: [],
  ...rest,
})
const broken = (minute: number, rest: Partial<Listed> = {}) => job(minute, { outcome: 'regressed', ...rest })
const of = (jobs: Listed[], rest: Parameters<typeof check>[1] = {}) => {
  const [found] = withHarm([check('lxc:101', { waits: 2, ...rest })], jobs)
  if (!found) throw new Error('no target')
  return found
}
const ADMIN = { isRunning: false, isAdmin: true, mayOperate: true }

test('a broken target needs somebody, comes first, and leads to the comparison', () => {
  const found = of([broken(30)])
  expect(found.harm).toMatchObject({ job_id: 'job-30', ending: 'broken' })
  expect(shownOf(found)).toEqual({ kind: 'err', word: 'broken' })
  expect([needsOf(found), groupOf(found, false), actionOf(found, ADMIN)]).toEqual(['broken', 'need', 'decide'])
  const blocked = check('lxc:100', { state: 'blocked' })
  expect(arrange([blocked, found], 'urgency', new Set())).toEqual([{ group: 'need', targets: ['lxc:101', 'lxc:100'] }])
})

test('a stopped container is broken all the same', () => {
  const found = of([job(30, { outcome: 'rollback_failed' })], { state: 'stopped', waits: 0 })
  expect([shownOf(found).word, needsOf(found), groupOf(found, false)]).toEqual(['broken', 'broken', 'need'])
  expect(actionOf(found, ADMIN)).toBe('decide')
})

test('a target that went back says why', () => {
  const found = of([job(30, { outcome: 'rolled_back' })])
  expect(shownOf(found)).toEqual({ kind: 'back', word: 'back' })
  expect([needsOf(found), actionOf(found, ADMIN)]).toEqual(['attention', 'why'])
})

test('a kept upgrade and a later one end the harm, and one without an effect does not', () => {
  const kept = { by: 'demo', at: at(31), choice: 'keep' as const, job_id: null }
  expect(of([broken(30, { decided: kept })]).harm).toBeUndefined()
  expect(of([job(40), broken(30)]).harm).toBeUndefined()
  const without = job(40, { status: 'error', error_code: 'plan_changed', outcome: 'plan_changed' })
  expect(of([without, broken(30)]).harm).toMatchObject({ ending: 'broken' })
})

test('the rollback of a person may fail, until a check finds the container well', () => {
  const decided = { by: 'demo', at: at(31), choice: 'rollback' as const, job_id: 'job-32' }
  const jobs = [job(32, { kind: 'rollback', outcome: 'rollback_failed' }), broken(30, { decided })]
  expect(of(jobs, { checked_at: at(10) }).harm).toMatchObject({ job_id: 'job-32', ending: 'stuck' })
  expect(of(jobs, { checked_at: at(50) }).harm).toBeUndefined()
  expect(of(jobs, { checked_at: at(50), state: 'stopped' }).harm).toMatchObject({ ending: 'stuck' })
  // The service records a decision only with a rollback that has succeeded.
  const failed = [job(32, { kind: 'rollback', outcome: 'rollback_failed' }), broken(30)]
  expect(of(failed, { checked_at: at(10) }).harm).toMatchObject({ job_id: 'job-32', ending: 'stuck' })
  const other = job(32, { kind: 'rollback', outcome: 'rollback_failed', target: 'lxc:102' })
  expect(of([other, broken(30)]).harm).toMatchObject({ job_id: 'job-30', ending: 'broken' })
  const former = job(20, { kind: 'rollback', outcome: 'rollback_failed' })
  expect(of([broken(30), former]).harm).toMatchObject({ job_id: 'job-30', ending: 'broken' })
})

test('the result itself tells the harm of an upgrade that is too old for the list of jobs', () => {
  const last = { job_id: 'old', exit_code: 0, finished_at: at(1), regressions: 3, on_failure: 'ask' } as const
  const harm = { job_id: 'old', finished_at: at(1), regressions: [], count: 3 }
  const regressed = { ...last, outcome: 'regressed' } as const
  expect(of([], { last_upgrade: regressed }).harm).toEqual({ ...harm, ending: 'broken' })
  expect(of([], { last_upgrade: { ...last, outcome: 'rolled_back' } }).harm).toEqual({ ...harm, ending: 'back' })
  const kept = { by: 'demo', at: at(31), choice: 'keep' as const, job_id: null }
  expect(of([], { last_upgrade: { ...regressed, decided: kept } }).harm).toBeUndefined()
  expect(of([], { last_upgrade: { ...regressed, on_failure: 'keep' } }).harm).toBeUndefined()
  expect(of([], { last_upgrade: { ...last, outcome: 'done' } }).harm).toBeUndefined()
  // The list knows more: somebody has decided since the result was read.
  expect(of([broken(1, { job_id: 'old', decided: kept })], { last_upgrade: regressed }).harm).toBeUndefined()
})

test('the dashboard tells it once, with its job, until a later upgrade', () => {
  const told = (jobs: Listed[], rest: Parameters<typeof check>[1] = {}) => {
    const upgrades = jobs.filter(({ kind }) => kind === undefined)
    const listed = upgrades.map(({ finished_at = '', ...each }) => ({
      ...each,
      started_at: finished_at,
      outcome: outcomeOf({ status: each.status, exitCode: each.exit_code, errorCode: each.error_code, told: each }),
    }))
    return newsOf(listed, [of(jobs, rest)])
  }
  const news = { target: 'lxc:101', job: 'job-30', at: at(30), outcome: 'broken' }
  expect(told([broken(30)])).toEqual([news])
  expect(told([job(40), broken(30)])).toEqual([])
  // An upgrade that was refused has changed nothing.
  const refused = job(40, { status: 'error', exit_code: null, error_code: 'protection_unavailable', outcome: 'failed' })
  expect(told([refused, broken(30)])).toEqual([news])
  const stuck = job(32, { kind: 'rollback', outcome: 'rollback_failed' })
  expect(told([stuck, broken(30)])).toEqual([{ ...news, job: 'job-32', at: at(32), outcome: 'stuck' }])
  const last = { job_id: 'old', outcome: 'regressed', exit_code: 0, finished_at: at(1), on_failure: 'ask' } as const
  expect(told([], { last_upgrade: last })).toEqual([{ ...news, job: 'old', at: at(1) }])
})

test('the update of an application harms its target, too, and a package upgrade without harm does not end that', () => {
  const harmful = broken(30, { kind: 'application' })

  expect(of([harmful]).harm).toMatchObject({ job_id: 'job-30', ending: 'broken' })
  expect(of([job(40), harmful]).harm).toMatchObject({ job_id: 'job-30' })
  expect(of([job(40, { kind: 'application' }), broken(30)]).harm).toMatchObject({ job_id: 'job-30' })
  expect(of([job(40, { kind: 'application' }), harmful]).harm).toBeUndefined()
  for (const error_code of ['source_changed', 'not_agreed', 'application_not_begun'])
    expect(
      of([job(40, { kind: 'application', status: 'error', outcome: 'failed', error_code }), harmful]).harm,
    ).toMatchObject({ job_id: 'job-30' })
})

/** The result of a target that names the update of an application. */
const stored = (outcome: 'regressed' | 'failed') => ({
  state: 'attention' as const,
  waits: 0,
  last_upgrade: {
    ...{ job_id: 'job-10', application: 'shop', outcome, exit_code: outcome === 'failed' ? 1 : 0, finished_at: at(10) },
    ...{ regressions: 1, on_failure: 'ask' as const, decided: null },
  },
})

test('an application that is broken stays so after newer jobs of packages and of other applications', () => {
  for (const jobs of [[], [job(40)], [job(40, { kind: 'application' })], [job(40), job(30, { kind: 'application' })]])
    expect(of(jobs, stored('regressed')).harm).toMatchObject({ job_id: 'job-10', ending: 'broken' })
  const kept = { by: 'demo', at: at(31), choice: 'keep' as const, job_id: null }
  const decided = job(10, { kind: 'application', outcome: 'regressed', decided: kept })
  expect(of([job(40), decided], stored('regressed')).harm).toBeUndefined()
})

test('an application whose update failed is told with its job, also after a newer upgrade, and is not retried as packages', () => {
  const found = of([job(40)], stored('failed'))
  expect([shownOf(found).word, needsOf(found), actionOf(found, ADMIN)]).toEqual(['failed', 'broken', 'show'])
  const newer = { job_id: 'job-40', target: 'lxc:101', started_at: at(39), outcome: 'done' as const }
  expect(newsOf([newer], [found])).toEqual([{ target: 'lxc:101', job: 'job-10', at: at(10), outcome: 'failed' }])
})
