import { expect, test } from 'vitest'
import { unsupportedFinding } from '../../../functions/managers/managed-report.ts'
import { findingOf } from '../../../functions/findings/finding.ts'
import { totalsOf } from '../../../panel/nouns/target-list.ts'
import { check } from './checks.ts'
import {
  type Choice,
  isApt,
  isSecurityUnknown,
  type Manager,
  securitySaid,
  unableTo,
} from '../../../panel/nouns/manager.ts'
import { en } from '../../../panel/words/en.ts'
import { fr } from '../../../panel/words/fr.ts'

const target = (manager: Manager | null, id = 'x') => ({
  manager,
  os: { id, version_id: null, name: id, codename: null, end_of_life: null },
})
const CHOICES = ['security', 'exclude'] as const

test.each<[Manager, string, Choice[]]>([
  ['apt', 'debian', []],
  ['dnf', 'fedora', []],
  ['apk', 'alpine', ['security']],
  ['zypper', 'opensuse-leap', []],
  ['zypper', 'opensuse-tumbleweed', ['security', 'exclude']],
  ['pacman', 'arch', ['security', 'exclude']],
])('%s on %s cannot choose %j', (manager, id, impossible) => {
  const barred = CHOICES.filter((choice) => unableTo(choice, target(manager, id)) !== undefined)

  expect(barred).toEqual(impossible)
})

test('nothing is barred where the manager is unknown, and only apt has holds and changelogs', () => {
  expect(CHOICES.map((choice) => unableTo(choice, target(null)))).toEqual([undefined, undefined])
  expect(unableTo('security', undefined)).toBeUndefined()
  expect([isApt(target('apt')), isApt(target(null)), isApt(target('dnf'))]).toEqual([true, true, false])
})

test.each([
  ['pacman', 'security'],
  ['pacman', 'exclude'],
  ['apk', 'security'],
  ['zypper', 'security'],
  ['zypper', 'exclude'],
] as const)('the reason beside a choice that %s cannot make (%s) is the one of a refused plan', (manager, choice) => {
  const refused = unsupportedFinding(manager, {
    only: choice === 'security' ? 'security' : 'all',
    kind: choice === 'exclude' ? 'without' : 'every',
  })

  expect(fr.plan.cannot[choice](manager).replaceAll('\u00a0', ' ')).toBe(refused.message.replaceAll('\u00a0', ' '))
  expect(en.plan.cannot[choice](manager)).toBe(en.findings.sentence(refused))
})

test('no security update is not said of a target where nobody knows them', () => {
  const unknown = { ...check('lxc:113', { waits: 3 }), findings: [findingOf('security_unknown')] }
  const known = check('lxc:101', { waits: 1 })
  const { security, unknown: untold } = totalsOf([unknown, known])

  expect([isSecurityUnknown(unknown), isSecurityUnknown(known)]).toEqual([true, false])
  expect(fr.updates.securitySum(security, 0, untold)).toBe(
    'Aucun correctif de sécurité en attente là où ils sont connus\u00a0; inconnus sur 1 cible.',
  )
  expect(en.updates.securitySum(2, 0, 3)).toBe('2 security fixes where they are known; not known on 3 targets.')
  expect(fr.updates.securitySum(0, 0, 0)).toBe('Aucun correctif de sécurité en attente.')
})

test('the security updates of several targets are not counted as all where one does not mark them', () => {
  expect([securitySaid(4, false), securitySaid(0, false)]).toEqual(['4', '0'])
  expect([securitySaid(4, true), securitySaid(0, true)]).toEqual(['4+', '—'])
})
