import { expect, test } from 'vitest'
import {
  behindRemoval,
  type Change,
  figuresOf,
  foreseen,
  grouped,
  hasKernel,
  isSame,
  minutesLeft,
  needsCheck,
  reused,
  shortHash,
} from '../../../panel/nouns/plan.ts'
import { reviewable } from '../../../panel/nouns/target-list.ts'
import { change, planOf } from '../flows/plan-states.ts'
import { check } from './checks.ts'

const NOW = Date.parse('2026-03-01T12:00:00.000Z')
const before = (minutes: number) => new Date(NOW - minutes * 60_000).toISOString()
const fresh = () => check('lxc:101', { state: 'ready', checked_at: before(59), lists_at: before(59) })

test('a target is checked first when its last check is an hour old, unknown, or its lists were not whole', () => {
  expect(needsCheck(fresh(), NOW)).toBe(false)
  expect(needsCheck(undefined, NOW)).toBe(true)
  expect(needsCheck({ ...fresh(), checked_at: before(61) }, NOW)).toBe(true)
  expect(needsCheck({ ...fresh(), lists_at: null }, NOW)).toBe(true)
  expect(needsCheck({ ...fresh(), state: 'unknown' }, NOW)).toBe(true)
  expect(needsCheck({ ...fresh(), changed_at: before(1) }, NOW)).toBe(true)
  const { findings } = check('lxc:101', { findings: ['repository_unreachable'] })
  expect(needsCheck({ ...fresh(), findings }, NOW)).toBe(true)
})

const waiting = (name: string, rest: Partial<Change> = {}) =>
  change(name, { status: 'kept_back', reason: 'kept_back_remove', ...rest })
const PACKAGES = [
  change('curl'),
  change('openssl', { security: true }),
  waiting('exim4'),
  waiting('exim4-old', { action: 'remove', to: null }),
  change('nginx', { status: 'held', reason: 'held' }),
]
const names = (changes: readonly { name: string }[]) => changes.map(({ name }) => name)

test('until there is a plan, the check foresees its changes; removals only where they are allowed', () => {
  const all = { only: 'all', exclude: [], allow_remove: false } as const
  expect(names(foreseen(PACKAGES, all))).toEqual(['curl', 'openssl'])
  expect(names(foreseen(PACKAGES, { ...all, exclude: ['curl'] }))).toEqual(['openssl'])
  expect(names(foreseen(PACKAGES, { ...all, only: 'security' }))).toEqual(['openssl'])
  expect(names(foreseen(PACKAGES, { ...all, allow_remove: true }))).toEqual(['curl', 'openssl', 'exim4', 'exim4-old'])
  expect(behindRemoval(PACKAGES)).toEqual({ waiting: ['exim4'], removed: ['exim4-old'] })
})

test('removals come first, each group in the order of names', () => {
  const found = grouped([
    change('b'),
    change('a'),
    change('s', { security: true }),
    change('n', { action: 'install', from: null }),
    change('d', { action: 'downgrade' }),
    change('r', { action: 'remove', to: null, security: true }),
  ])
  expect(found.map(({ group, changes }) => [group, names(changes)])).toEqual([
    ['removed', ['r']],
    ['downgraded', ['d']],
    ['added', ['n']],
    ['security', ['s']],
    ['upgraded', ['a', 'b']],
  ])
  expect(figuresOf(found.flatMap(({ changes }) => changes))).toEqual({
    upgraded: 4,
    added: 1,
    removed: 1,
    security: 2,
    exploited: 0,
  })
})

test('two lists are the same in any order, and differ in a version', () => {
  expect(isSame([change('a'), change('b')], [change('b'), change('a')])).toBe(true)
  expect(isSame([change('a'), change('b')], [change('a'), change('b', { to: '9' })])).toBe(false)
  expect(isSame([change('a')], [change('a'), change('b')])).toBe(false)
})

test('a change stays the same object while no field differs, in whatever order the fields are', () => {
  const cves = [{ id: 'CVE-2026-1', urgency: null, known_exploited: false }]
  const [known, other] = [change('a', { cves }), change('b', { cves })]
  const { name, ...rest } = structuredClone(known)
  expect(reused([known], [{ ...rest, name }])[0]).toBe(known)
  const now = { ...structuredClone(other), cves: [] }
  expect(reused([known, other], [now])[0]).toBe(now)
})

test('a new kernel of the host is told, a removed one and one in a container are not', () => {
  const kernel = change('proxmox-kernel-6.8.12-4-pve-signed', { action: 'install', from: null })
  expect(hasKernel('host', [kernel])).toBe(true)
  expect(hasKernel('host', [{ ...kernel, action: 'remove' }])).toBe(false)
  expect(hasKernel('lxc:101', [kernel])).toBe(false)
  expect(hasKernel('host', [change('linux-libc-dev')])).toBe(false)
})

test('a plan counts down by the service’s clock, whatever the browser’s says', () => {
  const plan = planOf(1, 'host', [change('a')], { made_at: before(600), expires_at: before(540) })
  expect(minutesLeft(plan, NOW, NOW)).toBe(60)
  expect(minutesLeft(plan, NOW, NOW + 59.5 * 60_000)).toBe(1)
  expect(minutesLeft(plan, NOW, NOW + 60 * 60_000)).toBe(0)
  expect(minutesLeft(plan, NOW, NOW - 1_000)).toBe(60)
  expect(shortHash('9f3c81d0aaaa')).toBe('9f3c 81d0')
})

test('targets that are busy or have nothing to do are not reviewed together', () => {
  const ready = (target: string) => ({
    ...check(target, { state: 'ready' }),
    counts: { ...fresh().counts, upgrade: 1 },
  })
  const idle = {
    ...check('lxc:104'),
    counts: { ...fresh().counts, upgrade: 0, install: 0, kept_back: 0 },
    findings: [],
  }
  const all = [ready('host'), ready('lxc:101'), ready('lxc:102'), idle]
  expect(reviewable(all, new Set()).map(({ target }) => target)).toEqual(['host', 'lxc:101', 'lxc:102'])
  expect(reviewable(all, new Set(['lxc:101'])).map(({ target }) => target)).toEqual(['host', 'lxc:102'])
  expect(reviewable(all, new Set(['all'])).map(({ target }) => target)).toEqual(['host'])
})
