import { expect, test } from 'vitest'
import { ApiError } from '../../../client/index.ts'
import { arranged, moved } from '../../../panel/nouns/arrange.ts'
import { attentionOf } from '../../../panel/nouns/attention.ts'
import { isHostKeyChanged } from '../../../panel/nouns/failure.ts'

const well = { disk: 1, maxdisk: 100, reboot_required: false, dpkg_broken: false }
const known = {
  hasOtherKey: false,
  host: well,
  containers: [],
  stoppedSince: new Map<number, number>(),
  jobs: [],
  waiting: new Map<string, number>(),
  unchecked: 0,
  modules: [],
}
const job = (target: string, outcome: 'done' | 'failed' | 'flawed' | 'running', n = 0) => ({
  job_id: `${target}-${n}`,
  target,
  started_at: '2026-03-01T12:00:00.000Z',
  outcome,
})

test('where all is well there is nothing, and nothing is guessed where nothing is known', () => {
  expect(attentionOf(known)).toEqual([])
  expect(attentionOf({ ...known, host: undefined })).toEqual([])
})

test('what is urgent comes first', () => {
  const found = attentionOf({
    hasOtherKey: true,
    host: { disk: 98, maxdisk: 100, reboot_required: true, dpkg_broken: true },
    containers: [{ vmid: 101, name: 'web', disk: 91, maxdisk: 100 }],
    stoppedSince: new Map([[101, 5]]),
    jobs: [job('host', 'failed'), job('lxc:101', 'flawed')],
    waiting: new Map([
      ['host', 2],
      ['lxc:101', 0],
      ['lxc:102', 3],
    ]),
    unchecked: 1,
    modules: ['Bonjour'],
  })

  expect(found.map(({ kind, level }) => `${level} ${kind}`)).toEqual([
    'err hostKey',
    'err dpkg',
    'err disk',
    'err job',
    'err module',
    'warn job',
    'warn stopped',
    'warn disk',
    'warn reboot',
    'warn unchecked',
    'warn packages',
  ])
  expect(found.at(-1)).toEqual({ kind: 'packages', level: 'warn', count: 5, targets: 2 })
})

test('a failure is over once the same target was upgraded again', () => {
  expect(attentionOf({ ...known, jobs: [job('host', 'done', 2), job('host', 'failed', 1)] })).toEqual([])
  expect(attentionOf({ ...known, jobs: [job('host', 'running', 2), job('host', 'failed', 1)] })).toEqual([])
  expect(attentionOf({ ...known, jobs: [job('all', 'done', 2), job('host', 'failed', 1)] })).toHaveLength(1)
})

test('a disk whose size is unknown is not full', () => {
  const containers = [
    { vmid: 101, name: 'web', disk: null, maxdisk: 10 },
    { vmid: 102, name: 'db', disk: 5, maxdisk: 0 },
  ]
  expect(attentionOf({ ...known, containers })).toEqual([])
})

test('a changed key is told from any other failure of a connection', () => {
  const failure = (message: string) =>
    new ApiError('GET /api/hypervisor/host', { status: 502, code: 'ssh_failed', message })

  expect(isHostKeyChanged(failure('Erreur SSH : la clé de l’hôte a changé : ssh-ed25519 SHA256:x au lieu de y'))).toBe(
    true,
  )
  expect(isHostKeyChanged(failure('Erreur SSH : connexion refusée'))).toBe(false)
  expect(isHostKeyChanged(undefined)).toBe(false)
})

test('cards stand as they were put, new ones at the end', () => {
  const all = ['a', 'b', 'c', 'd'] as const

  expect(arranged(all, ['c', 'gone', 'a', 'c'])).toEqual(['c', 'a', 'b', 'd'])
  expect(moved(all, 'a', 1)).toEqual(['b', 'a', 'c', 'd'])
  expect(moved(all, 'a', -1)).toEqual(['a', 'b', 'c', 'd'])
  expect(moved(all, 'd', 9)).toEqual(['a', 'b', 'c', 'd'])
})
