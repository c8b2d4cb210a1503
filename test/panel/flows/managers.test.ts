import { expect, test } from 'vitest'
import { findingOf } from '../../../functions/findings/finding.ts'
import { unsupportedFinding } from '../../../functions/managers/managed-report.ts'
import type { Manager } from '../../../panel/nouns/manager.ts'
import { sheetOf, WEB } from './plan-sheet.ts'
import { impossible } from './plan-states.ts'
import { change, counted, finding } from './update-states.ts'

const LONG = 120_000
const WAIT = { timeout: 20_000, interval: 50 }
const SYSTEMS = {
  apk: ['alpine', 'Alpine Linux v3.22'],
  dnf: ['fedora', 'Fedora Linux 43'],
  zypper: ['opensuse-leap', 'openSUSE Leap 15.6'],
  pacman: ['arch', 'Arch Linux'],
} as const

/** A container with another package manager than apt, three updates and a held package. */
function containerOf(manager: Exclude<Manager, 'apt'>): typeof WEB {
  const [id, name] = SYSTEMS[manager]
  const isMarked = manager === 'dnf' || manager === 'zypper'
  return {
    ...WEB,
    ...counted(3, isMarked ? 1 : 0, { held: 1 }),
    manager,
    os: { id, version_id: null, name, codename: null, end_of_life: null },
    findings: [
      finding('held', { severity: 'info', packages: ['linux'] }),
      ...(isMarked ? [] : [findingOf('security_unknown')]),
    ],
  }
}

const PACKAGES = [change('curl'), change('zlib'), change('linux', { status: 'held', reason: 'held' })]

test.each([
  ['pacman', 'fr-FR', 'Le gestionnaire de paquets ne dit pas quelles mises à jour corrigent une faille'],
  ['apk', 'en-GB', 'The package manager does not tell which updates fix a vulnerability'],
  ['dnf', 'fr-FR', undefined],
] as const)(
  'the row of a container with %s (%s) names it, has the age of its lists, and offers no hold or changelog',
  { timeout: LONG },
  async (manager, locale, unknown) => {
    const { page } = await sheetOf({ check: containerOf(manager), changes: PACKAGES, locale })
    const row = page.locator('tr.row', { hasText: 'web' })
    await row.locator('.opener').click()
    const detail = page.locator('tr.detail')
    await detail.getByText(`${SYSTEMS[manager][1]} · ${manager}`).waitFor(WAIT)
    await detail.locator('.pn', { hasText: 'zlib' }).waitFor(WAIT)

    expect(await row.locator('.c-age time').count()).toBe(1)
    expect(
      await detail.getByRole('button', { name: /^(Figer|Libérer|Modifications|Hold|Release|Changes)/ }).count(),
    ).toBe(0)
    if (unknown === undefined) expect(await detail.getByText(/ne dit pas quelles mises à jour/).count()).toBe(0)
    else await detail.getByText(unknown).waitFor(WAIT)
    expect((await row.locator('.c-sec').textContent())?.trim()).toMatch(unknown === undefined ? /^1/ : /^\?/)
  },
)

test('a target with apt has holds and changelogs as before', { timeout: LONG }, async () => {
  const { page } = await sheetOf({ check: WEB, changes: PACKAGES })
  await page.locator('tr.row', { hasText: 'web' }).locator('.opener').click()
  const detail = page.locator('tr.detail')
  await detail.locator('.pn', { hasText: 'zlib' }).waitFor(WAIT)

  expect(await detail.getByRole('button', { name: 'Figer zlib' }).count()).toBe(1)
  expect(await detail.getByRole('button', { name: 'Modifications de zlib' }).count()).toBe(1)
})

test.each([
  ['pacman', 'fr-FR', 'Sécurité seule', 'pacman met toujours tout à jour ensemble', true],
  ['pacman', 'en-GB', 'Security alone', 'pacman always upgrades everything together', true],
  ['apk', 'fr-FR', 'Sécurité seule', 'apk ne dit pas quelles mises à jour corrigent une faille.', false],
] as const)(
  'in the plan of %s (%s), a choice that it cannot make is disabled with the reason',
  { timeout: LONG },
  async (manager, locale, _label, reason, isWhole) => {
    const { review, sheet, plans } = await sheetOf({
      check: containerOf(manager),
      changes: PACKAGES.slice(0, 2),
      locale,
    })
    await review.press('Enter')
    await sheet.locator('.chg .pn').first().waitFor(WAIT)
    const security = sheet.getByRole('switch', { name: /^(Sécurité seule|Security)/ })

    expect(await security.isDisabled()).toBe(true)
    expect(await sheet.locator('.switches').textContent()).toContain(reason)
    expect(await sheet.locator('.chg input[type=checkbox]').count()).toBe(isWhole ? 0 : 2)
    expect(await sheet.locator('.figures dd').nth(3).textContent()).toBe('—')
    if (isWhole) expect(await sheet.locator('.chg .box').first().getAttribute('title')).toContain(reason)
    expect(plans.asked).toEqual([{ target: 'lxc:101', only: 'all', exclude: [], allow_remove: false }])
  },
)

test.each(['dnf', 'zypper'] as const)(
  'in the plan of %s, every choice can be made',
  { timeout: LONG },
  async (manager) => {
    const { review, sheet } = await sheetOf({ check: containerOf(manager), changes: PACKAGES.slice(0, 2) })
    await review.press('Enter')
    await sheet.locator('.chg .pn').first().waitFor(WAIT)

    expect(await sheet.getByRole('switch', { name: 'Sécurité seule' }).isDisabled()).toBe(false)
    expect(await sheet.locator('.chg input[type=checkbox]').count()).toBe(2)
  },
)

test('a plan that a manager cannot make says why', { timeout: LONG }, async () => {
  const { review, sheet, plans } = await sheetOf({ check: containerOf('zypper') })
  const refused = unsupportedFinding('zypper', { only: 'all', kind: 'without' })
  plans.state.refusal = impossible(finding(refused.code, { severity: 'blocking', message: refused.message }))
  await review.press('Enter')

  await sheet.getByText('zypper met toujours tout à jour ensemble').waitFor(WAIT)
  expect(await sheet.getByRole('button', { name: 'Refaire le plan' }).count()).toBe(1)
})
