import { expect, test } from 'vitest'
import { createPanel } from '../../../client/index.ts'
import { startDemo } from '../../runtime/demo.ts'
import { startService } from '../../serve/service.ts'
import { openPage } from '../browser.ts'
import { checkingByItself } from './update-states.ts'

test('a newcomer reaches a followed upgrade in at most six clicks, each of them labelled', async () => {
  const demo = await startDemo()
  demo.lineMs = 20
  const service = await startService(demo)
  // Outside of tests, automatic checks are on.
  const panel = createPanel({ url: service.url })
  await panel.signIn('demo', 'demo')
  await checkingByItself(panel)
  const page = await openPage(service.url)
  let clicks = 0
  const press = async (name: string) => {
    clicks += 1
    await page.getByRole('button', { name }).or(page.getByRole('link', { name })).first().click()
  }
  const began = performance.now()

  await page.getByLabel('Nom d’utilisateur').fill('demo')
  await page.getByLabel('Mot de passe', { exact: true }).fill('demo')
  await press('Se connecter')
  await press('Mettre à jour')
  await page.getByRole('tab', { name: 'Cibles' }).waitFor()
  await press('Examiner la mise à jour de web')
  clicks += 1
  await page.locator('dialog .primary[aria-disabled=false]').click()
  await page.locator('.output .line').first().waitFor()
  console.info(`${clicks} clicks, ${Math.round(performance.now() - began)} ms of which nobody had to think`)
  await page.locator('.output').getByText('Terminé', { exact: true }).waitFor()

  expect(clicks).toBeLessThanOrEqual(6)
})
