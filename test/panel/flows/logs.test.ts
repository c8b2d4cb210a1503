import { expect, test } from 'vitest'
import { openPage, signIn } from '../browser.ts'
import { started } from './started.ts'

async function opened(expected?: RegExp) {
  const { service } = await started({ PANEL_LOG_LEVEL: 'info' })
  const page = await openPage(`${service.url}/logs`, { ...(expected && { expected }) })
  await signIn(page)
  await page.locator('.log-lines li').first().waitFor()
  return { service, page }
}

test('the newest line is visible at the bottom; a word or a request id filters the lines', async () => {
  const { service, page } = await opened()
  const missing = await fetch(`${service.url}/api/updates/jobs/nothing-like-it`)
  const id = missing.headers.get('x-request-id') ?? ''
  await page.getByRole('button', { name: 'Actualiser' }).click()
  await page.getByRole('button', { name: `N’afficher que la requête ${id}` }).waitFor()
  await page.locator('.log-lines li').last().waitFor()
  expect(
    await page.locator('.log-lines').evaluate((list) => list.scrollHeight - list.clientHeight - list.scrollTop),
  ).toBeLessThan(2)

  await page.getByRole('button', { name: `N’afficher que la requête ${id}` }).click()
  expect(await page.locator('.log-lines li').allInnerTexts()).toEqual([expect.stringContaining(id)])
  await page.getByRole('searchbox').fill('nothing-like-it absent')
  await page.getByText('Aucune ligne ne correspond.').waitFor()
})

test('lines of a lower level can be hidden', async () => {
  const { page } = await opened()
  await page.getByRole('combobox').selectOption({ label: 'Erreur ou plus' })
  await page.getByText(/^0 ligne sur \d+$/).waitFor()
})

test('when the service fails, old lines stay beside the error, and a retry works', async () => {
  const { page } = await opened(/status of 503/)
  await page.route('**/api/settings/logs', (route) =>
    route.fulfill({ status: 503, json: { error: '', code: 'storage_failed' } }),
  )
  await page.getByRole('button', { name: 'Actualiser' }).click()
  await page.getByText('La base de données du panneau ne répond pas').waitFor()
  expect(await page.locator('.log-lines li').count()).toBeGreaterThan(0)
  await page.unroute('**/api/settings/logs')
  await page.getByRole('button', { name: 'Réessayer' }).click()
  await page.getByText('La base de données du panneau ne répond pas').waitFor({ state: 'detached' })
})

test('the log refreshes automatically while that is switched on', async () => {
  const { service, page } = await opened()
  await page.getByRole('checkbox', { name: 'Actualiser toutes les 5 s' }).check()
  const { headers } = await fetch(`${service.url}/api/updates/jobs/nothing-like-it`)
  await page.getByText(headers.get('x-request-id') ?? '', { exact: true }).waitFor()
})
