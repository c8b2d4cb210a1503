import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { focused, openPage, signIn } from '../browser.ts'
import { findingsOf } from './page-findings.ts'
import { started } from './started.ts'
import { planning } from './plan-states.ts'

const SHORTCUTS = [
  { label: 'Sauvegardes', href: '/updates' },
  { label: 'Supervision', href: 'https://status.example/' },
  { label: 'Piège', href: 'javascript:alert(1)' },
]

async function opened(name: 'demo' | 'guest' = 'demo', options: Parameters<typeof openPage>[1] = {}) {
  const { service } = await started()
  const page = await openPage(service.url, { reducedMotion: 'reduce', ...options })
  // The service would refuse the last shortcut.
  await page.route('**/api/settings/public', (route) =>
    route.fulfill({ json: { dashboard_shortcuts: JSON.stringify(SHORTCUTS) } }),
  )
  await signIn(page, name)
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').waitFor()
  return page
}

/** The results of a search, once all data have loaded. */
async function search(page: Page, text: string): Promise<string[]> {
  await page.getByRole('combobox').fill('Sauvegardes')
  await page.getByRole('option', { name: 'Sauvegardes' }).waitFor()
  await page.getByRole('combobox').fill('Mettre à jour web')
  await page.getByRole('option', { name: 'Mettre à jour web' }).waitFor()
  await page.getByRole('combobox').fill(text)
  return page.locator('[role=option] > .grow').allInnerTexts()
}

test('a few letters find a page, and its heading gets the focus', async () => {
  const page = await opened()
  await page.keyboard.type('cntn')
  await page.keyboard.press('Enter')

  await page.waitForURL('**/containers')
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Conteneurs')
  expect(await page.locator('dialog').count()).toBe(0)
})

test('a dangerous command asks first; no returns to the search, yes opens the page with the progress', async () => {
  const page = await opened()
  expect(await search(page, 'redem web')).toEqual([expect.stringMatching(/^Redémarrer web/)])
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Redémarrer web' }).waitFor()
  expect(await focused(page)).toBe('Annuler')
  await page.keyboard.press('Enter')
  await expect.poll(() => page.getByRole('combobox').inputValue()).toBe('redem web')
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('role'))).toBe('combobox')
  expect(page.url()).not.toContain('/containers')

  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Redémarrer web' }).waitFor()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/containers')
  await page.getByText(/^Redémarr(age…|é)$/).waitFor()
})

test('an upgrade shows its plan first and opens its output', async () => {
  const { service } = await started()
  const page = await openPage(service.url, { expected: /status of (404|429)/ })
  await signIn(page)
  const plans = await planning(page)
  plans.state.startRefusal = { status: 429, json: { error: '', code: 'rate_limited' } }
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('Mettre à jour web')
  await page.getByRole('option', { name: 'Mettre à jour web' }).click()
  await page.locator('dialog.drawer').waitFor()
  expect(await page.locator('dialog.palette').count()).toBe(0)
  const start = page.locator('dialog.drawer .primary[aria-disabled=false]')
  await start.click()
  await page.locator('dialog.drawer').getByText('Trop de requêtes').waitFor()
  plans.state.startRefusal = undefined
  await start.click()
  await page.waitForURL('**/updates/*')
})

test('arrows move the announced selection; Escape returns the focus', async () => {
  const page = await opened()
  await page.keyboard.press('Escape')
  await page.locator('dialog').waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Modules' }).focus()
  await page.keyboard.press('Control+k')
  const box = page.getByRole('combobox')
  const chosen = async () => page.locator(`[id="${await box.getAttribute('aria-activedescendant')}"]`).innerText()
  // A check of the demo host that still runs is listed first.
  await expect.poll(chosen).toContain('Tableau de bord')
  await page.keyboard.press('ArrowDown')
  expect(await chosen()).toContain('Mises à jour')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowUp')
  expect(await chosen()).toContain('Se déconnecter')
  expect(await page.locator('[aria-selected=true]').count()).toBe(1)
  await page.keyboard.press('Escape')
  await page.locator('dialog').waitFor({ state: 'detached' })
  expect(await focused(page)).toBe('Modules')
})

test.each([320, 1280])('the palette has no axe violation at %s px, with and without results', async (width) => {
  const page = await opened()
  await page.setViewportSize({ width, height: 800 })
  const found: string[] = []
  for (const text of ['', 'web', 'nothing like it']) {
    await search(page, text)
    found.push(...(await findingsOf(page)).map((finding) => `${text}: ${finding}`))
  }
  expect(found).toEqual([])
})

test('the palette is in the menu on a phone', async () => {
  const page = await opened()
  await page.keyboard.press('Escape')
  await page.setViewportSize({ width: 390, height: 800 })
  await page.getByRole('button', { name: 'Plus' }).click()
  await page.locator('dialog').getByRole('button', { name: 'Rechercher…' }).click()
  await page.keyboard.type('modules')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/modules')
})

test('recent commands come first, and are cleared at sign-out', async () => {
  const page = await opened()
  await page.keyboard.type('modules')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/modules')
  await page.keyboard.press('Control+k')
  await page.getByText('Récemment').waitFor()
  expect(await page.getByRole('option').first().innerText()).toContain('Modules')

  await page.keyboard.type('se déconnecter')
  await page.keyboard.press('Enter')
  await page.locator('input[name=username]').waitFor()
  expect(await page.evaluate(() => Object.keys(localStorage))).not.toContain('ops-panel.recent')
})

test('unsafe links are not offered', async () => {
  const page = await opened()
  expect(await search(page, 'Piège')).toEqual([])
  expect(await search(page, 'Supervision')).toEqual([expect.stringContaining('Supervision')])
  await search(page, 'Sauvegardes')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/updates')
})

test('operators find no commands of administrators', async () => {
  const page = await opened('guest')
  expect(await search(page, 'web')).toContainEqual(expect.stringMatching(/^Mettre à jour web/))
  expect(await search(page, 'old-backup')).toEqual([expect.stringMatching(/^Démarrer old-backup/)])
  for (const name of ['Audit', 'Journaux', 'Réglages', 'Terminal']) expect(await search(page, name), name).toEqual([])
  expect(await search(page, 'Conteneurs')).toEqual(['Conteneurs'])
})

test('no upgrade is offered for a target that cannot be upgraded, and no target command while the host is away', async () => {
  const page = await opened('demo', { expected: /status of 502/ })
  let away = false
  const Listed = z.object({ checks: z.array(z.looseObject({ target: z.string(), state: z.string() })) })
  await page.route('**/api/updates/checks', async (route) => {
    if (route.request().method() !== 'GET') return route.continue()
    const response = await route.fetch()
    const { checks } = Listed.parse(await response.json())
    const unsupported = (target: string) => (target === 'lxc:102' ? { state: 'unsupported' } : {})
    await route.fulfill({
      response,
      json: { checks: checks.map((each) => ({ ...each, ...unsupported(each.target) })) },
    })
  })
  await page.route(/\/api\/hypervisor\/(host|containers)$/, (route) =>
    away ? route.fulfill({ status: 502, json: { code: 'ssh_failed', error: 'Erreur SSH : x' } }) : route.continue(),
  )
  await page.reload()
  await page.locator('.shell').waitFor()
  await page.keyboard.press('Control+k')

  expect(await search(page, 'mettre à jour')).not.toContainEqual(expect.stringMatching(/db|old-backup/))
  expect(await search(page, 'db')).toContainEqual(expect.stringMatching(/^Ouvrir un terminal.*db/))
  expect(await search(page, 'old-backup')).toEqual([expect.stringMatching(/^Démarrer old-backup/)])

  away = true
  await page.reload()
  await page.getByText('La connexion SSH à l’hôte a échoué').first().waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('web')
  await page.getByText('Rien ne correspond').first().waitFor()
})
