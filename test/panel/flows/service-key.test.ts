import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createPanel } from '../../../client/index.ts'
import type { Account } from '../../../demo/account.ts'
import { startDemo } from '../../runtime/demo.ts'
import { startService } from '../../serve/service.ts'
import { focused, openPage, signIn } from '../browser.ts'
import { findingsOf } from './page-findings.ts'
import { ageProofs } from './proofs.ts'

const WAIT = { timeout: 30_000 }
const WIDTHS = [320, 768, 1280, 1920]

/** A demo host whose service account may have keys. */
async function hostWithKeys(more: Partial<Account> = {}) {
  const account = { password: 'pw-of-panel', uid: 0, groups: ['root'], authorizedKeys: '', ...more }
  const demo = await startDemo({ users: { panel: account } })
  const user = demo.users.get('panel')
  if (!user) throw new Error('the demo host has no such account')
  return { demo, user }
}

/** The section of the settings. */
async function opened(more: Partial<Account> = {}, expected?: RegExp) {
  const { demo, user } = await hostWithKeys(more)
  const service = await startService(demo)
  const panel = createPanel({ url: service.url })
  await panel.signIn('demo', 'demo')
  const page = await openPage(`${service.url}/settings`, { ...(expected && { expected }) })
  await signIn(page)
  const section = page.getByRole('region', { name: 'Connexion du compte de service', exact: true })
  await section.waitFor(WAIT)
  return { page, section, user, service, read: () => panel.api('GET /api/settings') }
}

test('an account by password gets a key by one click, its line can be copied, and the password is forgotten', async () => {
  const { page, section, user, read } = await opened()
  expect(await section.locator('.facts dd').innerText()).toBe('mot de passe')

  await section.getByRole('button', { name: 'Créer une clé' }).click()
  await section.getByText('La nouvelle clé est en service.').waitFor(WAIT)

  const first = await read()
  expect(first).toMatchObject({ ssh_key_set: true, ssh_password_set: true })
  expect(user.authorizedKeys).toBe(`${first.ssh_authorized_key}\n`)
  expect(await section.locator('.line').allInnerTexts()).toEqual([first.ssh_public_key, first.ssh_authorized_key])
  expect(await section.locator('.facts dd').innerText()).toBe('clé SSH, puis mot de passe si l’hôte la refuse')
  expect(await focused(page)).toContain('La nouvelle clé est en service.')
  await section.getByRole('button', { name: 'Copier' }).last().click()
  await section.getByText('Copié').waitFor(WAIT)

  await section.getByLabel('Oublier le mot de passe enregistré').check()
  await section.getByRole('button', { name: 'Changer la clé' }).click()
  await expect.poll(() => section.locator('.facts dd').innerText(), WAIT).toBe('clé SSH')
  await section.getByText('Le mot de passe enregistré est oublié.').waitFor(WAIT)

  const second = await read()
  expect(second).toMatchObject({ ssh_key_set: true, ssh_password_set: false, ssh_key_retired: '' })
  expect(second.ssh_public_key).not.toBe(first.ssh_public_key)
  expect(user.authorizedKeys).toBe(`${second.ssh_authorized_key}\n`)
  expect(await section.getByLabel('Oublier le mot de passe enregistré').count()).toBe(0)
})

test('a line that the account cannot add waits, also after a reload; a former key that is left is shown', async () => {
  const { page, section, user, read } = await opened({ keysAreForeign: true }, /status of 409/)

  await section.getByRole('button', { name: 'Créer une clé' }).click()
  await section.getByText('panel n’a pas pu ajouter la nouvelle clé lui-même').waitFor(WAIT)
  const { ssh_next_authorized_key: line } = await read()
  expect(await section.locator('.line').allInnerTexts()).toEqual([line])

  await page.reload()
  await section.getByRole('heading', { name: 'Une nouvelle clé attend' }).waitFor(WAIT)
  await section.getByRole('button', { name: 'J’ai ajouté la ligne' }).click()
  await section.getByRole('alert').getByText('L’hôte refuse la nouvelle clé de panel.').waitFor(WAIT)
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 })
    // A button under the bar of the narrow panel would count as too small.
    await section.locator('.buttons').evaluate((buttons) => buttons.scrollIntoView({ block: 'center' }))
    expect(await findingsOf(page), `${width}`).toEqual([])
  }
  user.authorizedKeys = `${line}\n`
  await section.getByRole('button', { name: 'J’ai ajouté la ligne' }).click()
  await section.getByText('La nouvelle clé est en service.').waitFor(WAIT)

  const former = (await read()).ssh_public_key
  await section.getByRole('button', { name: 'Changer la clé' }).click()
  await section.getByRole('heading', { name: 'Une nouvelle clé attend' }).waitFor(WAIT)
  user.authorizedKeys = `${user.authorizedKeys}${(await read()).ssh_next_authorized_key}\n`
  await section.getByRole('button', { name: 'J’ai ajouté la ligne' }).click()
  await section.getByRole('heading', { name: 'D’anciennes clés sont peut-être encore sur l’hôte' }).waitFor(WAIT)
  expect((await section.locator('.line').allInnerTexts()).at(-1)).toBe(former)
  expect(await read()).toMatchObject({ ssh_key_retired: former, ssh_key_next_set: false })
})

test('a password that sudo needs stays, and the rule to add is shown; an old proof is asked for in place', async () => {
  const svc = { uid: 1300, groups: ['svc'], sudo: 'password' } as const
  const { page, section, service, read } = await opened(svc, /status of (403|409)/)
  await ageProofs(service.folder)
  await page.reload()
  await section.getByLabel('Oublier le mot de passe enregistré').check(WAIT)
  await section.getByRole('button', { name: 'Créer une clé' }).click()
  const dialog = page.getByRole('dialog', { name: 'Confirmez qui vous êtes' })
  await dialog.getByLabel('Votre mot de passe').fill('demo', WAIT)
  await page.keyboard.press('Enter')

  await section.getByText('panel ALL=(root) NOPASSWD: /usr/sbin/ops-panel-host').waitFor(WAIT)
  expect(await section.getByLabel('Oublier le mot de passe enregistré').isChecked()).toBe(true)
  expect(await read()).toMatchObject({ ssh_key_set: false, ssh_password_set: true })
})

test('where the account has a key, another host is confirmed first, and the password is asked for when the host takes one', async () => {
  const { page, section, read } = await opened({}, /status of 403/)
  const other = await startDemo()
  const ssh_host = `127.0.0.1:${other.port}`
  await section.getByRole('button', { name: 'Créer une clé' }).click()
  await section.getByText('La nouvelle clé est en service.').waitFor(WAIT)
  const host = page.getByRole('region', { name: 'Hôte', exact: true })
  await host.getByLabel('Adresse').fill(ssh_host)
  await page.keyboard.press('Enter')
  const dialog = page.locator('dialog')
  await dialog.getByText(other.hostKey).waitFor(WAIT)
  expect(await dialog.locator('input').count()).toBe(0)
  await dialog.getByRole('button', { name: 'Changer d’hôte' }).click()

  await dialog.getByLabel('Votre mot de passe').fill('demo', WAIT)
  await page.keyboard.press('Enter')

  await page.getByText('Réglages enregistrés.').waitFor(WAIT)
  expect(await read()).toMatchObject({ ssh_host, ssh_host_key: other.hostKey })
})

test('the wizard makes a key, explains its line, and installs without any password', async () => {
  const { demo, user } = await hostWithKeys()
  const ssh = { PANEL_SSH_HOST: '', PANEL_SSH_USERNAME: '', PANEL_SSH_PASSWORD: '' }
  const service = await startService(demo, ssh)
  const token = (await readFile(join(service.folder, 'setup-token'), 'utf8')).trim()
  const page = await openPage(`${service.url}/#token=${token}`)
  await page.getByLabel('Hôte', { exact: true }).fill(`127.0.0.1:${demo.port}`, WAIT)
  await page.getByLabel('Compte de service', { exact: true }).fill('panel')
  await page.getByText('Clé SSH', { exact: true }).click()

  await page.getByRole('button', { name: 'Vérifier l’hôte' }).click()
  await page.getByText('Affichez d’abord la ligne de la clé').waitFor(WAIT)
  await expect.poll(() => focused(page), WAIT).toContain('Afficher la ligne de la clé')
  await page.keyboard.press('Enter')
  await page.getByText('Ajoutez cette ligne à ~panel/.ssh/authorized_keys').waitFor(WAIT)
  const line = await page.locator('.key-line .line').innerText()
  expect(line).toMatch(/^restrict,pty ssh-ed25519 \S+ ops-panel$/)
  expect(await page.locator('.key-parts dt').allInnerTexts()).toEqual([
    'restrict',
    'pty',
    'from="<adresse du panneau>" (facultatif)',
  ])
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 })
    expect(await findingsOf(page)).toEqual([])
  }

  await page.getByRole('button', { name: 'Vérifier l’hôte' }).click()
  await page.getByText('Ajoutez la ligne de la clé dans ~panel/.ssh/authorized_keys').waitFor(WAIT)
  await page.getByRole('button', { name: 'Revenir' }).click()
  expect(await page.locator('.key-line .line').innerText()).toBe(line)
  user.authorizedKeys = `${line}\n`
  await page.getByRole('button', { name: 'Vérifier l’hôte' }).click()
  await page.getByLabel('C’est la clé de mon hôte').check(WAIT)
  await page.getByRole('button', { name: 'Installer' }).click()

  await page.waitForURL(`${service.url}/sign-in`, WAIT)
  await signIn(page)
  const panel = createPanel({ url: service.url })
  await panel.signIn('demo', 'demo')
  expect(await panel.api('GET /api/settings')).toMatchObject({
    ssh_key_set: true,
    ssh_password_set: false,
    ssh_authorized_key: line,
  })
})
