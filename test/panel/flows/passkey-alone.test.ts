import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { freePort } from '../../free-port.ts'
import { runProgram } from '../../serve/program.ts'
import { openPage } from '../browser.ts'
import { addAuthenticator } from './proofs.ts'
import { started } from './started.ts'

const WAIT = { timeout: 30_000 }
/** The refusals of passkeys, links and accounts. */
const REFUSED = /status of (401|403|409|410|503)/
const BY_PASSKEY = 'Se connecter avec une clé d’accès'

/** A panel that is opened by a name and where a passkey alone signs in, with carol, who has no use for her password. */
async function panel() {
  const port = await freePort()
  const url = `http://localhost:${port}`
  const env = { PANEL_PASSKEY_SIGN_IN: 'on', PANEL_PUBLIC_URL: url }
  const { demo, service } = await started({ ...env, PANEL_PORT: String(port) })
  const carol = { name: 'carol', password: 'never typed', uid: 1300, groups: ['carol', 'sudo'] }
  demo.users.set('carol', carol)
  const atConsole = (...words: string[]) => runProgram({ ...env, PANEL_DATA_DIR: service.folder }, ...words)
  return {
    demo,
    url,
    carol,
    atConsole,
    /** The link that the console prints for carol. */
    async link(): Promise<string> {
      const { stdout, stderr } = await atConsole('factors', 'enrol', 'carol')
      const found = stdout.split('\n').find((line) => line.startsWith(`${url}/enrol#code=`))
      if (found === undefined) throw new Error(`no link: ${stdout}${stderr}`)
      return found
    },
  }
}

/** Opens a link and makes the passkey of it, as far as the recovery codes. */
async function makePasskey(page: Page) {
  await page.getByText('Ce lien crée une clé d’accès pour le compte carol.').waitFor(WAIT)
  await page.getByLabel('Nom de la clé').fill('Portable de Carol')
  await page.keyboard.press('Enter')
  await page.locator('.codes li').first().waitFor(WAIT)
}

async function keepCodes(page: Page) {
  await page.getByLabel('Je les ai gardés').check()
  await page.getByRole('button', { name: 'Terminer' }).click()
  await page.getByText('La clé d’accès du compte carol est créée.').waitFor(WAIT)
}

async function signOut(page: Page, url: string) {
  await page.goto(`${url}/account`)
  await page.locator('main').getByRole('button', { name: 'Se déconnecter' }).click(WAIT)
  await page.locator('input[name=username]').waitFor(WAIT)
}

test('a link of the console makes a passkey once, and the passkey alone then signs its owner in as long as the host has the account', {
  timeout: 120_000,
}, async () => {
  const { demo, url, carol, link } = await panel()
  const address = await link()
  const page = await openPage(address, { expected: REFUSED })
  await addAuthenticator(page)
  await makePasskey(page)
  // The code is not left in the address bar, where a screenshot or the history would keep it.
  expect(page.url()).toBe(`${url}/enrol`)
  expect(await page.locator('.codes li').count()).toBe(10)
  const heading = page.getByRole('heading')
  expect(await heading.allInnerTexts()).toEqual(['Codes de secours'])
  await keepCodes(page)
  expect(await heading.allInnerTexts()).toEqual(['Créez votre clé d’accès'])
  expect(demo.signIns).not.toContain('carol')

  await page.getByRole('link', { name: 'Aller à la connexion' }).click()
  await page.getByRole('button', { name: BY_PASSKEY }).click(WAIT)
  await page.locator('.shell').waitFor(WAIT)
  await page.getByRole('link', { name: 'carol' }).first().waitFor(WAIT)
  expect(demo.signIns).not.toContain('carol')

  // The link again, in the same browser and signed out.
  await signOut(page, url)
  await page.goto('about:blank')
  await page.goto(address)
  await page.getByText('Cette demande n’est plus valable').waitFor(WAIT)
  expect(await page.getByLabel('Nom de la clé').count()).toBe(0)
  await page.getByRole('link', { name: 'Aller à la connexion' }).click()

  // An account that the host has no more, or does not let in, opens nothing; neither does a host that is away.
  const by = page.getByRole('button', { name: BY_PASSKEY })
  demo.users.delete('carol')
  await by.click(WAIT)
  await page.getByText('L’hôte n’admet plus ce compte').waitFor(WAIT)
  expect(await page.locator('.shell').count()).toBe(0)
  expect(await page.locator('input[name=username]').isVisible()).toBe(true)
  demo.users.set('carol', carol)
  demo.accepting = false
  demo.cut()
  await by.click(WAIT)
  await page.getByText('L’hôte ne dit pas pour l’instant').waitFor(WAIT)
  demo.accepting = true
  await by.click(WAIT)
  await page.locator('.shell').waitFor(WAIT)
})

test('a passkey whose factors were reset on the console signs nobody in, and the page says so', {
  timeout: 120_000,
}, async () => {
  const { url, link, atConsole } = await panel()
  const page = await openPage(await link(), { expected: REFUSED })
  await addAuthenticator(page)
  await makePasskey(page)
  await keepCodes(page)
  expect((await atConsole('factors', 'reset', 'carol')).code).toBe(0)

  await page.goto(`${url}/sign-in`)
  await page.getByRole('button', { name: BY_PASSKEY }).click(WAIT)

  await page.getByText('Cette clé d’accès n’est pas connue ici').waitFor(WAIT)
  expect(await page.locator('.shell').count()).toBe(0)
})

test('links that are incomplete, or of an account that the host does not know, say what to do', {
  timeout: 120_000,
}, async () => {
  const { demo, url, link } = await panel()
  const address = await link()
  const page = await openPage(`${url}/enrol`, { expected: REFUSED })
  await page.getByText('Ce lien est incomplet.').waitFor(WAIT)

  demo.users.delete('carol')
  await page.goto('about:blank')
  await page.goto(address)
  await page.getByText('L’hôte ne connaît pas ce compte').waitFor(WAIT)
  expect(await page.getByLabel('Nom de la clé').count()).toBe(0)
})

test('a person who declines the passkey of the browser is told, and can sign in by password', async () => {
  const { url } = await panel()
  const page = await openPage(`${url}/sign-in`)
  // A device without any passkey: the browser has nothing to offer.
  await addAuthenticator(page)
  await page.getByRole('button', { name: BY_PASSKEY }).click(WAIT)

  await page.getByText('La clé d’accès n’a pas été donnée').waitFor(WAIT)
  await page.locator('input[name=username]').fill('demo')
  await page.locator('input[name=password]').fill('demo')
  await page.keyboard.press('Enter')
  await page.locator('.shell').waitFor(WAIT)
})

test('where a passkey alone may not sign in, it is not offered, and a page that still offers it is refused', async () => {
  const { service } = await started()
  const url = service.url.replace('127.0.0.1', 'localhost')
  const page = await openPage(`${url}/sign-in`, { expected: REFUSED })
  await addAuthenticator(page)
  await page.locator('input[name=username]').waitFor(WAIT)
  await page.locator('.other-ways').waitFor({ state: 'attached', ...WAIT })
  expect(await page.getByRole('button', { name: BY_PASSKEY }).count()).toBe(0)

  // A page that was loaded while it was allowed.
  await page.route('**/api/auth/login/passkey', (route) => route.fulfill({ json: { enabled: true } }))
  await page.reload()
  await page.getByRole('button', { name: BY_PASSKEY }).click(WAIT)
  await page.getByText('Ce panneau n’admet pas la connexion par clé d’accès seule.').waitFor(WAIT)
})
