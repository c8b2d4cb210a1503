import { expect, test } from 'vitest'
import {
  canRestartAll,
  isBeingRenewed,
  type Outdated,
  outdatedIn,
  restartable,
  withTarget,
} from '../../../panel/nouns/restarts.ts'

const one = (name: string, restart: Outdated['restart'], rest: Partial<Outdated> = {}): Outdated => {
  return { name, restart, reason: '/usr/lib/libssl.so.3', package: 'libssl3', why: null, interrupts: null, ...rest }
}
const names = (services: readonly Outdated[]) => services.map(({ name }) => name)

const MIXED = [
  one('dbus', 'container'),
  one('old', 'none'),
  one('alice', 'session'),
  one('nginx', 'service'),
  one('ssh', 'service'),
]

test('services that a button restarts come first, those of the whole target last', () => {
  const check = { state: 'up_to_date', services: MIXED } as const

  expect(names(outdatedIn(check))).toEqual(['nginx', 'ssh', 'alice', 'old', 'dbus'])
  expect(names(restartable(check))).toEqual(['nginx', 'ssh'])
  expect(names(withTarget(check))).toEqual(['dbus'])
  expect(names(withTarget({ ...check, services: [one('pvedaemon', 'reboot'), one('nginx', 'service')] }))).toEqual([
    'pvedaemon',
  ])
})

test('a stopped container has no service to restart, whatever its last check has found', () => {
  const check = { state: 'stopped', services: MIXED } as const

  expect(outdatedIn(check)).toEqual([])
  expect(canRestartAll(check)).toBe(false)
})

test('everything can be restarted only where services alone are outdated, and one request takes all', () => {
  const all = (services: readonly Outdated[]) => canRestartAll({ state: 'ready', services: [...services] })
  const many = (count: number) => Array.from({ length: count }, (_, n) => one(`unit-${n}`, 'service'))

  expect(all([])).toBe(false)
  expect(all(many(2))).toBe(true)
  expect(all([...many(2), one('alice', 'session')])).toBe(false)
  expect(all([one('dbus', 'container')])).toBe(false)
  expect(all(many(50))).toBe(true)
  expect(all(many(51))).toBe(false)
  expect(restartable({ state: 'ready', services: many(51) })).toHaveLength(50)
})

test('a list is being renewed while a check looks at a later change', () => {
  const at = '2026-03-01T12:00:00.000Z'

  expect(isBeingRenewed({ checking: true, changed_at: at })).toBe(true)
  expect(isBeingRenewed({ checking: true, changed_at: null })).toBe(false)
  expect(isBeingRenewed({ checking: false, changed_at: at })).toBe(false)
})
