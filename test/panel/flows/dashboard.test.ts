import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { signedIn } from '../../client/signed-in.ts'
import { testHypervisor } from '../../hypervisor.ts'
import { startDemo } from '../../runtime/demo.ts'
import { focused, follow, openPage, signIn } from '../browser.ts'

const LONG = 120_000
const WAIT = { timeout: 60_000, interval: 50 }
/** Chromium's own messages about error responses. */
const REFUSED = /status of (500|502)/

const Me = z.looseObject({ username: z.string() })

const attention = (page: Page) => page.locator('.attention')
const cards = (page: Page) =>
  page.locator('.card').evaluateAll((all) => all.map((each) => each.getAttribute('aria-label')))

async function shownDashboard(options: Parameters<typeof openPage>[1] = {}) {
  const world = await signedIn()
  const { job_id: id } = await world.panel.api('POST /api/updates/checks', { body: { target: 'all' } })
  const read = () => world.panel.api('GET /api/updates/jobs/{id}', { params: { id }, query: { output: 'none' } })
  await expect.poll(async () => (await read()).status, WAIT).toBe('success')
  const page = await openPage(world.service.url, options)
  await signIn(page)
  await page.getByText('18 paquets en attente sur 3 cibles').waitFor(WAIT)
  return { ...world, page }
}

test('the dashboard entry for updates links to the updates page', { timeout: LONG }, async () => {
  const { page } = await shownDashboard()

  await attention(page).getByRole('link', { name: 'Mettre à jour' }).click()

  await page.getByRole('heading', { name: '3 cibles peuvent être mises à jour' }).waitFor(WAIT)
})

test('an upgrade with a non-zero exit code is listed as failed and links to its output', {
  timeout: LONG,
}, async () => {
  const { demo, panel, page } = await shownDashboard()
  demo.upgradeOutput = undefined
  demo.override = (words, { stdout }) => {
    if (words[0] !== 'apt-get' || !words.includes('full-upgrade')) return undefined
    return stdout('E: Unable to fetch some archives\n').then(() => 100)
  }
  const { job_id } = await panel.api('POST /api/updates/run', { body: { target: 'host' } })
  await page.reload()

  const item = attention(page).getByRole('listitem').filter({ hasText: 'La dernière mise à jour de l’hôte a échoué' })
  await item.getByRole('link', { name: 'Voir' }).click(WAIT)

  await page.waitForURL(`**/updates/${job_id}`)
  await page.locator('.output').getByText('Échec').first().waitFor(WAIT)
})

test('a container that stops while the page is open is listed and can be started', { timeout: LONG }, async () => {
  const hypervisor = await testHypervisor()
  const { panel, service } = await signedIn()
  const { url: hypervisor_url, token: hypervisor_token, fingerprint: hypervisor_fingerprint } = hypervisor
  await panel.api('PATCH /api/settings', { body: { hypervisor_url, hypervisor_token, hypervisor_fingerprint } })
  const page = await openPage(service.url)
  await signIn(page)
  await page.locator('.card.containers').getByText('web').waitFor(WAIT)
  const web = hypervisor.containers.get('pve')?.find(({ name }) => name === 'web')
  if (web) web.status = 'stopped'

  await attention(page).getByText('web s’est arrêté').waitFor(WAIT)
  await attention(page).getByRole('button', { name: 'Démarrer' }).click()

  await page.getByRole('heading', { name: 'Conteneurs' }).waitFor(WAIT)
  await expect.poll(() => web?.status, WAIT).toBe('running')
})

test('a changed host key is listed with a link to the settings, or to the server’s console once no administrator can be confirmed', {
  timeout: LONG,
}, async () => {
  const { demo, page } = await shownDashboard({ expected: REFUSED })
  await demo.close()
  await startDemo({ port: demo.port })
  await page.getByRole('link', { name: 'Journaux' }).click()
  await page.getByRole('heading', { name: 'Journaux' }).waitFor(WAIT)
  await page.getByRole('link', { name: 'Tableau de bord' }).click()

  const item = attention(page).getByRole('listitem').filter({ hasText: 'La clé de l’hôte a changé' })
  await item.getByRole('link', { name: 'Comparer les clés' }).click(WAIT)

  await page.getByRole('heading', { name: 'Clé de l’hôte' }).waitFor(WAIT)
  await page.getByText(demo.hostKey).waitFor(WAIT)

  // The token is renewed, and the host cannot confirm administrators.
  await page.goto(new URL('/', page.url()).href)
  await item.getByText('ops-panel settings set ssh_host_key').waitFor(WAIT)
  expect(await item.getByRole('link').count()).toBe(0)
})

test('an administrator sees that an absent host cannot confirm them, and regains their rights once it answers', {
  timeout: LONG,
}, async () => {
  const { page } = await shownDashboard({ expected: REFUSED })
  // These are the service's answers to a token that was issued while the host was absent.
  await page.route('**/api/hypervisor/host', (route) =>
    route.fulfill({ status: 502, json: { code: 'ssh_failed', error: 'Erreur SSH : connexion refusée' } }),
  )
  await page.route('**/api/auth/me', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...Me.parse(await response.json()), is_admin: false, role: 'operator' } })
  })
  await page.goto(new URL('/settings', page.url()).href)
  await page.getByText('il ne peut pas confirmer que vous en êtes administrateur').waitFor(WAIT)

  await page.unroute('**/api/auth/me')
  await page.unroute('**/api/hypervisor/host')

  await page.getByRole('heading', { name: 'Clé de l’hôte' }).waitFor(WAIT)
})

test('cards can be moved and hidden by keyboard; the arrangement survives a reload and leaves foreign keys alone', {
  timeout: LONG,
}, async () => {
  const { panel, page } = await shownDashboard()
  await panel.api('PUT /api/dashboard/layout', { body: { other: { kept: [1, 2] } } })
  expect(await cards(page)).toEqual(['Conteneurs', 'Mises à jour récentes', 'Hôte', 'Raccourcis'])

  await page.getByRole('button', { name: 'Personnaliser' }).press('Enter')
  await page.getByRole('button', { name: 'Descendre Conteneurs' }).press('Enter')
  await expect.poll(() => cards(page), WAIT).toEqual(['Mises à jour récentes', 'Conteneurs', 'Hôte', 'Raccourcis'])
  await expect.poll(() => focused(page), WAIT).not.toBe('nothing')
  await page.getByRole('button', { name: 'Masquer Hôte' }).press('Enter')
  await expect.poll(() => focused(page), WAIT).toBe('Afficher Hôte')
  await expect
    .poll(async () => panel.api('GET /api/dashboard/layout'), WAIT)
    .toEqual({
      other: { kept: [1, 2] },
      panel: { order: expect.arrayContaining(['jobs', 'containers', 'shortcuts']), hidden: ['host'] },
    })

  await page.reload()
  await page.locator('.card').first().waitFor(WAIT)
  await expect.poll(() => cards(page), WAIT).toEqual(['Mises à jour récentes', 'Conteneurs', 'Raccourcis'])
  await page.getByRole('button', { name: 'Personnaliser' }).click()
  await page.getByRole('button', { name: 'Réinitialiser' }).click()
  await expect.poll(() => cards(page), WAIT).toEqual(['Conteneurs', 'Mises à jour récentes', 'Hôte', 'Raccourcis'])
})

test('changes that follow each other faster than they are saved are all kept', { timeout: LONG }, async () => {
  const { panel, page } = await shownDashboard()
  let release = () => {}
  const first = new Promise<void>((resolve) => (release = resolve))
  let saves = 0
  await page.route('**/api/dashboard/layout', async (route) => {
    if (route.request().method() === 'PUT' && ++saves === 1) await first
    await route.continue()
  })

  await page.getByRole('button', { name: 'Personnaliser' }).click()
  await page.getByRole('button', { name: 'Descendre Conteneurs' }).click()
  await expect.poll(() => saves, WAIT).toBe(1)
  await page.getByRole('button', { name: 'Masquer Hôte' }).click()
  await page.getByRole('button', { name: 'Masquer Raccourcis' }).click()
  await expect.poll(() => cards(page), WAIT).toEqual(['Mises à jour récentes', 'Conteneurs'])
  release()

  await expect
    .poll(async () => panel.api('GET /api/dashboard/layout'), WAIT)
    .toMatchObject({ panel: { order: ['jobs', 'containers', 'host', 'shortcuts'], hidden: ['host', 'shortcuts'] } })
  expect(saves).toBe(2)
})

test('a change survives leaving the dashboard and coming back while it is being saved', { timeout: LONG }, async () => {
  const { panel, page } = await shownDashboard()
  let release = () => {}
  const first = new Promise<void>((resolve) => (release = resolve))
  let [reads, saves] = [0, 0]
  await page.route('**/api/dashboard/layout', async (route) => {
    if (route.request().method() === 'PUT' && ++saves === 1) await first
    await route.continue()
  })
  page.on('response', (response) => {
    if (response.url().endsWith('/api/dashboard/layout') && response.request().method() === 'GET') reads += 1
  })
  await page.getByRole('button', { name: 'Personnaliser' }).click()
  await page.getByRole('button', { name: 'Masquer Hôte' }).click()
  await expect.poll(() => saves, WAIT).toBe(1)
  const before = reads
  await follow(page, '/updates')
  await follow(page, '/')
  await expect.poll(() => reads, WAIT).toBeGreaterThan(before)
  await page.getByRole('button', { name: 'Personnaliser' }).waitFor(WAIT)
  release()

  await expect
    .poll(async () => panel.api('GET /api/dashboard/layout'), WAIT)
    .toMatchObject({ panel: { hidden: ['host'] } })
  await expect.poll(() => cards(page), WAIT).not.toContain('Hôte')
  await page.reload()
  await page.locator('.card').first().waitFor(WAIT)
  await expect.poll(() => cards(page), WAIT).not.toContain('Hôte')
})

test('a card that fails to load does not affect the others', { timeout: LONG }, async () => {
  const { page } = await shownDashboard({ expected: REFUSED })
  await page.route('**/api/settings/public', (route) =>
    route.fulfill({ status: 500, json: { error: 'La base de données ne répond pas.', code: 'storage_failed' } }),
  )
  await page.reload()

  await page.locator('.card.shortcuts').getByText('La base de données du panneau ne répond pas').waitFor(WAIT)
  await page.locator('.card.containers').getByText('web').waitFor(WAIT)
  await page.unroute('**/api/settings/public')
  await page.locator('.card.shortcuts').getByRole('button', { name: 'Réessayer' }).click()
  await page.getByText('Gardez ici les adresses').waitFor(WAIT)
})

test('nothing moves after the first paint', { timeout: LONG }, async () => {
  const { page } = await shownDashboard()
  await page.addInitScript(() => {
    let sum = 0
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) sum += Number(Reflect.get(entry, 'value'))
      Reflect.set(globalThis, 'shifted', sum)
    }).observe({ type: 'layout-shift', buffered: true })
  })
  await page.reload()
  await page.getByText('18 paquets en attente sur 3 cibles').waitFor(WAIT)
  await page.locator('.card.containers').getByText('web').waitFor(WAIT)
  await page.waitForLoadState('networkidle')

  // Google's limit for a good page is 0.1.
  expect(await page.evaluate(() => Number(Reflect.get(globalThis, 'shifted') ?? 0))).toBeLessThan(0.1)
})
