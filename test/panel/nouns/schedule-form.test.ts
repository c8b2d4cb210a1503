import { expect, test } from 'vitest'
import type { Check } from '../../../panel/nouns/checked.ts'
import type { Manager } from '../../../panel/nouns/manager.ts'
import { withoutMarks } from '../../../panel/nouns/schedule-form.ts'
import { check } from './checks.ts'

const managed = (target: string, manager: Manager, rest: Partial<Check> = {}): Check => ({
  ...check(target),
  manager,
  ...rest,
})
const CHECKS = [
  managed('host', 'apt'),
  managed('lxc:101', 'apt'),
  managed('lxc:116', 'apk'),
  managed('lxc:117', 'dnf'),
  managed('lxc:121', 'pacman'),
  managed('lxc:122', 'pacman', { state: 'stopped' }),
  { ...check('lxc:130', { findings: ['security_unknown'] }), manager: 'dnf' as const },
]
const wave = (...targets: string[]) => ({ targets, pause_minutes: 0 })
const REST = { targets: 'rest' as const, pause_minutes: 0 }
const SECURITY = { action: 'upgrade', only: 'security' } as const

test.each([
  ['named', { ...SECURITY, waves: [wave('lxc:101', 'lxc:121'), wave('lxc:116', 'lxc:117')] }, ['lxc:116', 'lxc:121']],
  ['running, in the rest', { ...SECURITY, waves: [wave('lxc:101'), REST] }, ['lxc:116', 'lxc:121', 'lxc:130']],
  ['named although it is stopped', { ...SECURITY, waves: [wave('lxc:122')] }, ['lxc:122']],
  ['in none of the waves', { ...SECURITY, waves: [wave('host', 'lxc:101')] }, []],
  ['upgraded as a whole', { action: 'upgrade' as const, only: 'all' as const, waves: [REST] }, []],
  ['only checked', { action: 'check' as const, only: 'security' as const, waves: [REST] }, []],
])('a target without security updates of its own is told before the schedule exists: %s', (_, settings, told) => {
  expect(withoutMarks(settings, CHECKS).map(({ target }) => target)).toEqual(told)
})
