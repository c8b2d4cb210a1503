import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { Question } from '../../../demo/account.ts'
import { focused, follow, openPage } from '../browser.ts'
import { ageProofs } from './proofs.ts'
import { started } from './started.ts'

const WAIT = { timeout: 30_000 }
/** A sign-in that goes on, wrong answers, a conversation that has ended. */
const REFUSED = /status of (400|401|403|410)/

const ASKS: readonly Question[] = [
  { prompt: 'Verification code: ', answer: '123456' },
  { prompt: 'Which desk? ', echo: true, answer: 'Back Office' },
]
/** The questions of pam_unix for an account whose password has expired. */
const EXPIRED = [
  { prompt: 'Current password: ', answer: 'carol' },
  { prompt: 'New password: ', answer: 'correct horse 9' },
  { prompt: 'Retype new password: ', answer: 'correct horse 9' },
]

/** A panel whose host asks carol these questions after her password. */
async function panel(asks: readonly Question[] = ASKS) {
  const { demo, service } = await started()
  demo.users.set('carol', { name: 'carol', password: 'carol', uid: 1300, groups: ['carol', 'sudo'], asks })
  const page = await openPage(`${service.url}/settings`, { expected: REFUSED })
  return { demo, service, page }
}

async function give(page: Page, password = 'carol') {
  await page.locator('input[name=username]').fill('carol', WAIT)
  await page.locator('input[name=password]').fill(password)
  await page.keyboard.press('Enter')
}

/** Waits for a question of the host, which has the focus, and types the answer to it. */
async function answer(page: Page, label: string, text: string) {
  const field = page.getByLabel(label, { exact: true })
  await field.waitFor(WAIT)
  await expect.poll(() => field.evaluate((input) => input === document.activeElement), WAIT).toBe(true)
  expect(await field.inputValue()).toBe('')
  await page.keyboard.type(text)
  await page.keyboard.press('Enter')
}

test('the host asks several questions, in its words, and its rule says which answers are seen', async () => {
  const { page } = await panel()
  await give(page)
  await page.getByText('Ces questions viennent de l’hôte, dans ses mots.').waitFor(WAIT)
  expect(await page.locator('input[name=answer-1]').getAttribute('type')).toBe('password')
  await answer(page, 'Verification code:', '123456')
  const desk = page.getByLabel('Which desk?', { exact: true })
  await desk.waitFor(WAIT)
  expect(await desk.getAttribute('type')).toBe('text')
  await answer(page, 'Which desk?', 'Back Office')

  // The page that was asked for.
  await page.getByLabel('Conteneurs vérifiés en même temps').waitFor(WAIT)
})

test('questions of one round are asked together, and a form with a gap in it is sent as it is', async () => {
  const together = ASKS.map((each) => ({ ...each, together: each.echo === true }))
  const { page } = await panel([...together, { prompt: 'Anything else? ', echo: true, answer: '' }])
  await give(page)
  const desk = page.getByLabel('Which desk?', { exact: true })
  await desk.fill('Back Office', WAIT)
  const code = page.getByLabel('Verification code:', { exact: true })
  expect([await code.getAttribute('type'), await desk.getAttribute('type')]).toEqual(['password', 'text'])
  await code.fill('123456')
  await page.keyboard.press('Enter')
  // PAM may want an empty answer.
  await answer(page, 'Anything else?', '')
  await page.locator('.shell').waitFor(WAIT)
})

test('a password that must be changed is changed in the sign-in, as the host asks for it', async () => {
  const { page } = await panel(EXPIRED)
  await give(page)
  await answer(page, 'Current password:', 'carol')
  await answer(page, 'New password:', 'correct horse 9')
  await answer(page, 'Retype new password:', 'correct horse 9')
  await page.locator('.shell').waitFor(WAIT)
})

test('wrong answers end the conversation, and it begins again with the name in place', async () => {
  const { page } = await panel()
  await give(page)
  await answer(page, 'Verification code:', '000000')
  await page.getByText('L’hôte n’a pas accepté ces réponses.').waitFor(WAIT)
  const go = page.getByRole('button', { name: 'Continuer' })
  expect(await go.getAttribute('aria-disabled')).toBe('true')
  expect(await page.locator('.shell').count()).toBe(0)

  await page.getByRole('button', { name: 'Recommencer' }).click()
  await page.locator('input[name=password]').waitFor(WAIT)
  expect(await page.locator('input[name=username]').inputValue()).toBe('carol')
  expect(await page.locator('input[name=password]').inputValue()).toBe('')
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('password')
  await give(page)
  await answer(page, 'Verification code:', '123456')
  await answer(page, 'Which desk?', 'Back Office')
  await page.locator('.shell').waitFor(WAIT)
})

test('a conversation whose time is over says so and sends nothing, and so does one that the host has cut', async () => {
  const { demo, page } = await panel()
  await page.clock.install()
  await give(page)
  await page.getByText(/^L’hôte attend encore \d+ s\.$/).waitFor(WAIT)
  const sent: string[] = []
  page.on('request', (request) => sent.push(new URL(request.url()).pathname))
  await page.clock.fastForward(101_000)
  await page.locator('form').getByText('L’hôte n’attend plus. Recommencez.').first().waitFor(WAIT)
  await page.locator('input[name=answer-1]').fill('123456')
  await page.keyboard.press('Enter')
  expect(sent).not.toContain('/api/auth/login/answers')
  await page.getByRole('button', { name: 'Recommencer' }).click()

  await give(page)
  await page.locator('input[name=answer-1]').waitFor(WAIT)
  demo.cut()
  await answer(page, 'Verification code:', '123456')
  await page.getByText('Cette demande n’est plus valable').waitFor(WAIT)
  await expect
    .poll(() => page.getByRole('button', { name: 'Continuer' }).getAttribute('aria-disabled'), WAIT)
    .toBe('true')
  await page.getByRole('button', { name: 'Recommencer' }).click()
  await give(page)
  await answer(page, 'Verification code:', '123456')
  await answer(page, 'Which desk?', 'Back Office')
  await page.locator('.shell').waitFor(WAIT)
})

test('a proof asks the questions of the host too, and what was typed before it stays', {
  timeout: 120_000,
}, async () => {
  const { service, page } = await panel()
  await give(page)
  await answer(page, 'Verification code:', '123456')
  await answer(page, 'Which desk?', 'Back Office')
  await page.locator('.shell').waitFor(WAIT)
  await ageProofs(service.folder)
  await page.reload()
  await page.locator('.shell').waitFor(WAIT)
  await follow(page, '/settings')
  const setting = page.getByLabel('Conteneurs vérifiés en même temps')
  await setting.fill('3', WAIT)
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Confirmez qui vous êtes' })
  const password = dialog.getByLabel('Votre mot de passe')
  await password.fill('carol', WAIT)
  await page.keyboard.press('Enter')

  // A wrong answer, and again from the password on.
  await answer(page, 'Verification code:', '000000')
  await dialog.getByRole('alert').waitFor(WAIT)
  await dialog.getByRole('button', { name: 'Recommencer' }).click()
  await password.fill('carol', WAIT)
  await page.keyboard.press('Enter')
  await answer(page, 'Verification code:', '123456')
  await answer(page, 'Which desk?', 'Back Office')

  await dialog.waitFor({ state: 'detached', ...WAIT })
  await page.getByText('Réglages enregistrés.').first().waitFor(WAIT)
  expect(await setting.inputValue()).toBe('3')

  // The same change again, given up in the middle: what was typed stays, and the setting is the one before.
  await ageProofs(service.folder)
  await page.reload()
  await setting.fill('4', WAIT)
  await page.keyboard.press('Enter')
  await password.fill('carol', WAIT)
  await page.keyboard.press('Enter')
  await dialog.getByLabel('Verification code:').waitFor(WAIT)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached', ...WAIT })
  expect(await setting.inputValue()).toBe('4')
  expect(await focused(page)).not.toBe('nothing')
  await page.reload()
  await setting.waitFor(WAIT)
  expect(await setting.inputValue()).toBe('3')
})
