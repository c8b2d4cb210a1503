import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { freePort } from '../../free-port.ts'
import { startProvider } from '../../functions/oidc/provider.ts'
import { focused, follow, openPage } from '../browser.ts'
import { codeNow, shownSecret } from './proofs.ts'
import { started } from './started.ts'

const WAIT = { timeout: 30_000 }
/** The visit of the provider, and the refusals of the service. */
const EXPECTED = /status of (401|403|410|503)|\/authorize\?/
const BY_PROVIDER = 'Se connecter avec Firma'

/** A panel with a provider that signs everybody in as carol. */
async function panel() {
  const provider = await startProvider({ claims: { preferred_username: 'carol' } })
  const port = await freePort()
  const { demo, service } = await started({
    PANEL_PORT: String(port),
    PANEL_PUBLIC_URL: `http://127.0.0.1:${port}`,
    PANEL_OIDC_ISSUER: provider.issuer,
    PANEL_OIDC_CLIENT_ID: 'panel',
    PANEL_OIDC_CLIENT_SECRET: 'geheim-4711',
    PANEL_OIDC_NAME: 'Firma',
  })
  demo.users.set('carol', { name: 'carol', password: 'never typed', uid: 1300, groups: ['carol', 'sudo'] })
  return { provider, demo, url: service.url }
}

async function byProvider(page: Page) {
  await page.getByRole('button', { name: BY_PROVIDER }).click(WAIT)
}

/** The page of the way back tells this and nothing is open; its link leads back to a form that works. */
async function refusedWith(page: Page, sentence: string) {
  // The reason of the service, below the sentence, may repeat its words.
  await page.getByText(sentence).first().waitFor(WAIT)
  expect(await page.locator('.shell').count()).toBe(0)
  // Neither a code nor a state is left in the address bar.
  expect(new URL(page.url()).search).toBe('')
  await page.getByRole('link', { name: 'Revenir à la connexion' }).click(WAIT)
  await page.locator('input[name=username]').waitFor(WAIT)
  expect(new URL(page.url()).pathname).toBe('/sign-in')
}

test('a person signs in at the provider, with the second factor of the panel once there is one', {
  timeout: 120_000,
}, async () => {
  const { demo, url } = await panel()
  const page = await openPage(`${url}/sign-in`, { expected: EXPECTED })
  await byProvider(page)
  await page.locator('.shell').waitFor(WAIT)
  expect(new URL(page.url()).search).toBe('')
  await page.getByRole('link', { name: 'carol' }).first().waitFor(WAIT)
  expect(demo.signIns).not.toContain('carol')

  await follow(page, '/account')
  await page.getByRole('button', { name: 'Ajouter une application' }).click(WAIT)
  await page.locator('.qr path').waitFor({ state: 'attached', ...WAIT })
  const secret = await shownSecret(page)
  await page.locator('input[name=code]').fill(codeNow(secret, -1))
  await page.keyboard.press('Enter')
  await page.getByLabel('Je les ai gardés').check(WAIT)
  await page.getByRole('button', { name: 'Terminer' }).click()
  await page.locator('main').getByRole('button', { name: 'Se déconnecter' }).click(WAIT)

  await byProvider(page)
  await page.getByLabel('Code à six chiffres').fill(codeNow(secret), WAIT)
  expect(await page.locator('.shell').count()).toBe(0)
  await page.keyboard.press('Enter')
  await page.locator('.shell').waitFor(WAIT)
})

test('whatever is wrong at the provider or with the account is told in a page with a way back', {
  timeout: 120_000,
}, async () => {
  const { provider, demo, url } = await panel()
  const page = await openPage(`${url}/sign-in`, { expected: EXPECTED })

  // The provider names nobody of this host.
  provider.says.claims = { preferred_username: 'stranger' }
  await byProvider(page)
  await refusedWith(page, 'L’hôte n’admet plus ce compte')

  // It lies: a key of its own.
  provider.says.claims = { preferred_username: 'carol' }
  provider.says.foreignKey = true
  await byProvider(page)
  await refusedWith(page, 'La réponse du fournisseur n’est pas valable')
  delete provider.says.foreignKey

  // The person declines there.
  provider.says.back = (query) => `?error=access_denied&state=${new URLSearchParams(query).get('state')}`
  await byProvider(page)
  await refusedWith(page, 'Le fournisseur ne vous a pas identifié')

  // Another request's answer.
  provider.says.back = (query) => query.replace(/state=[^&]*/, 'state=another')
  await byProvider(page)
  await refusedWith(page, 'La réponse du fournisseur n’est pas valable')
  delete provider.says.back

  // The host is away, which is no answer.
  demo.accepting = false
  demo.cut()
  await byProvider(page)
  await refusedWith(page, 'L’hôte ne dit pas pour l’instant')
  demo.accepting = true

  // It is away after the person has signed in there, and before.
  provider.says.token = (response) => void response.destroy()
  await byProvider(page)
  await refusedWith(page, 'Le fournisseur ne répond pas')
  delete provider.says.token
  provider.says.discovery = (response) => void response.destroy()
  await byProvider(page)
  await page.getByText('Le fournisseur ne répond pas').first().waitFor(WAIT)
  expect(await focused(page)).not.toBe('nothing')
  delete provider.says.discovery

  await byProvider(page)
  await page.locator('.shell').waitFor(WAIT)
})

test('an answer for which this window has not asked opens nothing', async () => {
  const { provider, url } = await panel()
  const page = await openPage(`${url}/sign-in`, { expected: EXPECTED })
  const answers: string[] = []
  // Somebody keeps an answer of their own for the browser of another.
  provider.says.back = (query) => {
    answers.push(query)
    return '?error=access_denied'
  }
  await byProvider(page)
  await page.getByRole('link', { name: 'Revenir à la connexion' }).waitFor(WAIT)

  const other = await openPage(`${url}/oidc${answers[0]}`)
  await refusedWith(other, 'Cette fenêtre n’a pas demandé de connexion.')
  await page.goto(`${url}/oidc${answers[0]}`)
  await refusedWith(page, 'Cette fenêtre n’a pas demandé de connexion.')
})
