import { expect, test } from 'vitest'
import { DEFAULT_PROTECTION, Protection } from '../../../functions/protection/protection.ts'
import { comparedGroups, works } from '../../../panel/nouns/comparison.ts'
import { endingOf } from '../../../panel/nouns/ending.ts'
import { draftOf, lineOf, policyFrom, wordsOf } from '../../../panel/nouns/policy-form.ts'
import { guardOf, jobOf, presentOf } from '../../../panel/nouns/protection.ts'

type Can = { snapshot: boolean | null; backup: boolean | null; why: string | null }
const told = (before: Protection['before'], can: Partial<Can> = {}) => ({
  default: DEFAULT_PROTECTION,
  targets: [
    {
      target: 'lxc:101',
      name: 'web',
      protection: { ...DEFAULT_PROTECTION, before },
      own: true,
      can: { snapshot: true, backup: true, why: null, ...can },
      snapshots: [],
    },
  ],
  storages: [],
})

test.each([
  ['auto', {}, 'snapshot'],
  ['auto', { snapshot: null }, 'snapshot'],
  ['auto', { snapshot: false }, 'without'],
  ['snapshot', { snapshot: false }, 'impossible'],
  ['backup', {}, 'backup'],
  ['backup', { backup: false }, 'impossible'],
  ['none', {}, 'none'],
] as const)('the guard of a policy %s where the storage can %j is %s', (before, can, kind) => {
  expect(guardOf('lxc:101', told(before, can))?.kind).toBe(kind)
})

test('the host has no protection, and a new container has the default', () => {
  expect(guardOf('host', undefined)?.kind).toBe('host')
  expect(guardOf('lxc:101', undefined)).toBeUndefined()
  expect(guardOf('lxc:999', told('none'))).toMatchObject({ kind: 'snapshot', protection: DEFAULT_PROTECTION })
})

test('only snapshots of the panel lead to a job', () => {
  const snapshot = (name: string, rest = {}) => ({
    name,
    made_at: '2026-03-01T12:00:00.000Z',
    kind: 'snapshot' as const,
    job_id: null,
    ours: true,
    present: true,
    ...rest,
  })
  expect(jobOf(snapshot('panel-1772366400-k3x9q2pa'))).toBe('1772366400-k3x9q2pa')
  expect(jobOf(snapshot('panel-1772366400-k3x9q2pa', { ours: false }))).toBeUndefined()
  expect(jobOf(snapshot('panel-x'))).toBeUndefined()
  const gone = snapshot('a', { present: false })
  const newer = snapshot('b', { made_at: '2026-03-02T12:00:00.000Z' })
  expect(presentOf([gone, snapshot('c'), newer]).map(({ name }) => name)).toEqual(['b', 'c'])
})

test.each([
  [{ outcome: 'upgraded' }, undefined],
  [{ outcome: 'failed' }, undefined],
  [{ outcome: 'regressed' }, 'broken'],
  [{ outcome: 'regressed', protection: { ...DEFAULT_PROTECTION, on_failure: 'keep' } }, 'kept'],
  [{ outcome: 'regressed', decided: { by: 'a', at: '', choice: 'keep', job_id: null } }, 'kept'],
  [{ outcome: 'regressed', decided: { by: 'a', at: '', choice: 'rollback', job_id: 'x' } }, 'back'],
  [{ outcome: 'upgraded', decided: { by: 'a', at: '', choice: 'rollback', job_id: 'x' } }, 'back'],
  [{ outcome: 'rolled_back' }, 'back'],
  [{ outcome: 'rollback_failed' }, 'stuck'],
] as const)('the ending of %j is %s', (job, ending) => {
  expect(endingOf(job)).toBe(ending)
})

test('a comparison has the worst first, and says which of two looks was good', () => {
  const row = (state: 'same' | 'worse' | 'new', before: string | null, after: string | null) => ({
    kind: 'unit' as const,
    name: `${state}.service`,
    before,
    after,
    state,
  })
  const rows = [row('same', 'failed', 'failed'), row('new', null, 'active running'), row('worse', 'good', null)]
  expect(comparedGroups(rows).map(({ group }) => group)).toEqual(['worse', 'better', 'same'])
  expect(rows.map((each) => [works(each, 'before'), works(each, 'after')])).toEqual([
    [false, false],
    [false, true],
    [true, false],
  ])
})

test('a policy survives the form', () => {
  const policy: Protection = {
    ...DEFAULT_PROTECTION,
    before: 'backup',
    backup_storage: 'local',
    probes: [
      { kind: 'http', url: 'https://web.example/', status: 204 },
      { kind: 'tcp', port: 443 },
      { kind: 'unit', name: 'nginx.service' },
      { kind: 'command', command: ['sh', '-c', 'test "$1" = \'a b\'', '', '\\'] },
    ],
  }
  expect(policyFrom(draftOf(policy))).toEqual(policy)
})

test('the service refuses what is no number', () => {
  const draft = { ...draftOf(DEFAULT_PROTECTION), keep: 'three', settle_seconds: '1e3' }
  const { error } = Protection.safeParse(policyFrom(draft))
  expect(error?.issues.map(({ path }) => path.join('.'))).toEqual(['keep', 'settle_seconds'])
})

test('words are separated as in a shell, without its other rules', () => {
  expect(wordsOf(`  nc -z 'a b' "c\\"d" e\\ f $HOME ''`)).toEqual(['nc', '-z', 'a b', 'c"d', 'e f', '$HOME', ''])
  expect(wordsOf('')).toEqual([])
  expect(lineOf(['a b', 'c'])).toBe('"a b" c')
})
