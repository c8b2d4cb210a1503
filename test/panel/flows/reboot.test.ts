import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { DemoHostOptions } from '../../../demo/host.ts'
import { newContainers, type Place } from '../../../demo/place.ts'
import { signedIn, upgrade } from '../../client/signed-in.ts'
import { freePort } from '../../free-port.ts'
import { startService } from '../../serve/service.ts'
import { follow, openPage, signIn } from '../browser.ts'

const LONG = 120_000
const WAIT = { timeout: 60_000, interval: 50 }
/** Chromium’s own messages about refused requests, and about a service and a host that are away. */
const EXPECTED = /status of (409|422|500|502|503)|net::ERR_|WebSocket connection to .* failed/
const KERNEL = 'linux-image-6.1.0-37-amd64'

const attention = (page: Page) => page.locator('.attention')
const dialog = (page: Page) => page.locator('dialog.question')
const reboots = (page: Page) => attention(page).getByRole('button', { name: 'Redémarrer l’hôte' })

/** A host that asks for a reboot. The container `db` does not start with it, and the panel is said to run in `web`. */
async function asking(options: DemoHostOptions = {}) {
  const port = await freePort()
  const containers: Place[] = newContainers().map((place) => ({
    ...place,
    ...(place.id === '101' && { hasPanel: true }),
    ...(place.id === '102' && { onboot: false }),
  }))
  const world = await signedIn(
    {},
    { PANEL_PORT: String(port) },
    { containers, host: { reboot: [KERNEL] }, rebootMs: 6_000, ...options },
  )
  return { ...world, containers, port }
}

async function opened(url: string, options: Parameters<typeof openPage>[1] = {}, name: 'demo' | 'guest' = 'demo') {
  const page = await openPage(url, { expected: EXPECTED, ...options })
  await signIn(page, name)
  await attention(page).locator('li').first().waitFor(WAIT)
  return page
}

/** Types the name of the host and confirms. */
async function confirmed(page: Page): Promise<void> {
  await dialog(page).locator('input').fill('pve')
  await dialog(page).getByRole('button', { name: 'Redémarrer l’hôte' }).click()
}

test('a reboot is asked for by name, its page returns by itself after a restart of the service, and a missing container is started', {
  timeout: LONG,
}, async () => {
  const { demo, panel, service, port } = await asking()
  await panel.api('GET /api/updates/targets')
  const { job_id: id } = await panel.api('POST /api/updates/checks', { body: { target: 'all' } })
  const statusOf = () => panel.api('GET /api/updates/jobs/{id}', { params: { id }, query: { output: 'none' } })
  await expect.poll(async () => (await statusOf()).status, WAIT).toBe('success')
  // The service notes its own place in its first seconds.
  const standing = async () => {
    const { checks } = await panel.api('GET /api/updates/checks')
    return checks.find(({ target }) => target === 'lxc:101')?.findings.map(({ code }) => code)
  }
  await expect.poll(standing, WAIT).toContain('self_impact')
  const page = await opened(service.url)
  await attention(page).getByText(KERNEL).waitFor(WAIT)
  await page.locator('.card.host').getByText(KERNEL).waitFor(WAIT)

  await reboots(page).click()
  await dialog(page).getByText('2 conteneurs en marche s’arrêtent avec l’hôte\u00a0: web et db.').waitFor(WAIT)
  await dialog(page).getByText('Ce panneau s’arrête aussi').waitFor(WAIT)
  await dialog(page).getByText(`Redémarrage requis\u00a0: ${KERNEL}`).waitFor(WAIT)
  const verb = dialog(page).getByRole('button', { name: 'Redémarrer l’hôte' })
  expect(await verb.getAttribute('aria-disabled')).toBe('true')
  expect(await verb.getAttribute('title')).toBe('Saisissez «\u00a0pve\u00a0» pour confirmer.')
  // Letters go to the field at once, and a screen reader reads the consequences out.
  expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('confirmed')
  const told = await dialog(page).getAttribute('aria-describedby')
  expect(await dialog(page).locator(`[id="${told}"]`).innerText()).toContain('2 conteneurs en marche')
  await dialog(page).locator('input').fill('pv')
  expect(await dialog(page).getByText('Le texte saisi').count()).toBe(0)
  await dialog(page).locator('input').fill('pve2')
  await dialog(page).getByText('Le texte saisi n’est pas «\u00a0pve\u00a0».').waitFor(WAIT)
  await dialog(page).locator('input').press('Enter')
  expect(await dialog(page).count()).toBe(1)
  await dialog(page).locator('input').fill('')
  await dialog(page).locator('input').focus()
  // A paste arrives as one piece of text, often with a space.
  await page.keyboard.insertText('pve ')
  expect(await verb.getAttribute('aria-disabled')).toBe('false')
  const boot = demo.boot
  await page.keyboard.press('Enter')

  await page.waitForURL(/\/updates\/\d+-[a-z0-9]+$/)
  const job = new URL(page.url()).pathname
  const station = (name: string) => page.locator('.steps li').filter({ hasText: name })
  await page.getByRole('heading', { name: 'Redémarrage de l’hôte' }).waitFor(WAIT)
  await page.getByText('l’hôte ne répond plus').waitFor(WAIT)
  expect(await station('Retour').getAttribute('class')).toBe('ahead')
  // Nothing takes back a reboot that the host was asked for.
  expect(await page.locator('.output').getByRole('button', { name: 'Annuler' }).count()).toBe(0)

  await service.stop()
  const banner = page.locator('.away')
  await banner.getByText('L’hôte redémarre\u202f; cette page revient d’elle-même.').waitFor(WAIT)
  await follow(page, '/containers')
  await page.getByRole('heading', { name: 'Conteneurs' }).waitFor(WAIT)
  await banner.getByText('L’hôte redémarre\u202f; cette page revient d’elle-même.').waitFor(WAIT)
  expect(await page.getByRole('alert').count()).toBe(0)
  await startService(demo, { PANEL_PORT: String(port), PANEL_DATA_DIR: service.folder })
  await page.getByRole('row').filter({ hasText: 'old-backup' }).waitFor(WAIT)
  expect(await page.locator('input[name=password]').count()).toBe(0)

  await follow(page, job)
  await station('Conteneurs').and(page.locator('.warn')).waitFor(WAIT)
  expect(demo.boot).not.toBe(boot)
  for (const name of ['Demandé', 'Départ', 'Retour'])
    expect(await station(name).first().getAttribute('class')).toBe('done')
  await page.locator('.output').getByText('Redémarré, avec des avertissements').first().waitFor(WAIT)
  const gone = page.getByRole('region', { name: 'Un conteneur n’est pas revenu' })
  expect(await page.getByText('tournait avant le redémarrage').count()).toBe(1)
  await gone.getByRole('button', { name: 'Démarrer db' }).click()
  await gone.getByText('En marche').waitFor(WAIT)
  expect(await gone.getByRole('button').count()).toBe(0)
})

test('the dashboard and the page of the containers say after a reboot what is missing, and nothing asks for another one', {
  timeout: LONG,
}, async () => {
  const { service } = await asking({ rebootMs: 1_000 })
  const page = await opened(`${service.url}`)
  await page.locator('.card.host').getByRole('button', { name: 'Redémarrer l’hôte' }).click()
  await confirmed(page)
  await page.locator('.output').getByText('Redémarré, avec des avertissements').first().waitFor(WAIT)

  await follow(page, '/')
  const entry = attention(page).getByRole('listitem').filter({ hasText: 'Pas revenus après le redémarrage' })
  await entry.getByText('db').waitFor(WAIT)
  await expect.poll(() => reboots(page).count(), WAIT).toBe(0)
  await entry.getByRole('button', { name: 'Démarrer' }).click()
  await page.getByRole('heading', { name: 'Conteneurs' }).waitFor(WAIT)
  await page.getByRole('button', { name: 'Redémarrer l’hôte' }).waitFor(WAIT)
  expect(await page.locator('.host-reboot').count()).toBe(0)
  await follow(page, '/')
  await expect.poll(() => entry.count(), WAIT).toBe(0)
})

test('a reboot is refused with what to do while a job or a backup runs', {
  timeout: LONG,
}, async () => {
  const { panel, printed, service, containers } = await asking()
  const page = await opened(service.url)
  const entry = attention(page).getByRole('listitem').filter({ hasText: KERNEL })
  const job = await upgrade(panel)
  await page
    .getByText('1 tâche en cours')
    .first()
    .waitFor({ ...WAIT, state: 'attached' })

  await reboots(page).click()
  await entry
    .getByText('Une autre tâche est en cours ou attend. Redémarrez l’hôte quand elle sera finie.')
    .waitFor(WAIT)
  expect(await entry.getByRole('link', { name: 'Voir la tâche' }).getAttribute('href')).toBe(`/updates/${job}`)
  expect(await dialog(page).count()).toBe(0)
  printed.end()
  await expect.poll(() => page.getByText('1 tâche en cours').count(), WAIT).toBe(0)

  // Another person starts something while the question is open.
  await page.route('**/api/hypervisor/host/reboot', (route) =>
    route.fulfill({ status: 409, json: { error: 'x', code: 'jobs_running', job_id: job } }),
  )
  await reboots(page).click()
  await confirmed(page)
  await entry.getByRole('link', { name: 'Voir la tâche' }).waitFor(WAIT)
  await page.unroute('**/api/hypervisor/host/reboot')

  const [web] = containers
  if (web) web.lockedFor = 'backup'
  await reboots(page).click()
  await confirmed(page)
  await entry.getByText('Une sauvegarde est en cours. Redémarrez l’hôte quand elle sera finie.').waitFor(WAIT)
  expect(await entry.getByRole('link').count()).toBe(0)
  if (web) delete web.lockedFor
})

test('a second administrator who confirms the same reboot gets its page', { timeout: LONG }, async () => {
  const { service } = await asking({ rebootMs: 1_000 })
  const [one, two] = [await opened(service.url), await opened(service.url)]
  await reboots(two).click()
  await dialog(two).waitFor(WAIT)
  await reboots(one).click()
  await confirmed(one)
  await one.waitForURL(/\/updates\/\d/)
  await two
    .getByText('1 tâche en cours')
    .first()
    .waitFor({ ...WAIT, state: 'attached' })
  await confirmed(two)
  await two.waitForURL(/\/updates\/\d/)
  expect(new URL(two.url()).pathname).toBe(new URL(one.url()).pathname)
})

test('a sudo rule that lacks systemctl is named, and nothing happens', { timeout: LONG }, async () => {
  const limited = { password: 'limited', uid: 1_500, groups: ['panel'], sudo: 'rule' as const }
  const { demo, service } = await asking({ users: { panel: limited } })
  const boot = demo.boot
  const page = await opened(service.url)
  await reboots(page).click()
  await confirmed(page)

  await page.getByText('La règle sudo du compte de service ne permet pas systemctl').first().waitFor(WAIT)
  await page.locator('.output').getByText('NOPASSWD: /usr/bin/systemctl').waitFor(WAIT)
  expect(await page.locator('.steps li').evaluateAll((all) => all.map(({ className }) => className))).toEqual([
    'fail',
    'off',
    'off',
    'off',
  ])
  expect(demo.boot).toBe(boot)
})

test('other users see that the host has to be rebooted, and why, without a button', { timeout: LONG }, async () => {
  const { service } = await asking()
  const page = await opened(service.url, {}, 'guest')
  await attention(page).getByText(KERNEL).waitFor(WAIT)
  await page.locator('.card.host').getByText(KERNEL).waitFor(WAIT)
  await follow(page, '/containers')
  await page.locator('.host-reboot').getByText(KERNEL).waitFor(WAIT)
  expect(await page.getByRole('button', { name: 'Redémarrer l’hôte' }).count()).toBe(0)
})
