import { expect, test } from 'vitest'
import * as z from 'zod'
import { createPanel } from '../../../client/index.ts'
import { startDemo } from '../../runtime/demo.ts'
import { openPage, signIn } from '../browser.ts'
import { started } from './started.ts'

async function opened(expected?: RegExp) {
  const { service, demo } = await started()
  const panel = createPanel({ url: service.url })
  await panel.signIn('demo', 'demo')
  const page = await openPage(`${service.url}/settings`, { ...(expected && { expected }) })
  await signIn(page)
  const section = (name: string) => page.getByRole('region', { name, exact: true })
  await section('Hôte').waitFor()
  const bodies: unknown[] = []
  page.on('request', (request) => {
    if (request.method() === 'PATCH') bodies.push(z.json().parse(request.postDataJSON()))
  })
  return { panel, page, section, bodies, demo, read: () => panel.api('GET /api/settings') }
}

test('saving a section stores only its changes and keeps values typed in another section', async () => {
  const { page, section, bodies, read } = await opened()
  const { ssh_username } = await read()
  await section('Hyperviseur').getByLabel('Adresse de l’API').fill('https://pve1.example:8006')
  await section('Raccourcis').getByRole('button', { name: 'Ajouter un raccourci' }).click()
  await section('Clé de l’hôte').getByLabel('Nouvelle empreinte').fill('SHA256:')
  await section('Hôte').getByLabel('Compte de service', { exact: true }).fill(`${ssh_username}2`)
  await section('Hôte').getByRole('button', { name: 'Enregistrer' }).click()
  await page.getByText('Réglages enregistrés.').waitFor()

  await expect.poll(async () => (await read()).ssh_username).toBe(`${ssh_username}2`)
  expect(bodies).toEqual([{ ssh_username: `${ssh_username}2` }])
  const loaded = page.waitForResponse((response) => response.url().endsWith('/api/settings'))
  await section('Hôte').getByLabel('Compte de service', { exact: true }).fill(ssh_username)
  await section('Hôte').getByRole('button', { name: 'Enregistrer' }).click()
  await loaded
  await expect.poll(() => bodies.length).toBe(2)
  await expect.poll(async () => (await read()).ssh_username).toBe(ssh_username)
  expect(await section('Hyperviseur').getByLabel('Adresse de l’API').inputValue()).toBe('https://pve1.example:8006')
  expect(await section('Clé de l’hôte').getByLabel('Nouvelle empreinte').inputValue()).toBe('SHA256:')
  expect(await section('Raccourcis').locator('li').count()).toBe(1)
  await page.getByText('Modifications non enregistrées').waitFor()
})

test('a new host shows its key and needs the user’s password; before that it receives no password', async () => {
  const { page, section, bodies, read } = await opened(/status of 403/)
  const other = await startDemo()
  const before = await read()
  const ssh_host = `127.0.0.1:${other.port}`
  const dialog = page.locator('dialog')
  const password = dialog.getByLabel('Votre mot de passe')
  const verb = dialog.getByRole('button', { name: 'Changer d’hôte' })
  await section('Hôte').getByLabel('Adresse').fill(ssh_host)
  await page.keyboard.press('Enter')
  await dialog.getByText(other.hostKey).waitFor()
  await dialog.getByText('Cette adresse répond avec une autre clé que celle acceptée').waitFor()
  expect(await verb.isDisabled()).toBe(true)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  expect(await section('Hôte').getByLabel('Adresse').inputValue()).toBe(ssh_host)

  await section('Hôte').getByRole('button', { name: 'Enregistrer' }).click()
  await password.fill('not mine')
  await page.keyboard.press('Enter')
  await section('Hôte').getByText('L’hôte n’a pas accepté votre mot de passe.').waitFor()
  expect(await read()).toEqual(before)
  expect(other.signIns).toEqual([])

  await section('Hôte').getByRole('button', { name: 'Enregistrer' }).click()
  await password.fill('demo')
  await verb.click()
  await page.getByText('Réglages enregistrés.').waitFor()
  expect(await read()).toMatchObject({ ssh_host, ssh_host_key: other.hostKey })
  expect(bodies.at(-1)).toEqual({ ssh_host, ssh_host_key: other.hostKey, current_password: 'demo' })
  expect(await page.content()).not.toContain('not mine')
})

test('a host that does not answer cannot be chosen, because its key cannot be read', async () => {
  const { page, section, read } = await opened(/status of 502/)
  const before = await read()
  await section('Hôte').getByLabel('Adresse').fill('127.0.0.1:1')
  await section('Hôte').getByRole('button', { name: 'Enregistrer' }).click()

  await section('Hôte').getByText('L’hôte ne peut pas être utilisé.').waitFor()
  expect(await page.locator('dialog').count()).toBe(0)
  expect(await read()).toEqual(before)
})

test('a new certificate for the stored token needs the user’s password, a new address needs the token', async () => {
  const { panel, page, section, read } = await opened(/status of (409|502)/)
  const hypervisor_token = 'panel@pve!ops=01234567-89ab-cdef-0123-456789abcdef'
  await panel.api('PATCH /api/settings', { body: { hypervisor_url: 'https://pve1.example:8006', hypervisor_token } })
  await page.reload()
  const hypervisor = section('Hyperviseur')
  await hypervisor.getByLabel('Adresse de l’API').fill('https://other.example:8006')
  await page.keyboard.press('Enter')
  await hypervisor.getByText('saisissez aussi son jeton').waitFor()

  const fingerprint = Array(32).fill('AB').join(':')
  await hypervisor.getByLabel('Adresse de l’API').fill('https://pve1.example:8006')
  await hypervisor.getByLabel('Empreinte du certificat').fill(fingerprint)
  await page.keyboard.press('Enter')
  await page.locator('dialog').getByLabel('Votre mot de passe').fill('demo')
  await page.keyboard.press('Enter')

  await page.getByText('Réglages enregistrés.').waitFor()
  expect(await read()).toMatchObject({
    hypervisor_url: 'https://pve1.example:8006',
    hypervisor_fingerprint: fingerprint,
  })
})

test('a rejected value shows an error at its field, which has the focus, and nothing is stored', async () => {
  const { page, section, read } = await opened(/status of 400/)
  const before = await read()
  await section('Hôte').getByLabel('Adresse').fill('two words')
  await section('Hôte').getByRole('button', { name: 'Enregistrer' }).click()

  await page.getByText('Saisissez hôte, hôte:port ou [adresse IPv6]:port.').waitFor()
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('ssh_host')
  expect(await section('Hôte').getByLabel('Adresse').inputValue()).toBe('two words')
  expect(await read()).toEqual(before)
})

test('automatic checks and the number of checks at a time are chosen here, and a wrong number shows an error', async () => {
  const { page, section, bodies, read } = await opened(/status of 400/)
  const checks = section('Vérifications')
  await checks.getByLabel('Conteneurs vérifiés en même temps').fill('17')
  await checks.getByRole('button', { name: 'Enregistrer' }).click()
  await checks.getByText('Saisissez un nombre de 1 à 16.').waitFor()
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('checks_parallel')
  expect(await read()).toMatchObject({ checks_automatic: 'off', checks_parallel: '6' })

  await checks.getByLabel('Conteneurs vérifiés en même temps').fill('16')
  await checks.getByRole('group', { name: 'Vérifier automatiquement' }).getByText('Oui').click()
  await page.getByText('Modifications non enregistrées').waitFor()
  await checks.getByRole('button', { name: 'Enregistrer' }).click()

  await page.getByText('Réglages enregistrés.').waitFor()
  expect(await read()).toMatchObject({ checks_automatic: 'on', checks_parallel: '16' })
  expect(bodies.at(-1)).toEqual({ checks_automatic: 'on', checks_parallel: '16' })
  await expect.poll(() => page.getByText('Modifications non enregistrées').count()).toBe(0)
})

test('leaving a page with unsaved changes asks first', async () => {
  const { page, section } = await opened()
  await section('Hôte').getByLabel('Adresse').fill('elsewhere.example')
  await page.getByRole('link', { name: 'Modules' }).click()
  await page.locator('dialog').getByText('Vos modifications sur cette page seront perdues.').waitFor()
  await page.keyboard.press('Escape')
  await page.locator('dialog').waitFor({ state: 'detached' })
  expect(page.url()).toMatch(/\/settings$/)
  expect(await section('Hôte').getByLabel('Adresse').inputValue()).toBe('elsewhere.example')

  await page.getByRole('link', { name: 'Modules' }).click()
  await page.locator('dialog').getByRole('button', { name: 'Quitter' }).click()
  await page.waitForURL(/\/modules$/)
})

test('changing the host key needs the host’s name and the user’s password', async () => {
  const { page, section, read } = await opened()
  const { ssh_host, ssh_host_key } = await read()
  const next = `SHA256:${'A'.repeat(43)}`
  await section('Clé de l’hôte').getByText(ssh_host_key).waitFor()
  await section('Clé de l’hôte').getByLabel('Nouvelle empreinte').fill(next)
  await section('Clé de l’hôte').getByRole('button', { name: 'Changer la clé' }).click()
  const verb = page.locator('dialog').getByRole('button', { name: 'Changer la clé' })
  expect(await verb.isDisabled()).toBe(true)
  expect(await read()).toMatchObject({ ssh_host_key })
  await page.locator('dialog input[name=confirmed]').fill(ssh_host)
  expect(await verb.isDisabled()).toBe(true)
  await page.locator('dialog').getByLabel('Votre mot de passe').fill('demo')
  await verb.click()

  await page.getByText('Clé de l’hôte changée.').waitFor()
  expect(await read()).toMatchObject({ ssh_host_key: next })
})

test('shortcuts are stored in order with their icons; a script address is refused', async () => {
  const { page, section, read, panel } = await opened()
  const stored = [
    { label: 'Wiki', href: 'https://wiki.example', icon: 'book' },
    { label: 'Git', href: 'https://git.example' },
  ]
  await panel.api('PUT /api/settings/public', { body: { dashboard_shortcuts: JSON.stringify(stored) } })
  await page.reload()
  const shortcuts = section('Raccourcis')
  await shortcuts.getByRole('button', { name: 'Monter Git' }).waitFor()
  expect(await page.getByText('Modifications non enregistrées').count()).toBe(0)
  await shortcuts.getByRole('button', { name: 'Ajouter un raccourci' }).click()
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('label-2')
  await page.keyboard.type('Script')
  await shortcuts.getByLabel('Adresse').last().fill('javascript:alert(1)')
  await shortcuts.getByRole('button', { name: 'Enregistrer' }).click()

  await page.getByText('Saisissez une adresse http:// ou https://, ou un chemin du panneau').waitFor()
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('href-2')
  expect(JSON.parse((await read()).dashboard_shortcuts)).toEqual(stored)

  await shortcuts.getByRole('button', { name: 'Supprimer Script' }).click()
  await shortcuts.getByRole('button', { name: 'Monter Git' }).click()
  await shortcuts.getByRole('button', { name: 'Enregistrer' }).click()
  await page.getByText('Raccourcis enregistrés.').waitFor()
  expect(JSON.parse((await read()).dashboard_shortcuts)).toEqual(stored.toReversed())
})
