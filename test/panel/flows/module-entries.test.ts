import type { Locator } from 'playwright-core'
import { expect, test } from 'vitest'
import { openPage, signIn } from '../browser.ts'
import { environmentWith } from './with-modules.ts'
import { started } from './started.ts'

const entry = (id: string, nav_label: string, nav_icon: string | null, nav_order: number) => ({
  files: { 'index.html': '<p>A page</p>' },
  nav: { nav_label, nav_icon, nav_href: `/modules/${id}`, nav_order },
})
/** Their order is neither that of their ids nor that of their labels. */
const MODULES = {
  alpha: entry('alpha', 'Zone dernière', 'globe', 30),
  beta: entry('beta', 'Marche', 'activity', 10),
  gamma: entry('gamma', 'Agenda', null, 20),
}
const LABELS = ['Marche', 'Agenda', 'Zone dernière']

async function opened(width: number) {
  const { service } = await started(await environmentWith(MODULES))
  const page = await openPage(service.url, { viewport: { width, height: 800 } })
  await signIn(page)
  return page
}

/** The drawings of the icons, which tell one icon from another. */
const drawings = (entries: Locator) =>
  entries.evaluateAll((found) => found.map((each) => each.querySelector('svg')?.innerHTML ?? ''))

test('the “More” menu of a phone has the entries of modules, with their labels and icons, in their order', async () => {
  const page = await opened(390)
  await page.getByRole('button', { name: 'Plus', exact: true }).click()
  const entries = page.getByRole('dialog').locator('a[href^="/modules/"]')
  await expect.poll(() => entries.allInnerTexts()).toEqual(LABELS)
  const drawn = await drawings(entries)
  expect(drawn.every((each) => each !== '')).toBe(true)
  expect(new Set(drawn).size).toBe(3)
  await entries.nth(1).click()
  await page.waitForURL('**/modules/gamma')
  expect(await page.getByRole('dialog').count()).toBe(0)
})

test('the palette has the entries of modules, with their labels and icons, in their order', async () => {
  const page = await opened(1280)
  const menu = page.locator('.side a[href^="/modules/"]')
  await expect.poll(() => menu.allInnerTexts()).toEqual(LABELS)
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('modules/')
  const found = page.locator('[role=option]', { has: page.locator('.more', { hasText: /^\/modules\// }) })
  await expect.poll(() => found.count()).toBe(3)
  const titles = await found.locator('.grow').evaluateAll((all) => all.map((each) => each.firstChild?.textContent))
  expect(titles).toEqual(LABELS)
  expect(await drawings(found)).toEqual(await drawings(menu))
  await page.getByRole('combobox').fill('Agenda')
  await page.getByRole('option', { name: 'Agenda' }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL('**/modules/gamma')
})
