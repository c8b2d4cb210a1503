import { expect, test } from 'vitest'
import { createPanel } from '../../../client/index.ts'
import { focused, follow, openPage, signIn } from '../browser.ts'
import { ageProofs, codeNow, lockFactor, shownSecret, wrongCode } from './proofs.ts'
import { started } from './started.ts'

const WAIT = { timeout: 30_000 }
/** The refusal that asks for a proof, and a wrong proof. */
const REFUSED = /status of (401|403)/

/** A page whose user proved who they are an hour ago. */
async function opened(path: string) {
  const { service } = await started()
  const page = await openPage(service.url, { expected: REFUSED })
  await signIn(page)
  await ageProofs(service.folder)
  await page.reload()
  await page.locator('.shell').waitFor(WAIT)
  await follow(page, path)
  const panel = createPanel({ url: service.url })
  await panel.signIn('demo', 'demo')
  const dialog = page.getByRole('dialog', { name: 'Confirmez qui vous êtes' })
  return { page, service, panel, dialog }
}

test('an action asks in place who the user is, goes on with it, and keeps what was typed', async () => {
  const { page, panel, dialog } = await opened('/settings')
  const field = page.getByLabel('Conteneurs vérifiés en même temps')
  await field.fill('3')
  await page.keyboard.press('Enter')
  await dialog.waitFor(WAIT)
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('name')), WAIT).toBe('password')

  await page.keyboard.type('wrong')
  await page.keyboard.press('Enter')
  await page.getByText('L’hôte n’a pas accepté votre mot de passe.').waitFor(WAIT)
  await dialog.getByLabel('Votre mot de passe').fill('demo')
  await page.keyboard.press('Enter')

  await dialog.waitFor({ state: 'detached', ...WAIT })
  await page.getByText('Réglages enregistrés.').first().waitFor(WAIT)
  expect(await field.inputValue()).toBe('3')
  expect(await panel.api('GET /api/settings')).toMatchObject({ checks_parallel: '3' })
})

test('who declines changes nothing, is told so, and keeps what was typed', async () => {
  const { page, panel, dialog } = await opened('/settings')
  const before = await panel.api('GET /api/settings')
  const field = page.getByLabel('Conteneurs vérifiés en même temps')
  await field.fill('3')
  await field.press('Enter')
  await dialog.waitFor(WAIT)
  await page.keyboard.press('Escape')

  const told = page.getByRole('status').filter({ hasText: 'Rien n’a été fait\u00a0: vous n’avez pas confirmé' })
  await told.waitFor(WAIT)
  // It is no error, whose request could be looked up.
  expect(await page.getByRole('alert').count()).toBe(0)
  expect(await told.innerText()).not.toContain('Requête')
  expect(await field.inputValue()).toBe('3')
  expect(await panel.api('GET /api/settings')).toEqual(before)
  expect(await focused(page)).not.toBe('nothing')
})

test('who declines over a form that is longer than the window sees what that means', async () => {
  const { page, dialog } = await opened('/notifications')
  await page.getByRole('button', { name: 'Créer le premier canal' }).first().click(WAIT)
  await page
    .locator('dialog')
    .getByRole('button', { name: /^Webhook/ })
    .click()
  await page.getByLabel('Nom', { exact: true }).fill('Astreinte')
  await page.getByLabel('Adresse qui reçoit la requête').fill('https://hooks.example/panel')
  await page.getByRole('button', { name: 'Créer', exact: true }).click()
  await dialog.waitFor(WAIT)
  await page.keyboard.press('Escape')

  const told = page.locator('dialog .problem')
  await told.waitFor(WAIT)
  const bottom = await told.evaluate((box) => box.getBoundingClientRect().bottom)
  const frame = await page.locator('dialog').evaluate((box) => box.getBoundingClientRect().bottom)
  expect(bottom).toBeLessThanOrEqual(frame)
  expect(await page.getByLabel('Nom', { exact: true }).inputValue()).toBe('Astreinte')
})

/** The question of a user who has an app, before new recovery codes; with the secret of the app. */
async function askedByApp() {
  const { service } = await started()
  const page = await openPage(`${service.url}/account`, { expected: /status of (401|403|429)/ })
  await signIn(page)
  await page.getByRole('button', { name: 'Ajouter une application' }).click()
  await page.locator('.qr path').waitFor({ state: 'attached', ...WAIT })
  const secret = await shownSecret(page)
  await page.locator('input[name=code]').fill(codeNow(secret, -1))
  await page.keyboard.press('Enter')
  await page.getByLabel('Je les ai gardés').check(WAIT)
  await page.getByRole('button', { name: 'Terminer' }).click()
  await ageProofs(service.folder)
  await page.reload()
  await page.getByRole('button', { name: 'Nouveaux codes de secours' }).click(WAIT)
  await page.getByRole('button', { name: 'Remplacer les codes' }).click()
  const dialog = page.getByRole('dialog', { name: 'Confirmez qui vous êtes' })
  await dialog.getByLabel('Code à six chiffres').waitFor(WAIT)
  return { page, service, secret, dialog }
}

test('with a second factor, the factor is asked for and not the password', async () => {
  const { page, secret, dialog } = await askedByApp()
  await dialog.getByLabel('Code à six chiffres').fill(codeNow(secret))
  expect(await dialog.locator('input[type=password]').count()).toBe(0)
  await page.keyboard.press('Enter')

  await page.getByRole('dialog', { name: 'Vos nouveaux codes de secours' }).waitFor(WAIT)
  expect(await page.locator('.codes li').count()).toBe(10)
})

test('after five wrong codes within a minute, no way is open, and the dialog says until when', async () => {
  const { page, secret, dialog } = await askedByApp()
  const told = dialog.getByText('Trop de mauvaises réponses en une minute')
  const code = dialog.getByLabel('Code à six chiffres')
  for (let n = 0; n < 8 && (await told.count()) === 0; n += 1) {
    await code.fill(wrongCode(secret))
    await Promise.all([
      page.waitForResponse((response) => response.url().endsWith('/api/auth/step-up')),
      page.keyboard.press('Enter'),
    ])
    await dialog.locator('[aria-busy=true]').waitFor({ state: 'detached' })
  }
  await told.waitFor()
  await dialog.getByText(/^Réessayez dans \d+ s/).waitFor()
  const send = dialog.getByRole('button', { name: 'Confirmer' })
  expect(await send.getAttribute('aria-disabled')).toBe('true')

  await dialog.getByRole('button', { name: 'Utiliser un code de secours' }).click()
  await dialog.getByLabel('Code de secours').waitFor()
  await told.waitFor()
  expect(await send.getAttribute('aria-disabled')).toBe('true')
})

test('a way that is locked for an hour says so, and another one is open', async () => {
  const { page, service, secret, dialog } = await askedByApp()
  await lockFactor(service.folder, 'totp')
  await dialog.getByLabel('Code à six chiffres').fill(codeNow(secret))
  await page.keyboard.press('Enter')
  await dialog.getByText('Ce moyen est verrouillé').waitFor(WAIT)
  await dialog.getByText(/^Réessayez dans \d+\u00a0min/).waitFor()
  const send = dialog.getByRole('button', { name: 'Confirmer' })
  expect(await send.getAttribute('aria-disabled')).toBe('true')

  await dialog.getByRole('button', { name: 'Utiliser un code de secours' }).click()
  expect(await send.getAttribute('aria-disabled')).toBe('false')
  expect(await dialog.getByText('Ce moyen est verrouillé').count()).toBe(0)
  await dialog.getByRole('button', { name: 'Utiliser l’application d’authentification' }).click()
  await dialog.getByText('Ce moyen est verrouillé').waitFor()
  expect(await send.getAttribute('aria-disabled')).toBe('true')
})

test('requests that wait share one question, and a proof in another window answers it', async () => {
  const { page, dialog } = await opened('/account')
  const other = await page.context().newPage()
  await other.goto(new URL('/account', page.url()).href)
  for (const each of [page, other]) {
    await each.getByRole('button', { name: 'Nouveau jeton' }).click(WAIT)
    await each.getByLabel('Nom', { exact: true }).fill('Supervision')
    await each.keyboard.press('Enter')
    await each.getByRole('dialog', { name: 'Confirmez qui vous êtes' }).waitFor(WAIT)
  }
  expect(await dialog.count()).toBe(1)
  await other.getByLabel('Votre mot de passe').fill('demo')
  await other.keyboard.press('Enter')

  for (const each of [page, other]) {
    await each.getByRole('dialog', { name: 'Votre nouveau jeton' }).waitFor(WAIT)
    expect(await each.locator('.secret').innerText()).toMatch(/^opt_[\w-]{43}$/)
  }
})

test('a terminal opens once its user has confirmed who they are', async () => {
  const { page, dialog } = await opened('/terminal?target=lxc:101')
  await dialog.waitFor({ timeout: 60_000 })
  await dialog.getByLabel('Votre mot de passe').fill('demo')
  await page.keyboard.press('Enter')

  await expect.poll(() => page.locator('.xterm-rows').innerText(), { timeout: 60_000 }).toMatch(/[#$]\s*$/)
})

test('a terminal whose user declines says why it is not open', async () => {
  const { page, dialog } = await opened('/terminal?target=lxc:101')
  await dialog.waitFor({ timeout: 60_000 })
  await page.keyboard.press('Escape')

  await page.getByText('Le terminal n’est pas ouvert\u00a0: vous n’avez pas confirmé qui vous êtes.').waitFor(WAIT)
})
