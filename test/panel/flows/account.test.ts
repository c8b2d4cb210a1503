import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { createPanel } from '../../../client/index.ts'
import { openPage, signIn } from '../browser.ts'
import { started } from './started.ts'

async function opened(expected?: RegExp) {
  const { service } = await started()
  const page = await openPage(`${service.url}/account`, { ...(expected && { expected }) })
  await signIn(page)
  return { service, page }
}

const language = (page: Page) => page.evaluate(() => document.documentElement.lang)
const theme = (page: Page) => page.evaluate(() => document.documentElement.dataset.theme)

test('language, theme and sidebar change at once, and the service stores them', async () => {
  const { page } = await opened()
  await page.getByText('Clair', { exact: true }).click()
  await page.getByText('À droite', { exact: true }).click()
  await page.getByText('English', { exact: true }).click()
  await page.getByRole('heading', { name: 'My account' }).waitFor()
  const shown = async () => [
    await language(page),
    await theme(page),
    await page.locator('.shell').getAttribute('data-side'),
  ]
  expect(await shown()).toEqual(['en', 'light', 'right'])

  await page.evaluate(() => localStorage.removeItem('ops-panel.preferences'))
  await page.reload()
  await page.getByRole('heading', { name: 'My account' }).waitFor()
  expect(await shown()).toEqual(['en', 'light', 'right'])
})

test('a rejected preference is restored, with an error', async () => {
  const { page } = await opened(/status of 503/)
  await page.getByText('Clair', { exact: true }).click()
  await expect.poll(() => theme(page)).toBe('light')
  await page.route('**/api/auth/preferences', (route) =>
    route.fulfill({ status: 503, json: { error: '', code: 'storage_failed' } }),
  )
  await page.getByText('Sombre', { exact: true }).click()

  await page.getByText('La base de données du panneau ne répond pas').waitFor()
  expect(await theme(page)).toBe('light')
  expect(await page.getByRole('radio', { name: 'Clair' }).isChecked()).toBe(true)
})

test('a session shows its device, and ends when it is revoked', async () => {
  const { service, page } = await opened()
  const other = createPanel({ url: service.url })
  await other.signIn('demo', 'demo')
  await page.reload()
  await page.getByText('Cet appareil').waitFor()
  await page.getByText('Chrome sur Linux').waitFor()
  await page.getByRole('button', { name: /^Révoquer la session de Node\.js/ }).click()

  await page.getByText('Session révoquée\u00a0: elle n’est plus acceptée nulle part.').waitFor()
  await page.getByRole('button', { name: /^Révoquer/ }).waitFor({ state: 'detached' })
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('H1')
  await expect(other.api('GET /api/auth/me')).rejects.toMatchObject({ code: 'unauthenticated' })
})

test('all other sessions are revoked after a confirmation, and this one stays', async () => {
  const { service, page } = await opened()
  const others = [createPanel({ url: service.url }), createPanel({ url: service.url })]
  for (const other of others) await other.signIn('demo', 'demo')
  await page.reload()
  await page.getByRole('button', { name: 'Révoquer toutes les autres' }).click()
  await page.getByText('Les 2 autres appareils devront se reconnecter.').waitFor()
  await page.locator('dialog').getByRole('button', { name: 'Révoquer toutes les autres' }).click()

  await page
    .getByRole('button', { name: /^Révoquer/ })
    .first()
    .waitFor({ state: 'detached' })
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('H1')
  for (const other of others) await expect(other.api('GET /api/auth/me')).rejects.toThrow()
  await page.reload()
  await page.getByText('Cet appareil').waitFor()
})

test('signing out ends the own session', async () => {
  const { page } = await opened()
  await page.getByText('Cet appareil').waitFor()
  await page.locator('main').getByRole('button', { name: 'Se déconnecter' }).click()
  await page.locator('input[name=username]').waitFor()
})
