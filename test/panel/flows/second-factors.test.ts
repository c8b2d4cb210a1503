import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { follow, openPage, signIn } from '../browser.ts'
import { addAuthenticator, codeNow, shownSecret, wrongCode } from './proofs.ts'
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
  expect(await page.getByText('Vous êtes déconnecté.').count()).toBe(0)
  await code.fill(used)
  await page.keyboard.press('Enter')
  await page.getByText('Ce code n’est pas le bon, ou il a déjà servi.').waitFor(WAIT)
  expect(await code.inputValue()).toBe('')
  await code.fill(codeNow(secret))
  await page.keyboard.press('Enter')
  await page.locator('.shell').waitFor(WAIT)

  await follow(page, '/account')
  await signOut(page)
  await give(page)
  await page.getByRole('button', { name: 'Utiliser un code de secours' }).click(WAIT)
  await page.getByLabel('Code de secours').fill('AAAA-BBBB-CCCC-DDDD-EEEE-FFFF')
  await page.keyboard.press('Enter')
  await page.getByText('Ce code de secours n’est pas le bon, ou il a déjà servi. Prenez-en un autre.').waitFor(WAIT)
  await page.getByLabel('Code de secours').fill((codes[0] ?? '').toLowerCase())
  await page.keyboard.press('Enter')
  await page.locator('.shell').waitFor(WAIT)
  await follow(page, '/account')
  await page.getByText('Il reste 9 codes de secours.').waitFor(WAIT)
})

test('a second app has a name of its own', async () => {
  const { service } = await started()
  const page = await openPage(`${service.url}/account`)
  await signIn(page)
  await addApp(page)
  await keepCodes(page)
  await page.getByRole('button', { name: 'Ajouter une application' }).click()
  await page.locator('.qr path').waitFor({ state: 'attached', ...WAIT })
  await page.locator('input[name=code]').fill(codeNow(await shownSecret(page)))
  await page.keyboard.press('Enter')

  const remove = page.getByRole('button', { name: /^Supprimer / })
  await expect.poll(() => remove.count(), WAIT).toBe(2)
  const names = await remove.evaluateAll((buttons) => buttons.map((button) => button.getAttribute('aria-label')))
  expect(names.sort()).toEqual([
    'Supprimer Application d’authentification',
    'Supprimer Application d’authentification 2',
  ])
})

test('a wrong code of a new app leaves the field empty, and too many of them begin again with another secret', async () => {
  const { service } = await started()
  const page = await openPage(`${service.url}/account`, { expected: /status of (403|410)/ })
  await signIn(page)
  await page.getByRole('button', { name: 'Ajouter une application' }).click()
  await page.locator('.qr path').waitFor({ state: 'attached', ...WAIT })
  const before = await shownSecret(page)
  const code = page.locator('input[name=code]')
  const wrong = wrongCode(before)
  await code.fill(wrong)
  await page.keyboard.press('Enter')
  await page.getByText('vérifiez l’heure du téléphone').waitFor(WAIT)
  expect(await code.inputValue()).toBe('')
  expect(await code.evaluate((field) => field === document.activeElement)).toBe(true)

  const again = page.getByRole('button', { name: 'Recommencer' })
  const refused = () => page.waitForResponse((response) => response.url().endsWith('/totp/confirm'))
  for (let n = 0; n < 10 && (await again.count()) === 0; n += 1) {
    await code.fill(wrong)
    await Promise.all([refused(), page.keyboard.press('Enter')])
    await page.locator('.add-factor [aria-busy=true]').waitFor({ state: 'detached' })
  }
  await again.click()
  await page.getByText('Ce code remplace celui d’avant').waitFor(WAIT)
  await expect.poll(async () => (await page.locator('.secret').innerText()).replaceAll(' ', ''), WAIT).not.toBe(before)
  const after = (await page.locator('.secret').innerText()).replaceAll(' ', '')
  expect(await code.evaluate((field) => field === document.activeElement)).toBe(true)
  await page.keyboard.type(codeNow(after))
  await page.keyboard.press('Enter')
  await page.locator('.codes li').first().waitFor(WAIT)
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
  const title = page.getByRole('heading', { name: 'Ajoutez un second facteur' })
  await title.waitFor(WAIT)
  expect(await title.evaluate((heading) => heading === document.activeElement)).toBe(true)
  expect(await page.locator('.shell').count()).toBe(0)
  const app = page.getByRole('button', { name: 'Application d’authentification' })
  await app.click()
  await page.locator('.qr path').waitFor({ state: 'attached', ...WAIT })
  await page.getByRole('button', { name: 'Annuler' }).click()
  expect(await app.evaluate((button) => button === document.activeElement)).toBe(true)
  await app.click()
  await page.locator('.qr path').waitFor({ state: 'attached', ...WAIT })
  const secret = await shownSecret(page)
  await page.locator('input[name=code]').fill(codeNow(secret))
  await page.keyboard.press('Enter')
  await page.locator('.codes li').first().waitFor(WAIT)
  expect(await page.getByRole('heading').allInnerTexts()).toEqual(['Codes de secours'])
  expect(await page.getByText('qui n’en a pas encore').count()).toBe(0)
  await page.getByLabel('Je les ai gardés').check()
  await page.getByRole('button', { name: 'Terminer' }).click()

  await page.getByRole('heading', { name: 'Conteneurs' }).waitFor(WAIT)
  await follow(page, '/account')
  const remove = page.getByRole('button', { name: /^Supprimer / })
  await remove.waitFor(WAIT)
  expect(await remove.getAttribute('aria-disabled')).toBe('true')
})

test('a factor with a long name tells its kind on a phone too', async () => {
  const { service } = await started()
  const page = await openPage(`${service.url.replace('127.0.0.1', 'localhost')}/account`, {
    viewport: { width: 390, height: 800 },
  })
  await addAuthenticator(page)
  await signIn(page)
  await page.getByRole('button', { name: 'Ajouter une clé d’accès' }).click()
  await page.getByLabel('Nom de la clé').fill('Clé de sécurité noire dans le tiroir du bureau à Lyon')
  await page.keyboard.press('Enter')
  await page.locator('.codes li').first().waitFor(WAIT)
  await keepCodes(page)

  const row = page.locator('.factors .list > li')
  const kind = row.getByText(/^clé d’accès/i)
  await kind.scrollIntoViewIfNeeded(WAIT)
  const isSeen = await kind.evaluate((element) => {
    const { x, y } = element.getBoundingClientRect()
    return document.elementFromPoint(x + 4, y + 8) === element
  })
  expect(isSeen).toBe(true)
})
