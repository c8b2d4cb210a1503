import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { focused, openPage, signIn } from '../browser.ts'
import { codeNow, shownSecret } from './proofs.ts'
import { started } from './started.ts'

const WAIT = { timeout: 30_000 }

async function account() {
  const { service } = await started()
  const page = await openPage(`${service.url}/account`)
  await signIn(page)
  return page
}

/** Chromium closes a dialog at the second Escape, whatever the page does about the first one. */
async function pressEscape(page: Page) {
  for (let n = 0; n < 3; n += 1) await page.keyboard.press('Escape')
}

/** The panel opens the dialog again as soon as the browser tells it of the close. */
function shownCodes(page: Page): Promise<number> {
  const codes = page.locator('dialog:modal .codes li')
  return codes.evaluateAll((all) => all.filter((each) => each.checkVisibility()).length)
}

test('Escape takes no new API token away before its owner has kept it', async () => {
  const page = await account()
  await page.getByRole('button', { name: 'Nouveau jeton' }).click(WAIT)
  await page.getByLabel('Nom', { exact: true }).fill('Supervision')
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Votre nouveau jeton' })
  await dialog.waitFor(WAIT)
  const token = await dialog.locator('.secret').innerText()

  await pressEscape(page)

  expect(await dialog.locator('.secret').innerText()).toBe(token)
  await expect.poll(() => page.evaluate(() => document.querySelector('dialog')?.matches(':modal')), WAIT).toBe(true)
  await dialog.getByRole('button', { name: 'Terminer' }).click()
  await page.getByRole('button', { name: 'Nouveau jeton' }).click()
  await page.getByLabel('Nom', { exact: true }).waitFor(WAIT)
})

test('Escape takes no recovery codes away, neither the first ones nor those that replace them', async () => {
  const page = await account()
  await page.getByRole('button', { name: 'Ajouter une application' }).click(WAIT)
  await page.locator('.qr path').waitFor({ state: 'attached', ...WAIT })
  await page.locator('input[name=code]').fill(codeNow(await shownSecret(page)))
  await page.keyboard.press('Enter')
  await page.locator('dialog .codes li').first().waitFor(WAIT)
  expect(await focused(page)).not.toBe('nothing')
  expect(await page.locator('dialog h2').innerText()).toBe('Codes de secours')

  await pressEscape(page)

  await expect.poll(() => shownCodes(page), WAIT).toBe(10)
  await page.getByLabel('Je les ai gardés').check()
  await page.getByRole('button', { name: 'Terminer' }).click()
  await page.getByRole('button', { name: 'Nouveaux codes de secours' }).click(WAIT)
  await page.getByRole('button', { name: 'Remplacer les codes' }).click()
  await page.getByRole('dialog', { name: 'Vos nouveaux codes de secours' }).waitFor(WAIT)

  await pressEscape(page)

  await expect.poll(() => shownCodes(page), WAIT).toBe(10)
})
