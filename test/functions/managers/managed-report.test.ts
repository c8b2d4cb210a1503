import { expect, test } from 'vitest'
import { readReport } from '../../../functions/checks/check-report.ts'
import { readPlanReport } from '../../../functions/plans/plan-report.ts'
import { planLines } from '../../../functions/plans/plan.ts'
import { APP, inspected, NEW, planned, type Told } from './inspected.ts'

const look = (own: Told = {}, manager = 'dnf') => readReport(inspected(own, manager).split('\n'), 'container')

async function report(own: Told = {}, manager = 'dnf') {
  const found = await look(own, manager)
  if (!found) throw new Error('the report was refused')
  const findings = found.summary.findings.map(({ code, severity }) => [code, severity])
  return { ...found, findings, messages: found.summary.findings.map(({ message }) => message) }
}

test('more repositories than are read are the reason, and not that no list could be read', async () => {
  const repositories = Array.from({ length: 200 }, (_, n) => `repository|r${n}|http://mirror/r${n}`)
  const refresh = [...repositories, 'crowded', 'lists|0', 'code|1']
  const pacman = await report(
    { refresh, security: 'database', planned: ['crowded', 'code|1'], left: ['code|1'] },
    'pacman',
  )
  const zypper = await report(
    { refresh: [...repositories, 'crowded', 'lists|200', 'code|1'], planned: [APP, 'code|0'] },
    'zypper',
  )
  const plan = await readPlanReport(planned({ planned: ['crowded', 'code|1'] }, 'pacman'))

  const whole =
    'Cette cible a plus de 200 dépôts : le panneau n’en lit pas autant, et pacman ne met rien à jour sans les listes de tous.'
  const rest = 'Cette cible a plus de 200 dépôts : les autres n’ont pas été actualisés.'
  expect(pacman.messages).toEqual([rest, whole])
  expect(pacman.findings).toEqual([
    ['lists_stale', 'warning'],
    ['lists_stale', 'blocking'],
  ])
  expect([zypper.messages, zypper.refreshed, zypper.packages.length]).toEqual([[rest], false, 1])
  expect(plan?.findings).toMatchObject([{ code: 'lists_stale', severity: 'blocking', message: whole }])
})

test('what a manager would change and what it leaves alone is told with the reasons, sizes and sources', async () => {
  const { packages, changes, summary, findings, refreshed } = await report({
    planned: [APP, NEW, 'code|0'],
    left: [
      'left|held|kept|noarch|1-1|2-1|rig|0',
      'left|kept_back_remove|driver|noarch|1-1|2-1|rig|0',
      'left|kept_back_remove|driven|noarch|1-1|-|rig|0',
      'left|kept_back_dependencies|unmet|noarch|1-1|2-1|-|0',
      'hold|kept-*',
      'code|0',
    ],
  })

  expect(packages).toMatchObject([
    { name: 'app', arch: 'noarch', from: '1.0-1', to: '1:2.0-1', action: 'upgrade', origin: 'rig', security: true },
    { name: 'libnew', from: null, to: '1.1-3', action: 'install', size: 1024, source: 'libnew', status: 'planned' },
    { name: 'kept', status: 'held', reason: 'held' },
    { name: 'driver', status: 'kept_back', reason: 'kept_back_remove' },
    { name: 'driven', action: 'remove', to: null, status: 'kept_back' },
    { name: 'unmet', status: 'kept_back', reason: 'kept_back_dependencies', origin: null },
  ])
  expect([...changes.values()]).toEqual([{ source: 'app-src', from: '1.0-1', to: '1:2.0-1' }])
  expect(summary).toMatchObject({
    manager: 'dnf',
    supported: true,
    counts: { upgrade: 1, security: 1, install: 1, remove: 0, held: 1, kept_back: 2 },
    download_bytes: 5120,
    disk_bytes: 1536,
  })
  expect(findings).toEqual([
    ['kept_back_remove', 'info'],
    ['kept_back_dependencies', 'info'],
    ['held', 'info'],
  ])
  expect(summary.findings[0]?.message).toBe('Des mises à jour ne passent qu’en supprimant driven.')
  expect(summary.findings.at(-1)).toMatchObject({ packages: ['kept-*', 'kept'], remedy: { action: 'open_terminal' } })
  expect(refreshed).toBe(true)
})

test('a total of all changes counts instead of their sizes', async () => {
  const unsized = APP.replace('4096|-512', '-|-')
  const { summary } = await report({ planned: [unsized, 'total|9000|-70', 'code|0'] })

  expect(summary).toMatchObject({ download_bytes: 9000, disk_bytes: -70 })
})

test('a size that is not told makes the sums unknown, and another build of a version is an upgrade', async () => {
  const { packages, summary } = await report({
    planned: [APP, 'change|reinstall|again|noarch|1|1|rig|0|-|-|-', 'code|0'],
  })

  expect(packages[1]).toMatchObject({ action: 'upgrade', from: '1', to: '1', size: null, source: null })
  expect(summary).toMatchObject({ download_bytes: null, disk_bytes: null })
})

test.each([
  [
    'a repository that does not answer is named with the exit code of the manager',
    ['repository|a|http://m/a', 'repository|b|http://m/b', 'failed|106|a|Timeout exceeded', 'lists|1', 'code|106'],
    [['repository_unreachable', 'warning']],
    'Le dépôt a n’a pas pu être lu (dnf, code 106) : Timeout exceeded',
  ],
  [
    'a bad signature is told as such',
    ['repository|a|http://m/a', 'failed|1|a|GPG check FAILED for repomd.xml', 'lists|1', 'code|1'],
    [['repository_unsigned', 'warning']],
    'Le dépôt a n’a pas de signature reconnue, installez sa clé ou retirez-le (dnf, code 1) : GPG check FAILED for repomd.xml',
  ],
  [
    'lists that are no longer valid are told as such',
    ['repository|a|http://m/a', 'failed|1|a|Metadata has expired', 'lists|1', 'code|1'],
    [['repository_expired', 'warning']],
    'Le dépôt a a des listes ou une clé qui ne sont plus valables (dnf, code 1) : Metadata has expired',
  ],
  [
    'the network is missing when no remote repository answers',
    ['repository|a|http://m/a', 'failed|1|a|no route', 'lists|1', 'code|1'],
    [
      ['network_missing', 'warning'],
      ['repository_unreachable', 'warning'],
    ],
    'Aucun dépôt n’a répondu : le réseau semble manquer.',
  ],
  [
    'a database that another process has is told',
    ['repository|a|http://m/a', 'locked', 'lists|1', 'code|1'],
    [['manager_locked', 'warning']],
    'dnf est déjà en cours d’exécution. Revérifiez quand il aura fini.',
  ],
  [
    'a target without lists is told',
    ['code|0'],
    [['lists_stale', 'warning']],
    'Aucune liste de paquets n’a pu être lue.',
  ],
  [
    'a refresh that fails without a word is told',
    ['repository|a|http://m/a', 'lists|1', 'code|3'],
    [['lists_stale', 'warning']],
    'Les listes de paquets n’ont pas pu être actualisées (dnf, code 3).',
  ],
  [
    'a sudo rule that lacks the manager is told with the line',
    ['lacking|the sudo rule lacks a program: ops ALL=(root) NOPASSWD: /usr/bin/dnf', 'code|1'],
    [['lists_stale', 'warning']],
    'Les listes de paquets n’ont pas pu être actualisées : the sudo rule lacks a program: ops ALL=(root) NOPASSWD: /usr/bin/dnf',
  ],
])('%s, and the lists do not count as refreshed', async (_title, refresh, expected, message) => {
  const { findings, messages, refreshed } = await report({ refresh })

  expect(findings).toEqual(expected)
  expect(messages[0]).toBe(message)
  expect(refreshed).toBe(false)
})

test('a local repository that fails does not mean that the network is missing', async () => {
  const refresh = ['repository|a|file:///srv', 'failed|1|a|no such file', 'lists|1', 'code|1']

  expect((await report({ refresh })).findings).toEqual([['repository_unreachable', 'warning']])
})

test('unmet dependencies are a warning while an upgrade can be computed, and a lock that pacman has left blocks it', async () => {
  const verify = ['unfinished|-|a stale lock: /var/lib/pacman/db.lck', 'broken|app|app needs libgone', 'code|0']
  const { summary, findings } = await report({ planned: [APP, 'code|0'], verify }, 'pacman')

  expect(findings).toEqual([
    ['dpkg_interrupted', 'blocking'],
    ['dependencies_broken', 'warning'],
  ])
  expect(summary.findings[0]).toMatchObject({
    message: 'pacman n’a pas fini son dernier travail : a stale lock: /var/lib/pacman/db.lck',
    packages: [],
    remedy: { action: 'open_terminal' },
  })
  expect(summary.counts.upgrade).toBe(1)
  const twice = { verify: ['unfinished|app|two versions of app are installed', 'code|0'] }
  expect((await report(twice)).findings).toEqual([['dpkg_interrupted', 'warning']])
})

test('a lock that pacman has left blocks also where it is not the first thing that is unfinished', async () => {
  const verify = ['unfinished|app|the file desc is missing', 'unfinished|-|a stale lock', 'code|0']
  const { summary, findings } = await report({ planned: [APP, 'code|0'], verify }, 'pacman')

  expect(findings).toEqual([['dpkg_interrupted', 'blocking']])
  expect(summary.findings[0]).toMatchObject({
    message: 'pacman n’a pas fini son dernier travail : a stale lock',
    packages: ['app'],
  })
})

test.each<[string, Told, string]>([
  ['a lock', { refresh: ['locked', 'lists|0', 'code|7'] }, 'manager_locked'],
  ['what an interrupted run has left', { verify: ['unfinished|app|two versions', 'code|0'] }, 'dpkg_interrupted'],
])('%s blocks where it is the reason why no upgrade can be computed', async (_title, told, code) => {
  const { findings, packages } = await report({ ...told, planned: ['code|7'], left: ['code|7'] })

  expect(findings).toContainEqual([code, 'blocking'])
  expect(packages).toEqual([])
})

test('what stands in the way of an upgrade blocks it, with the manager’s words', async () => {
  const { findings, messages, packages } = await report({ planned: [APP, 'problem|nothing provides libx', 'code|1'] })

  expect(findings).toEqual([['dependencies_broken', 'blocking']])
  expect(messages).toEqual(['dnf refuse la mise à jour : nothing provides libx'])
  expect(packages).toEqual([])
})

test('security updates that nobody marks are told as unknown where there are updates', async () => {
  const quiet = await report({ security: 'database' })
  const { findings } = await report({ security: 'database', planned: [APP, 'code|0'] })

  expect(quiet.findings).toEqual([])
  expect(findings).toEqual([['security_unknown', 'info']])
})

test('a manager that cannot say what it would change is not supported, and says so', async () => {
  const { summary, findings, refreshed } = await report({ planned: ['unsupported'] })

  expect(summary.supported).toBe(false)
  expect(findings).toEqual([['selection_unsupported', 'blocking']])
  expect(refreshed).toBe(false)
})

const WRONG: [title: string, told: Told][] = [
  ['a change without its last field', { planned: ['change|upgrade|app|noarch|1|2|rig|0|1|1', 'code|0'] }],
  ['a change with a field more', { planned: [`${APP}|x`, 'code|0'] }],
  ['an unknown action', { planned: [APP.replace('upgrade', 'obsolete'), 'code|0'] }],
  ['a name with a space', { planned: [APP.replace('|app|', '|a pp|'), 'code|0'] }],
  ['a name that looks like an option', { planned: [APP.replace('|app|', '|-app|'), 'code|0'] }],
  ['an upgrade without a version', { planned: [APP.replace('1:2.0-1', '-'), 'code|0'] }],
  ['an installation with a former version', { planned: [NEW.replace('|-|', '|1|'), 'code|0'] }],
  ['a version with a letter of another alphabet', { planned: [APP.replace('1.0-1', '1.0-é'), 'code|0'] }],
  ['a size in words', { planned: [APP.replace('4096', '4 kB'), 'code|0'] }],
  ['a mark that is neither', { planned: [APP.replace('|1|', '|yes|'), 'code|0'] }],
  ['an unknown word', { planned: ['Upgrading: app', 'code|0'] }],
  ['no end', { planned: [APP] }],
  ['two totals', { planned: ['total|1|1', 'total|2|2', 'code|0'] }],
  ['a total in words', { planned: ['total|1 kB|1', 'code|0'] }],
  ['two ends', { planned: ['code|0', APP, 'code|0'] }],
  ['unsupported and changes', { planned: ['unsupported', APP, 'code|0'] }],
  ['no changes at all', { planned: [] }],
  ['a failure without a reason', { planned: [APP, 'code|1'] }],
  ['what is left without an end', { left: [] }],
  ['an unknown reason', { left: ['left|phased|a|noarch|1|2|rig|0', 'code|0'] }],
  ['a failure of what is left', { left: ['code|1'] }],
  ['dependencies that could not be checked', { verify: ['code|1'] }],
  ['an unknown word about dependencies', { verify: ['warning|app|x', 'code|0'] }],
  ['a refresh without an end', { refresh: ['lists|2'] }],
  ['an unknown word of a refresh', { refresh: ['lists|2', 'done', 'code|0'] }],
  ['an unknown word about security', { security: 'yes' }],
  ['more packages than any target has', { planned: [...Array.from({ length: 10_001 }, () => APP), 'code|0'] }],
]

test.each(WRONG)('%s is no result', async (_title, told) => {
  expect(await look(told)).toBeUndefined()
})

test('a section that comes twice is no result: the last one would hide the first', async () => {
  const twice = (text: string) => text.replace('disk\n', 'planned\n code|0\n\ndisk\n')

  expect(await readReport(twice(inspected({ planned: [APP, 'code|0'] })).split('\n'), 'container')).toBeUndefined()
  expect(await readPlanReport(twice(planned()))).toBeUndefined()
})

const plan = (
  own: Parameters<typeof planned>[0] = {},
  manager = 'dnf',
  selection: Parameters<typeof readPlanReport>[1] = undefined,
) => readPlanReport(planned(own, manager), selection)

test('a plan has the lines of its hash, the sizes and the manager', async () => {
  const found = await plan({ planned: [NEW, APP, 'change|remove|gone|noarch|3-1|-|-|0|-|-100|-', 'code|0'] })

  expect(planLines(found?.actions ?? [])).toEqual([
    'install libnew:x86_64 - 1.1-3',
    'remove gone:noarch 3-1 -',
    'upgrade app:noarch 1.0-1 1:2.0-1',
  ])
  expect(found).toMatchObject({ manager: 'dnf', download_bytes: 5120, disk_bytes: 1436, findings: [], conffiles: [] })
})

test('a lack of room forbids a plan and names the folder of that manager', async () => {
  const found = await plan({ disk: ['/ 9000000 4096 9999999 f1', 'archives 0 4096 9 f2', 'folder /var/cache/dnf'] })

  expect(found?.findings).toMatchObject([
    { code: 'disk_low', severity: 'blocking', message: expect.stringContaining('/var/cache/dnf') },
  ])
})

const SOME = { only: 'all', packages: ['app'], exclude: [] } as const
test.each([
  ['pacman', SOME, 'pacman met toujours tout à jour ensemble'],
  ['pacman', { only: 'security', packages: null, exclude: [] }, 'pacman met toujours tout à jour ensemble'],
  ['apk', { only: 'security', packages: null, exclude: [] }, 'apk ne dit pas quelles mises à jour'],
  // zypper refuses a choice on a rolling distribution alone; elsewhere it makes each of them.
  ['zypper', { only: 'all', packages: null, exclude: ['app'] }, 'zypper met toujours tout à jour ensemble'],
  ['zypper', { only: 'security', packages: null, exclude: [] }, 'zypper met toujours tout à jour ensemble'],
  ['zypper', SOME, 'zypper met toujours tout à jour ensemble'],
  ['apk', SOME, 'apk ne peut pas mettre à jour quelques paquets'],
] as const)('a selection that %s cannot make is forbidden with the reason', async (manager, selection, reason) => {
  const found = await plan({ planned: ['unsupported', 'code|0'] }, manager, selection)

  expect(found).toMatchObject({
    actions: [],
    findings: [
      { code: 'selection_unsupported', severity: 'blocking', message: expect.stringContaining(reason), remedy: null },
    ],
  })
})

test('half a plan is none: a failure without a reason, or with one that forbids nothing', async () => {
  expect(await plan({ planned: [APP, 'code|1'] })).toBeUndefined()
  expect(await plan({ planned: [APP, 'code|1'], verify: ['unfinished|-|x', 'code|0'] })).toBeUndefined()
  expect(await plan({ planned: [APP, 'problem|locked', 'code|7'] })).toMatchObject({
    actions: [],
    findings: [{ severity: 'blocking', message: 'dnf refuse la mise à jour : locked' }],
  })
})
