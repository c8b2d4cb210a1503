import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startDemo } from '../../runtime/demo.ts'
import { startService } from '../../serve/service.ts'
import { focused, openPage, signIn, tabTo } from '../browser.ts'
import { smallTargets } from './page-findings.ts'
import { CHANGES, planning } from './plan-states.ts'
import { answered, ready, told } from './update-states.ts'

const LONG = 120_000
const WAIT = { timeout: 20_000, interval: 50 }
const STATES = [
  ready('host', 'Hôte'),
  ready('lxc:101', 'web'),
  ready('lxc:102', 'db'),
  ready('lxc:104', 'mail'),
  told('lxc:105', 'idle'),
]

/** The updates page in a window of this width. */
async function listOf(width: number, options: Parameters<typeof openPage>[1] = {}) {
  const service = await startService(await startDemo())
  const viewport = { width, height: 800 }
  const page = await openPage(`${service.url}/updates`, { viewport, reducedMotion: 'reduce', ...options })
  await answered(page, structuredClone(STATES), CHANGES)
  const plans = await planning(page)
  await signIn(page)
  await page.locator('.targets tr.row').first().waitFor(WAIT)
  const box = (name: string) => page.getByRole('checkbox', { name: `Sélectionner ${name}` })
  const select = page.getByRole('button', { name: 'Sélectionner', exact: true })
  return { page, plans, box, select, bar: page.getByRole('region', { name: 'Sélection' }) }
}

const reviewed = (page: Page) => page.locator('dialog .many .named > .cut').allTextContents()

test.each([320, 390, 600, 740])(
  '%i px wide: a finger selects some targets and reviews them',
  {
    timeout: LONG,
  },
  async (width) => {
    const { page, box, select, bar } = await listOf(width, { hasTouch: true, isMobile: true })
    // Until somebody wants to select, a narrow list has the room for its words.
    expect(await box('web').isVisible()).toBe(false)
    await select.tap()
    await box('web').tap()
    await box('mail').tap()
    await bar.getByText('2 sélectionnées').waitFor(WAIT)
    expect(await smallTargets(page, 44)).toEqual([])
    const above = await bar.boundingBox()
    const menu = await page.locator('.side').boundingBox()
    if (width < 720) expect((above?.y ?? 0) + (above?.height ?? 0)).toBeLessThanOrEqual(menu?.y ?? 0)

    await bar.getByRole('button', { name: 'Examiner 2 plans' }).tap()
    await expect.poll(() => reviewed(page), WAIT).toEqual(['web', 'mail'])
    await page.locator('dialog .primary[aria-disabled=false]').waitFor(WAIT)
    expect(await smallTargets(page, 44)).toEqual([])
    await page.getByRole('button', { name: 'Lire le plan de web' }).tap()
    await page.locator('dialog .chg').first().waitFor(WAIT)
    expect(await smallTargets(page, 44)).toEqual([])
  },
)

test('640 px wide: the boxes are there at once', { timeout: LONG }, async () => {
  const { box, select } = await listOf(640)
  expect(await box('web').isVisible()).toBe(true)
  expect(await select.isVisible()).toBe(false)
})

test.each([320, 740])(
  '%i px wide: the keyboard selects all, leaves one out and ends the selection',
  {
    timeout: LONG,
  },
  async (width) => {
    const { page, plans, box, select, bar } = await listOf(width)
    await select.focus()
    await page.keyboard.press('Enter')
    await tabTo(page, 'Tout sélectionner')
    await page.keyboard.press('Space')
    await bar.getByText('4 sélectionnées').waitFor(WAIT)
    await tabTo(page, 'Sélectionner db')
    await page.keyboard.press('Space')
    await bar.getByText('3 sélectionnées').waitFor(WAIT)
    // A target without updates has no box.
    expect(await page.locator('.targets tr.row input').count()).toBe(4)

    await tabTo(page, 'Sécurité seule')
    await page.keyboard.press('Enter')
    await expect.poll(() => reviewed(page), WAIT).toEqual(['web', 'mail', 'Hôte'])
    await expect.poll(() => plans.asked.map(({ only }) => only), WAIT).toEqual(['security', 'security', 'security'])
    await page.keyboard.press('Escape')
    await expect.poll(() => focused(page), WAIT).toBe('Sécurité seule')

    await tabTo(page, 'Effacer la sélection')
    await page.keyboard.press('Enter')
    await bar.waitFor({ state: 'detached', ...WAIT })
    expect(await focused(page)).toBe('Sélectionner')
    expect(await box('web').isVisible()).toBe(false)
    expect(plans.started).toEqual([])
  },
)

test('the same button ends the selection, and a wide list keeps its boxes', { timeout: LONG }, async () => {
  const { page, box, select, bar } = await listOf(390)
  await select.click()
  await box('web').check()
  await page.setViewportSize({ width: 1280, height: 800 })
  expect(await box('web').isChecked()).toBe(true)
  await page.setViewportSize({ width: 390, height: 800 })
  expect(await select.getAttribute('aria-pressed')).toBe('true')
  await select.click()
  await bar.waitFor({ state: 'detached', ...WAIT })
  await page.setViewportSize({ width: 1280, height: 800 })
  expect(await box('web').isChecked()).toBe(false)
})
