import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { follow, openPage, signIn } from '../browser.ts'
import { ageProofs } from './proofs.ts'
import { started } from './started.ts'

const WAIT = { timeout: 30_000 }

/** Pastes a text as a person does, and returns what the field then contains. */
async function pasted(page: Page, selector: string, text: string): Promise<string> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.evaluate((given) => navigator.clipboard.writeText(given), text)
  await page.locator(selector).focus()
  await page.keyboard.press('ControlOrMeta+V')
  return page.locator(selector).inputValue()
}

const kindOf = async (page: Page, selector: string) => [
  await page.locator(selector).getAttribute('type', WAIT),
  await page.locator(selector).getAttribute('autocomplete'),
]

test('passwords are hidden, can be pasted, and are known to password managers', async () => {
  const { service } = await started()
  const page = await openPage(service.url, { expected: /status of (401|403)/ })
  expect(await kindOf(page, 'input[name=username]')).toEqual(['text', 'username'])
  expect(await kindOf(page, 'input[name=password]')).toEqual(['password', 'current-password'])
  expect(await pasted(page, 'input[name=password]', ' gluß 9')).toBe(' gluß 9')

  await signIn(page)
  await ageProofs(service.folder)
  await page.reload()
  await page.locator('.shell').waitFor(WAIT)
  await follow(page, '/account')
  await page.getByRole('button', { name: 'Nouveau jeton' }).click(WAIT)
  await page.getByLabel('Nom', { exact: true }).fill('Supervision')
  await page.keyboard.press('Enter')

  await page.locator('.step-up input').fill('wrong', WAIT)
  await page.keyboard.press('Enter')
  // People who have signed in by a provider have no password.
  await page.getByText('Votre compte n’a pas de mot de passe sur l’hôte').waitFor(WAIT)
  await page.locator('.step-up input').fill('')
  expect(await kindOf(page, '.step-up input')).toEqual(['password', 'current-password'])
  expect(await pasted(page, '.step-up input', 'demo')).toBe('demo')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'Votre nouveau jeton' }).waitFor(WAIT)
})
