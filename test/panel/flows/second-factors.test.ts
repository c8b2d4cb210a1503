import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { follow, openPage, signIn } from '../browser.ts'
import { addAuthenticator, codeNow, shownSecret } from './proofs.ts'
import { started } from './started.ts'

const WAIT = { timeout: 30_000 }
/** A sign-in that goes on, a wrong answer, and polls under way at a sign-out. */
const REFUSED = /status of (401|403)/

async function give(page: Page, name = 'demo') {
  await page.locator('input[name=username]').fill(name)
  await page.locator('input[name=password]').fill(name)
  await page.keyboard.press('Enter')
}

/** Adds an authenticator app on the account page; returns its secret, the code that it took, and the recovery codes. */
async function addApp(page: Page) {
  await page.getByRole('button', { name: 'Ajouter une application' }).click()
  await page.locator('.qr path').waitFor({ state: 'attached', ...WAIT })
  const secret = await shownSecret(page)
  const used = codeNow(secret, -1)
  await page.locator('input[name=code]').fill(used)
  await page.keyboard.press('Enter')
  await page.locator('.codes li').first().waitFor(WAIT)
  const codes = await page.locator('.codes li').allInnerTexts()
  return { secret, used, codes }
}

async function keepCodes(page: Page) {
  await page.getByLabel('Je les ai gardés').check()
  await page.getByRole('button', { name: 'Terminer' }).click()
  await page.locator('dialog').waitFor({ state: 'detached' })
}

async function signOut(page: Page) {
  await page.locator('main').getByRole('button', { name: 'Se déconnecter' }).click()
  await page.locator('input[name=username]').waitFor(WAIT)
}

test('an authenticator app is added, then asked for after the password, and each code works once', async () => {
  const { service } = await started()
  const page = await openPage(`${service.url}/account`, { expected: REFUSED })
  await signIn(page)
  const { secret, used, codes } = await addApp(page)
  expect(new Set(codes).size).toBe(10)
  const done = page.getByRole('button', { name: 'Terminer' })
  expect(await done.getAttribute('aria-disabled')).toBe('true')
  await keepCodes(page)
  await page.getByText('Il reste 10 codes de secours.').waitFor(WAIT)

  await signOut(page)
  await give(page)
  const code = page.getByLabel('Code à six chiffres')
  await code.waitFor(WAIT)
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('code')
  expect(await code.getAttribute('autocomplete')).toBe('one-time-code')
  await code.fill(used)
  await page.keyboard.press('Enter')
  await page.getByText('Ce n’est pas la bonne réponse, ou elle a déjà servi.').waitFor(WAIT)
  expect(await code.inputValue()).toBe('')
  await code.fill(codeNow(secret))
  await page.keyboard.press('Enter')
  await page.locator('.shell').waitFor(WAIT)

  await follow(page, '/account')
  await signOut(page)
  await give(page)
  await page.getByRole('button', { name: 'Utiliser un code de secours' }).click(WAIT)
  await page.getByLabel('Code de secours').fill((codes[0] ?? '').toLowerCase())
  await page.keyboard.press('Enter')
  await page.locator('.shell').waitFor(WAIT)
  await follow(page, '/account')
  await page.getByText('Il reste 9 codes de secours.').waitFor(WAIT)
})

test('a sign-in can be begun again instead of answered, and the password is not kept', async () => {
  const { service } = await started()
  const page = await openPage(`${service.url}/account`, { expected: REFUSED })
  await signIn(page)
  await addApp(page)
  await keepCodes(page)
  await signOut(page)
  await give(page)
  await page.getByRole('button', { name: 'Annuler' }).click(WAIT)

  await page.locator('input[name=username]').waitFor()
  expect(await page.locator('input[name=username]').inputValue()).toBe('demo')
  expect(await page.locator('input[name=password]').inputValue()).toBe('')
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('password')
})

test('a passkey is added, and is the second factor of the next sign-in', async () => {
  const { service } = await started()
  const page = await openPage(`${service.url.replace('127.0.0.1', 'localhost')}/account`, { expected: REFUSED })
  await addAuthenticator(page)
  await signIn(page)
  await page.getByRole('button', { name: 'Ajouter une clé d’accès' }).click()
  await page.getByLabel('Nom de la clé').fill('Portable')
  await page.keyboard.press('Enter')
  await page.locator('.codes li').first().waitFor(WAIT)
  await keepCodes(page)
  await page.getByText('Portable').waitFor(WAIT)

  await signOut(page)
  await give(page)
  await page.getByRole('button', { name: 'Utiliser la clé d’accès' }).click(WAIT)

  await page.locator('.shell').waitFor(WAIT)
  await follow(page, '/account')
  await page.getByRole('button', { name: 'Supprimer Portable' }).click(WAIT)
  await page.locator('dialog').getByRole('button', { name: 'Supprimer' }).click()
  await page.getByText('qui apprend votre mot de passe entre').waitFor(WAIT)
})

test('a panel that is opened by its address offers no passkey', async () => {
  const { service } = await started()
  const page = await openPage(`${service.url}/account`, { expected: /status of 409/ })
  await signIn(page)
  await page.getByRole('button', { name: 'Ajouter une clé d’accès' }).click(WAIT)
  await page.keyboard.press('Enter')

  await page.getByText('Les clés d’accès demandent un panneau ouvert par son nom').waitFor(WAIT)
})

test('who must have a second factor adds one before anything else', async () => {
  const { service } = await started({ PANEL_REQUIRE_FACTOR: 'all' })
  const page = await openPage(`${service.url}/containers`, { expected: REFUSED })
  await give(page)
  await page.getByRole('heading', { name: 'Ajoutez un second facteur' }).waitFor(WAIT)
  expect(await page.locator('.shell').count()).toBe(0)
  await page.getByRole('button', { name: 'Application d’authentification' }).click()
  await page.locator('.qr path').waitFor({ state: 'attached', ...WAIT })
  const secret = await shownSecret(page)
  await page.locator('input[name=code]').fill(codeNow(secret))
  await page.keyboard.press('Enter')
  await page.locator('.codes li').first().waitFor(WAIT)
  await page.getByLabel('Je les ai gardés').check()
  await page.getByRole('button', { name: 'Terminer' }).click()

  await page.getByRole('heading', { name: 'Conteneurs' }).waitFor(WAIT)
  await follow(page, '/account')
  const remove = page.getByRole('button', { name: /^Supprimer / })
  await remove.waitFor(WAIT)
  expect(await remove.getAttribute('aria-disabled')).toBe('true')
})
