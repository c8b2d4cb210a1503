import type { Page } from 'playwright-core'
import { codeNow, shownSecret } from './flows/proofs.ts'
import type { Looker } from './reboot-looks.ts'

/** The account page with its dialogs, the second step of a sign-in, and the question who the user is. */
export async function lookAtFactors(page: Page, { go, takeAll }: Looker): Promise<void> {
  const dialog = page.locator('dialog')
  await go('/account')
  await page.locator('section.factors .deeds button').first().click()
  await page.locator('.qr path').waitFor({ state: 'attached' })
  await takeAll('factors-app')
  const secret = await shownSecret(page)
  await takeAll('factors-secret')
  await page.locator('input[name=code]').fill(codeNow(secret, -1))
  await page.keyboard.press('Enter')
  await page.locator('.codes li').first().waitFor()
  await takeAll('factors-codes')
  await page.locator('.kept input').check()
  await page.locator('.recovery .primary').click()
  await dialog.waitFor({ state: 'detached' })
  await takeAll('factors-account', 'section.factors')
  await page.getByRole('button', { name: /^(Nouveau jeton|New token)$/ }).click()
  await page.locator('dialog input[name=name]').fill('Monitoring')
  await page.getByText(/^(Certaines|Some)$/).click()
  await takeAll('factors-token')
  await page.keyboard.press('Escape')
  await go('/access')
  await takeAll('factors-people')
  await page.locator('.people button[aria-expanded]').first().click()
  await takeAll('factors-sessions')
  await go('/account')
  await page.route('**/api/auth/factors/recovery', (route) =>
    route.fulfill({ status: 403, json: { error: '', code: 'step_up_required' } }),
  )
  await page.locator('.recovery-left button').click()
  await dialog.locator('.primary').click()
  await page.locator('.step-up input[name=code]').waitFor()
  await takeAll('factors-step-up')
  await page.keyboard.press('Escape')
  await takeAll('factors-declined', '.recovery-left')
  await page.unroute('**/api/auth/factors/recovery')
  await page.locator('section.factors .list button').click()
  await dialog.locator('.danger').click()
  await dialog.waitFor({ state: 'detached' })
}
