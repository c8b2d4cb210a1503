import { expect, onTestFinished, test } from 'vitest'
import { packages, signIn } from '../../host/client.ts'
import { PASSWORDS, rig } from '../../host/rig.ts'
import { startService } from '../../host/service.ts'
import { openPage } from '../browser.ts'

const WAIT = { timeout: 60_000 }

test('a user upgrades a real container in the browser, from sign-in to the history', async () => {
  await rig('reset')
  const service = await startService({ automatic: true })
  // The page is closed before.
  onTestFinished(() => service.stop())
  const page = await openPage(service.url)
  await page.locator('input[name=username]').fill('bob')
  await page.locator('input[name=password]').fill(PASSWORDS.bob)
  await page.getByRole('button', { name: 'Se connecter' }).click()

  await page.getByRole('link', { name: 'Mettre à jour' }).click(WAIT)
  const target = page.locator('.targets tr.row', { hasText: '101' })
  await target.getByText(/^\d+ paquets?$/).waitFor(WAIT)
  await target.getByRole('button', { name: /^Examiner la mise à jour/ }).click()
  await page.locator('dialog').getByRole('switch', { name: 'Autoriser les suppressions' }).click(WAIT)
  await page.locator('dialog').getByText('rig-old', { exact: true }).waitFor(WAIT)
  await page.locator('dialog .primary[aria-disabled=false]').click(WAIT)
  await page.getByText(/rig-slow: step 40 of 40/).waitFor(WAIT)
  await page.locator('.output').getByText('Terminé', { exact: true }).waitFor(WAIT)

  await target.getByText('À jour').waitFor(WAIT)
  await page.getByRole('tab', { name: 'Exécutions' }).click()
  const row = page.locator('.history tbody tr').first()
  await row.getByText('Terminé', { exact: true }).waitFor(WAIT)
  expect(await packages(await signIn(service, 'bob'), 'lxc:101')).toEqual([])
  await row.getByRole('link').click()
  await page.getByText(/rig-slow: step 40 of 40/).waitFor(WAIT)
  expect(new URL(page.url()).pathname).toMatch(/^\/updates\/.+/)
})
