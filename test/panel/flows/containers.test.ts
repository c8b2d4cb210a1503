import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { signedIn } from '../../client/signed-in.ts'
import { type TestHypervisor, testHypervisor } from '../../hypervisor.ts'
import { focused, openPage, signIn } from '../browser.ts'
import { planning } from './plan-states.ts'

const LONG = 120_000
const WAIT = { timeout: 60_000, interval: 50 }
/** Chromium's own messages about error responses. */
const REFUSED = /status of (403|404|409|502)/

/** Opens the containers page as an administrator, with a hypervisor API. */
async function shownContainers(change: (hypervisor: TestHypervisor) => void = () => {}) {
  const hypervisor = await testHypervisor()
  change(hypervisor)
  const { panel, service, demo } = await signedIn()
  await panel.api('PATCH /api/settings', {
    body: {
      hypervisor_url: hypervisor.url,
      hypervisor_token: hypervisor.token,
      hypervisor_fingerprint: hypervisor.fingerprint,
    },
  })
  const page = await openPage(`${service.url}/containers`, { expected: REFUSED })
  await signIn(page)
  await rowOf(page, 'web').waitFor(WAIT)
  return { hypervisor, page, demo }
}

const rowOf = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: new RegExp(`^${name} `) }) })

/** The actions that the hypervisor has received. */
const acts = ({ requests }: TestHypervisor) =>
  requests.filter((each) => each.startsWith('POST')).map((each) => each.split('/').slice(-3).join('/'))

test('starting a container shows its log, and hiding the log keeps the focus', { timeout: LONG }, async () => {
  const { hypervisor, page } = await shownContainers()
  const task: TestHypervisor['nextTask'] = { lines: ['starting CT 102'], exitstatus: undefined }
  hypervisor.nextTask = task
  await expect.poll(() => rowOf(page, 'db').innerText(), WAIT).toContain('Arrêté')

  await page.getByRole('button', { name: 'Démarrer db' }).click()
  await page.getByText('Démarrage…').waitFor(WAIT)
  await page.getByText('starting CT 102').waitFor(WAIT)
  const [db] = hypervisor.containers.get('pve') ?? []
  if (db) db.status = 'running'
  task.lines.push('network is up')
  task.exitstatus = 'OK'

  await page.getByText('Démarré', { exact: true }).waitFor(WAIT)
  await page.getByText('network is up').waitFor(WAIT)
  await expect.poll(() => rowOf(page, 'db').innerText(), WAIT).toContain('En marche')
  await page.getByRole('button', { name: 'Masquer' }).focus()
  await page.keyboard.press('Enter')
  await expect.poll(() => page.getByText('network is up').count(), WAIT).toBe(0)
  expect(await focused(page)).toBe('Plus d’actions pour db')
  expect(acts(hypervisor)).toEqual(['102/status/start'])
})

test('a running action is followed after a reload, by the user who started it', {
  timeout: LONG,
}, async () => {
  const { hypervisor, page } = await shownContainers()
  const task: TestHypervisor['nextTask'] = { lines: ['starting CT 102'], exitstatus: undefined }
  hypervisor.nextTask = task
  await page.getByRole('button', { name: 'Démarrer db' }).click()
  await page.getByText('starting CT 102').waitFor(WAIT)

  await page.reload()
  await page.getByText('Démarrage…').waitFor(WAIT)
  task.lines.push('network is up')
  task.exitstatus = 'OK'

  await page.getByText('network is up').waitFor(WAIT)
  await page.getByText('Démarré', { exact: true }).waitFor(WAIT)
  expect(acts(hypervisor)).toEqual(['102/status/start'])
  await page.reload()
  await rowOf(page, 'db').waitFor(WAIT)
  expect(await page.evaluate(() => sessionStorage.getItem('ops-panel.tasks'))).toBe('[]')
  expect(await page.getByText('Démarré', { exact: true }).count()).toBe(0)
})

test('an action that interrupts services asks first and names the container', { timeout: LONG }, async () => {
  const { hypervisor, page } = await shownContainers()
  const stop = page.getByRole('button', { name: 'Arrêter web' })

  await stop.click()
  const question = page.getByRole('dialog')
  expect(await question.innerText()).toMatch(/Arrêter web\s\?\s+Ses services seront coupés\./)
  await page.keyboard.press('Escape')
  await expect.poll(() => question.count(), WAIT).toBe(0)
  expect(acts(hypervisor)).toEqual([])
  expect(await focused(page)).toBe('Arrêter web')

  await stop.click()
  await question.getByRole('button', { name: 'Arrêter' }).click()
  await rowOf(page, 'web').getByText('Arrêté').waitFor(WAIT)
  expect(acts(hypervisor)).toEqual(['101/status/shutdown'])
})

test('a failed task shows its reason in the row', { timeout: LONG }, async () => {
  const { page } = await shownContainers((hypervisor) => {
    hypervisor.nextTask = { lines: ['no space left'], exitstatus: 'startup failed' }
  })

  await page.getByRole('button', { name: 'Démarrer db' }).click()

  await page.getByText(/Échec.*startup failed/).waitFor(WAIT)
  await page.getByText('no space left').waitFor(WAIT)
})

test('a refused action shows an error in its row and can be retried', { timeout: LONG }, async () => {
  const { hypervisor, page } = await shownContainers((each) => {
    each.permissions = { '/': { 'VM.Audit': 1 } }
  })

  await page.getByRole('button', { name: 'Démarrer db' }).click()
  const problem = page.getByRole('row').getByRole('alert')
  expect(await problem.innerText()).toContain('n’a pas les droits')
  hypervisor.permissions = { '/': { 'VM.Audit': 1, 'VM.PowerMgmt': 1 } }
  await problem.getByRole('button', { name: 'Réessayer' }).click()

  await page.getByText('Démarré', { exact: true }).waitFor(WAIT)
})

test('an upgrade is seen before it starts, and says there why it cannot', { timeout: LONG }, async () => {
  const { page } = await shownContainers()
  const { state, started } = await planning(page)
  state.startRefusal = { status: 502, json: { code: 'ssh_failed', error: 'Connexion refusée.' } }

  await page.getByRole('button', { name: 'Plus d’actions pour web' }).click()
  await page.getByRole('button', { name: 'Mettre à jour' }).click()
  const start = page.locator('dialog.drawer .primary[aria-disabled=false]')
  await start.click(WAIT)

  await page.locator('dialog').getByText('La connexion SSH à l’hôte a échoué').waitFor(WAIT)
  expect(await page.locator('.chg').count()).toBe(3)
  // The plan is still good.
  state.startRefusal = undefined
  await start.click(WAIT)
  await page.waitForURL(/\/updates\/\w+/, WAIT)
  expect(started).toHaveLength(2)
})

test('with the host away, only actions of the hypervisor are offered', {
  timeout: LONG,
}, async () => {
  const { hypervisor, page } = await shownContainers()
  let started = 0
  page.on('request', (request) => {
    if (/\/api\/updates\/(run|plans)$/.test(request.url())) started += 1
  })
  await page.route('**/api/hypervisor/host', (route) =>
    route.fulfill({
      status: 502,
      headers: { 'x-request-id': 'of-the-service' },
      json: { code: 'ssh_failed', error: 'Connexion refusée.' },
    }),
  )
  await page.reload()
  await rowOf(page, 'web').waitFor(WAIT)

  const upgrade = page.getByRole('button', { name: 'Mettre à jour', exact: true })
  await page.getByRole('button', { name: 'Plus d’actions pour web' }).click()
  await expect.poll(() => upgrade.getAttribute('aria-disabled'), WAIT).toBe('true')
  expect(await upgrade.getAttribute('title')).toContain('tant que l’hôte ne répond pas')
  expect(await page.getByRole('button', { name: 'Ouvrir un terminal' }).getAttribute('aria-disabled')).toBe('true')
  await upgrade.click({ force: true })

  await page.getByRole('button', { name: 'Démarrer db' }).click()
  await expect.poll(() => acts(hypervisor), WAIT).toEqual(['102/status/start'])
  expect(started).toBe(0)
})

test('a proxy that refuses one request alone makes the page reconnect with pauses', {
  timeout: LONG,
}, async () => {
  const { page } = await shownContainers()
  let sockets = 0
  let refused = 0
  page.on('websocket', () => {
    sockets += 1
  })
  await page.route('**/api/hypervisor/host', (route) => {
    refused += 1
    return route.fulfill({ status: 502, json: { code: 'ssh_failed', error: 'Connexion refusée.' } })
  })
  const began = Date.now()

  await page.reload()
  await expect.poll(() => refused >= 12 || (refused > 2 && Date.now() - began > 6_000), WAIT).toBe(true)

  // One reconnection in two seconds, each with a socket and a repeated request.
  const most = 2 + Math.ceil((Date.now() - began) / 2_000)
  expect(refused).toBeLessThanOrEqual(2 * most)
  expect(sockets).toBeLessThanOrEqual(2 * most)
})

test('a sorted list stays sorted while figures change, and keeps the focus', {
  timeout: LONG,
}, async () => {
  const { hypervisor, page } = await shownContainers()
  const order = async () => (await page.getByRole('rowheader').allInnerTexts()).map((text) => text.split(/\s/)[0])
  expect(await order()).toEqual(['web', 'db', 'backed-up'])

  await page.getByRole('button', { name: 'CPU' }).click()
  await page.getByRole('button', { name: 'CPU' }).click()
  expect(await page.getByRole('columnheader', { name: 'CPU' }).getAttribute('aria-sort')).toBe('ascending')
  expect((await order()).at(-1)).toBe('web')
  await page.getByRole('button', { name: 'Arrêter web' }).focus()
  const [, web] = hypervisor.containers.get('pve') ?? []
  if (web) web.cpu = 0.73

  await expect.poll(() => rowOf(page, 'web').innerText(), WAIT).toMatch(/73\s%/)
  expect((await order()).at(-1)).toBe('web')
  expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Arrêter web')
})

test('on a phone each container is a card with all figures, and nothing is clipped', { timeout: LONG }, async () => {
  const { page } = await shownContainers()

  await page.setViewportSize({ width: 320, height: 700 })

  const row = rowOf(page, 'web')
  for (const text of [/En marche/, /1\s%/, /799\sMio/, /22\sh/])
    await row
      .getByText(text)
      .first()
      .waitFor({ ...WAIT, state: 'visible' })
  await row.getByRole('button', { name: 'Arrêter web' }).waitFor(WAIT)
  const table = page.locator('.containers-table')
  expect(await table.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0)
})
