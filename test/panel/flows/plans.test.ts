import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startDemo } from '../../runtime/demo.ts'
import { startService } from '../../serve/service.ts'
import { focused, focusedAtOnce, openPage, signIn } from '../browser.ts'
import { armClipping, clippingAt } from './clipping.ts'
import { CHANGES, planning } from './plan-states.ts'
import { answered, ready, told } from './update-states.ts'

const LONG = 120_000
const WAIT = { timeout: 20_000, interval: 50 }
/** Plans are refused, and the run that the answers name does not exist. */
const EXPECTED = { expected: /status of (404|409|410|422|502)/ }

const STATES = [
  ready('host', 'Hôte'),
  ready('lxc:101', 'web'),
  ready('lxc:102', 'db'),
  ready('lxc:103', 'customer-portal-staging-environment-with-a-rather-long-name-001'),
  ready('lxc:104', 'mail'),
  told('lxc:105', 'idle'),
]

async function runSheet(locale = 'fr-FR') {
  const service = await startService(await startDemo())
  const page = await openPage(`${service.url}/updates`, { ...EXPECTED, locale, reducedMotion: 'reduce' })
  const checks = await answered(page, structuredClone(STATES), CHANGES)
  const plans = await planning(page)
  await signIn(page)
  await page.locator('.targets tr.row').first().waitFor(WAIT)
  return { page, checks, plans, sheet: page.locator('dialog.drawer') }
}

const start = (page: Page) => page.locator('dialog.drawer .button.primary')
const isReady = (page: Page) => expect.poll(() => start(page).getAttribute('aria-disabled'), WAIT).toBe('false')
const names = (page: Page) => page.locator('dialog .many .named > .cut').allTextContents()

test('all targets are reviewed in one sheet, four plans at a time, and exactly these start', {
  timeout: LONG,
}, async () => {
  const { page, plans, sheet } = await runSheet()
  let open = 0
  let most = 0
  await page.route('**/api/updates/plans', async (route) => {
    open += 1
    most = Math.max(most, open)
    await new Promise((resolve) => setTimeout(resolve, 100))
    open -= 1
    return route.fallback()
  })
  await page.getByRole('button', { name: 'Tout examiner' }).press('Enter')
  await sheet.waitFor(WAIT)
  await isReady(page)

  expect(most).toBe(4)
  expect(await names(page)).toEqual(['web', 'db', STATES[3]?.name, 'mail', 'Hôte'])
  await sheet.getByText('5 sur 5 dans l’exécution').waitFor(WAIT)
  expect(await sheet.locator('.figures dd').first().textContent()).toBe('10')
  await sheet.getByRole('checkbox', { name: 'Inclure db' }).press('Space')
  await sheet.getByText('4 sur 5 dans l’exécution').waitFor(WAIT)
  await sheet.getByText('Ces 12 changements sur 4 cibles ou, sur chacune, rien.').waitFor(WAIT)
  expect(plans.started).toEqual([])
  await start(page).press('Enter')
  await page.waitForURL(/\/runs\/0{24}$/)
  // The second plan was the one of db.
  const ids = [1, 3, 4, 5].map((n) => String(n).padStart(24, '0'))
  expect(plans.started).toEqual([{ plans: expect.arrayContaining(ids) }])
  expect(plans.started).toEqual([{ plans: expect.toSatisfy((all: string[]) => all.length === 4) }])
})

test('one target without a plan stays out, and each plan can be read', { timeout: LONG }, async () => {
  const { page, plans, sheet } = await runSheet()
  await page.route('**/api/updates/plans', (route) => {
    const { target } = route.request().postDataJSON()
    return target === 'lxc:102'
      ? route.fulfill({ status: 502, json: { error: 'x', code: 'ssh_failed' } })
      : route.fallback()
  })
  await page.getByRole('button', { name: 'Tout examiner' }).press('Enter')
  await isReady(page)
  const db = sheet.locator('.many > li').filter({ hasText: 'db' })
  await db.getByText('La connexion SSH à l’hôte a échoué').waitFor(WAIT)
  expect(await db.getByRole('checkbox').isDisabled()).toBe(true)

  await sheet.getByRole('button', { name: 'Lire le plan de web' }).press('Enter')
  await sheet.getByRole('heading', { name: 'Mettre à jour web' }).waitFor(WAIT)
  await expect.poll(() => focused(page), WAIT).toBe('Retour aux cibles')
  expect(await page.locator('.chg .pn').allTextContents()).toEqual(['libnew', 'openssl', 'curl'])
  // Escape leads back to the list first.
  await page.keyboard.press('Escape')
  await sheet.getByText('4 sur 5 dans l’exécution').waitFor(WAIT)
  expect(plans.started).toEqual([])
  await page.keyboard.press('Escape')
  await sheet.waitFor({ state: 'detached', ...WAIT })
})

test('a plan that is read and the list after it have the focus before the next key', { timeout: LONG }, async () => {
  const { page, sheet } = await runSheet()
  await page.getByRole('button', { name: 'Tout examiner' }).press('Enter')
  await isReady(page)
  expect(await focusedAtOnce(sheet.getByRole('button', { name: 'Lire le plan de db' }))).toBe('Retour aux cibles')
  expect(await focusedAtOnce(sheet.getByRole('button', { name: 'Retour aux cibles' }))).toBe('Lire le plan de db')
})

test('security alone is reviewed where there is some, and selected rows apart', { timeout: LONG }, async () => {
  const { page, plans, sheet } = await runSheet()
  await page.getByRole('button', { name: 'Examiner la sécurité' }).press('Enter')
  await isReady(page)
  expect(plans.asked.every(({ only }) => only === 'security')).toBe(true)
  expect(await sheet.getByRole('switch', { name: 'Sécurité seule' }).isChecked()).toBe(true)
  await page.keyboard.press('Escape')
  await sheet.waitFor({ state: 'detached', ...WAIT })

  expect(await page.getByRole('checkbox', { name: 'Sélectionner idle' }).count()).toBe(0)
  await page.getByRole('checkbox', { name: 'Sélectionner web' }).press('Space')
  await page.getByRole('checkbox', { name: 'Sélectionner mail' }).press('Space')
  await page.getByRole('button', { name: 'Examiner 2 plans' }).press('Enter')
  await isReady(page)
  expect(await names(page)).toEqual(['web', 'mail'])
})

test('a plan of the run that has expired sends all back to be made anew', { timeout: LONG }, async () => {
  const { page, plans, sheet } = await runSheet()
  plans.state.startRefusal = { status: 410, json: { error: 'x', code: 'plan_expired' } }
  await page.getByRole('button', { name: 'Tout examiner' }).press('Enter')
  await isReady(page)
  await start(page).press('Enter')
  await sheet
    .locator('.problem')
    .getByText(/^Ce plan a plus d’une heure/)
    .waitFor(WAIT)
  plans.state.startRefusal = undefined
  await page.getByRole('button', { name: 'Refaire les plans' }).press('Enter')
  await page.getByRole('button', { name: 'Installer exactement ceci' }).waitFor(WAIT)
  await isReady(page)
  expect(plans.asked).toHaveLength(10)
})

test.each([
  ['fr', 'fr-FR'],
  ['en', 'en-GB'],
])('%s: both sheets are not clipped at any width', { timeout: LONG }, async (_, locale) => {
  const { page } = await runSheet(locale)
  await armClipping(page)
  const widths = [320, 360, 390, 480, 640, 719, 720, 860, 1024, 1440, 1920]
  const found: string[] = []
  await page.getByRole('checkbox').nth(2).check()
  for (const fault of await clippingAt(
    page,
    Array.from({ length: 41 }, (_, n) => 320 + n * 40),
  ))
    found.push(`list: ${fault}`)
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.getByRole('button', { name: /^(Tout examiner|Review all)$/ }).click()
  await isReady(page)
  for (const fault of await clippingAt(page, widths)) found.push(`many: ${fault}`)
  await page.getByRole('button', { name: /^(Lire le plan de web|Read the plan of web)$/ }).click()
  for (const fault of await clippingAt(page, widths)) found.push(`plan: ${fault}`)
  expect(found).toEqual([])
})
