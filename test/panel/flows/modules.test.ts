import { expect, test } from 'vitest'
import { testForge } from '../../forge.ts'
import { repository, saying } from '../../functions/modules/module.ts'
import { startDemo } from '../../runtime/demo.ts'
import { startReplaceable } from '../../serve/replaceable.ts'
import { openPage, signIn } from '../browser.ts'
import { findingsOf } from './page-findings.ts'
import { started } from './started.ts'

/** The test builds, stops and starts a service. */
const LONG = 180_000
const WAIT = { timeout: 60_000 }
/** Chromium's own messages while the service is unreachable. */
const AWAY = /net::ERR_|WebSocket connection to .* failed|status of (401|409|502|503)/

/** Starts the program, which can restart its service, with a forge and a host. */
async function opened(code?: string) {
  const demo = await startDemo()
  const forge = await testForge()
  forge.put(repository('wordy', '1.0.0', code))
  const service = await startReplaceable(forge, undefined, {
    PANEL_SSH_HOST: `127.0.0.1:${demo.port}`,
    PANEL_SSH_USERNAME: demo.service.username,
    PANEL_SSH_PASSWORD: demo.service.password,
  })
  const page = await openPage(`${service.url}/modules`, { expected: AWAY })
  await signIn(page)
  const section = (name: string) => page.getByRole('region', { name, exact: true })
  return { forge, service, page, section }
}

test('a module is installed across a restart, updated, and removed after typing its name', {
  timeout: LONG,
}, async () => {
  const { forge, service, page, section } = await opened()
  const boot = await service.boot()
  const deployment = section('Déploiement de wordy')
  await page.getByRole('button', { name: 'Installer wordy' }).click(WAIT)
  // The dialog shows the commit to install. A push in the meantime makes the service ask again.
  const first = forge.tip('wordy', 'main')
  const dialog = page.locator('dialog')
  const agree = dialog.getByRole('button', { name: 'Installer' })
  await dialog.getByText('tous les droits du service').waitFor()
  expect(await dialog.locator('code').getAttribute('title')).toBe(first)
  expect(first).toContain((await dialog.locator('code').textContent()) ?? 'nothing')
  forge.put(repository('wordy', '1.0.0', `// Another commit.\n${saying('wordy', '1.0.0')}`))
  await agree.click()
  await page.getByText('Ce module a changé depuis la lecture de la liste.').waitFor(WAIT)
  await page.getByRole('button', { name: 'Installer wordy' }).click(WAIT)
  expect(await dialog.locator('code').getAttribute('title')).toBe(forge.tip('wordy', 'main'))
  await agree.click()
  await deployment.first().waitFor(WAIT)
  // A reload in the middle of an installation has no effect on it.
  await page.reload()
  await deployment.locator('header').getByText('Terminé').waitFor(WAIT)
  expect(await deployment.locator('li').count()).toBeGreaterThan(0)
  await section('Installés').getByText('wordy', { exact: true }).first().waitFor(WAIT)
  expect(await service.boot()).not.toBe(boot)
  expect(await service.get('/api/modules/wordy/word')).toEqual({ status: 200, body: { word: '1.0.0' } })
  await page.getByRole('button', { name: 'Masquer' }).click()
  await deployment.first().waitFor({ state: 'detached' })

  // A version that does not start is rolled back, and the page shows the reason.
  forge.put(repository('wordy', '2.0.0', 'process.exit(3)'))
  await page.getByRole('button', { name: 'Actualiser' }).click()
  await page.getByRole('button', { name: 'Passer à 2.0.0\u00a0: wordy' }).click(WAIT)
  await agree.click()
  await page.getByText('la version précédente reste en service').waitFor(WAIT)
  expect((await deployment.locator('.err-text').textContent()) ?? '').not.toBe('')
  expect(await service.get('/api/modules/wordy/word')).toEqual({ status: 200, body: { word: '1.0.0' } })

  // On a phone the name of a module keeps its space beside the buttons.
  await page.setViewportSize({ width: 390, height: 800 })
  const box = await page.locator('.modules > li .grow', { hasText: 'wordy' }).boundingBox()
  expect(box?.width).toBeGreaterThan(200)
  expect(await findingsOf(page)).toEqual([])

  await page.getByRole('button', { name: 'Plus d’actions pour wordy' }).click()
  await page.getByRole('button', { name: 'Supprimer', exact: true }).click()
  const verb = page.locator('dialog').getByRole('button', { name: 'Supprimer' })
  expect(await verb.isDisabled()).toBe(true)
  await page.locator('dialog input').fill('wordy')
  await verb.click()
  await page.getByText('wordy est supprimé.').waitFor(WAIT)
  await expect.poll(() => service.module('wordy'), WAIT).toBeUndefined()
  await page.getByRole('button', { name: 'Installer wordy' }).waitFor(WAIT)
})

test('an unreachable forge shows an error beside the installed modules', async () => {
  const forge = await testForge()
  forge.behave = (_, response) => {
    response.writeHead(500).end()
    return true
  }
  const { service } = await started({ PANEL_FORGE_URL: forge.url, PANEL_FORGE_ORG: forge.org })
  const page = await openPage(`${service.url}/modules`)
  await signIn(page)
  await page.getByText('La forge n’a pas pu être lue').waitFor()
  expect(await page.getByText('Fait partie du panneau').count()).toBeGreaterThan(0)

  forge.behave = undefined
  forge.put(repository('wordy', '1.0.0'))
  await page.getByRole('button', { name: 'Actualiser' }).click()
  await page.getByRole('button', { name: 'Installer wordy' }).waitFor()
  expect(await page.getByText('La forge n’a pas pu être lue').count()).toBe(0)
})

test('without administrator rights, modules are a read-only list', async () => {
  const { service } = await started()
  const page = await openPage(`${service.url}/modules`)
  await page.locator('input[name=username]').fill('guest')
  await page.locator('input[name=password]').fill('guest')
  await page.keyboard.press('Enter')
  await page.getByText('Le panneau lui-même').click()
  await page.getByText('Fait partie du panneau').first().waitFor()
  expect(await page.locator('main').getByRole('button').count()).toBe(0)
})
