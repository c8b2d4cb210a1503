import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createPanel } from '../../../client/index.ts'
import { startDemo } from '../../runtime/demo.ts'
import { startService } from '../../serve/service.ts'
import { focused, openPage, signIn } from '../browser.ts'
import { findingsOf } from './page-findings.ts'
import { started } from './started.ts'

/** A first start, before a host is configured. */
async function firstStart() {
  const demo = await startDemo()
  const service = await startService(demo, {
    PANEL_SSH_HOST: '',
    PANEL_SSH_USERNAME: '',
    PANEL_SSH_PASSWORD: '',
  })
  const token = (await readFile(join(service.folder, 'setup-token'), 'utf8')).trim()
  return { demo, service, token }
}

test('setup leads from the token in the address over the host, its key and its checks to sign-in', async () => {
  const { demo, service, token } = await firstStart()
  const page = await openPage(`${service.url}/#token=${token}`, { expected: /status of 400/ })
  await page.getByText('Étape 1 sur 2').waitFor()
  expect(page.url()).toBe(`${service.url}/setup`)
  expect(await page.getByLabel('Jeton d’installation').inputValue()).toBe(token)
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('ssh_host')

  // The error of a missing value appears at its field, and all typed text is kept.
  await page.keyboard.type('two words')
  await page.getByLabel('Compte de service', { exact: true }).fill(demo.service.username)
  await page.keyboard.press('Enter')
  await page.getByText('Saisissez le mot de passe du compte de service.').waitFor()
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('ssh_password')
  await page.keyboard.type(demo.service.password)
  await page.keyboard.press('Enter')
  await page.getByText('Saisissez hôte, hôte:port ou [adresse IPv6]:port.').waitFor()
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('ssh_host')
  expect(await page.getByLabel('Mot de passe du compte de service').inputValue()).toBe(demo.service.password)
  await page.getByLabel('Hôte', { exact: true }).fill(`127.0.0.1:${demo.port}`)
  await page.keyboard.press('Enter')

  await page.getByText('Cette empreinte est-elle celle de votre hôte').waitFor()
  await expect.poll(() => focused(page)).toContain('Étape 2 sur 2')
  expect(await page.locator('.fingerprint').textContent()).toBe(demo.hostKey.split(' ').at(-1))
  expect(await page.locator('.setup .status').allTextContents()).toEqual(Array.from({ length: 5 }, () => 'Réussie'))

  // Nothing is installed before the user has confirmed the key.
  await page.getByRole('button', { name: 'Installer' }).click()
  await page.getByText('Comparez l’empreinte').waitFor()
  expect(await (await fetch(`${service.url}/api/install/status`)).json()).toEqual({ installed: false })
  await page.getByRole('button', { name: 'Revenir' }).click()
  expect(await page.getByLabel('Hôte', { exact: true }).inputValue()).toBe(`127.0.0.1:${demo.port}`)
  await page.getByRole('button', { name: 'Vérifier l’hôte' }).click()
  await page.getByLabel('C’est la clé de mon hôte').check()

  // Optional fields are checked as well, and their section opens.
  await page.getByText('Hyperviseur (facultatif)').click()
  await page.getByLabel('Jeton de l’API').fill('not a token')
  await page.getByRole('button', { name: 'Installer' }).click()
  await page.getByText('Saisissez un jeton utilisateur@royaume!nom=uuid.').waitFor()
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('hypervisor_token')
  for (const width of [320, 1280]) {
    await page.setViewportSize({ width, height: 800 })
    expect(await findingsOf(page)).toEqual([])
  }
  await page.getByLabel('Jeton de l’API').fill('')
  await page.getByRole('button', { name: 'Installer' }).click()

  await page.waitForURL(`${service.url}/sign-in`)
  await page.getByText('Le panneau est installé.').waitFor()
  await signIn(page)
})

test('setup names a wrong token or password with a remedy; a second setup leads to sign-in', async () => {
  const { demo, service, token } = await firstStart()
  const page = await openPage(service.url, { expected: /status of (403|409)/ })
  await page.getByLabel('Jeton d’installation').fill('guess')
  await page.getByLabel('Hôte', { exact: true }).fill(`127.0.0.1:${demo.port}`)
  await page.getByLabel('Compte de service', { exact: true }).fill(demo.service.username)
  await page.getByLabel('Mot de passe du compte de service').fill('wrong')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').waitFor()
  expect(await page.getByText('Étape 1 sur 2').count()).toBe(1)

  await page.getByLabel('Jeton d’installation').fill(token)
  await page.keyboard.press('Enter')
  await page.getByText(/L’hôte refuse .* avec ce mot de passe/).waitFor()
  expect(await page.locator('.setup .status').allTextContents()).toContain('Échouée')
  expect(await page.getByRole('button', { name: 'Installer' }).count()).toBe(0)

  // The form takes the focus as it appears: later it would take the letters of the next field.
  const hasFocus = await page.getByRole('button', { name: 'Revenir' }).evaluate(async (back) => {
    const shown = new Promise<void>((resolve) => {
      const isShown = () => document.querySelector('[name=ssh_password]') !== null
      new MutationObserver(() => isShown() && resolve()).observe(document.body, { childList: true, subtree: true })
    })
    if (back instanceof HTMLElement) back.click()
    await shown
    return document.activeElement?.getAttribute('name')
  })
  expect(hasFocus).toBe('setup_token')

  // Another client completes the setup first.
  await page.getByLabel('Mot de passe du compte de service').fill(demo.service.password)
  await page.keyboard.press('Enter')
  await page.getByLabel('C’est la clé de mon hôte').check()
  const { username: ssh_username, password: ssh_password } = demo.service
  const ssh_host = `127.0.0.1:${demo.port}`
  const ssh_host_key = demo.hostKey
  await createPanel({ url: service.url }).api('POST /api/install', {
    body: { setup_token: token, ssh_host, ssh_username, ssh_password, ssh_host_key },
  })
  await page.getByRole('button', { name: 'Installer' }).click()
  await page.waitForURL(`${service.url}/sign-in`)
  await page.getByText('Le panneau est déjà installé.').waitFor()

  const { service: installed } = await started()
  const late = await openPage(`${installed.url}/setup`)
  await late.waitForURL(`${installed.url}/sign-in`)
})
