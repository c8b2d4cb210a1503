import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import * as z from 'zod'
import type { Check } from '../../../panel/nouns/checked.ts'
import { signedIn, upgrade } from '../../client/signed-in.ts'
import { check } from '../nouns/checks.ts'
import { follow, openPage, signIn } from '../browser.ts'

const LONG = 60_000
const WAIT = { timeout: 15_000, interval: 20 }
const CHECKS = '**/api/updates/checks'

const Shown = z.looseObject({ started_by_name: z.string() })

/** Answers with these results in place of the stored ones, and counts the requests. */
async function answering(page: Page, given: { checks: readonly Check[]; automatic?: boolean }) {
  const asked = { reads: 0, starts: 0 }
  const vulnerabilities = { cve: null, kev: null }
  await page.route(CHECKS, (route) => {
    if (route.request().method() === 'GET') {
      asked.reads += 1
      return route.fulfill({ json: { automatic: false, vulnerabilities, ...given } })
    }
    asked.starts += 1
    return route.fulfill({ status: 202, json: { job_id: '1772366400-k3x9q2pa', message: 'Vérification lancée' } })
  })
  return asked
}

/** The badge of the updates entry: its colour class and its whole text. */
const badge = (page: Page) =>
  page
    .locator('nav.side > ul .count.need')
    .evaluateAll((all) => all.map((each) => `${each.className} ${each.textContent}`))

const attention = (page: Page) => page.locator('.attention li')

async function opened(given: { checks: readonly Check[]; automatic?: boolean }, path = '/', expected?: RegExp) {
  const world = await signedIn()
  const page = await openPage(`${world.proxy.url}/account`, { ...(expected && { expected }) })
  const asked = await answering(page, given)
  const sockets: { url: string; closed: boolean }[] = []
  page.on('websocket', (opened) => {
    const seen = { url: opened.url(), closed: false }
    if (seen.url.includes('/ws/checks')) sockets.push(seen)
    opened.on('close', () => (seen.closed = true))
  })
  await signIn(page)
  if (path !== '/account') await follow(page, path)
  return { ...world, page, asked, sockets, given }
}

test('the badge has the number of targets that need somebody, on every page, and changes without polling', {
  timeout: LONG,
}, async () => {
  const given = { checks: [check('host', { waits: 9 }), check('lxc:101', { findings: ['lists_stale'] })] }
  const { panel, printed, page, asked, sockets } = await opened(given, '/account')
  await expect.poll(() => badge(page), WAIT).toEqual(['count need 11 cible à traiter'])
  await expect.poll(() => sockets.length, WAIT).toBe(1)

  // Nothing changes, so nothing is read again, whatever else the page asks.
  await page.waitForLoadState('networkidle')
  const jobsAsked = { count: 0 }
  page.on('request', (request) => {
    if (request.url().includes('/api/updates/jobs')) jobsAsked.count += 1
  })
  const readsInFiveRequests = async () => {
    const before = { reads: asked.reads, jobs: jobsAsked.count }
    await expect.poll(() => jobsAsked.count - before.jobs, WAIT).toBeGreaterThan(4)
    return asked.reads - before.reads
  }
  // The service notes its own place once, soon after its start.
  await expect.poll(readsInFiveRequests, { timeout: 40_000 }).toBe(0)

  given.checks = [check('host', { state: 'blocked' }), check('lxc:101', { findings: ['lists_stale'] })]
  await upgrade(panel)
  printed.end()

  await expect
    .poll(() => badge(page), WAIT)
    .toEqual(['count need broken 22 cibles à traiter, dont au moins une en échec ou bloquée'])
  expect(sockets).toHaveLength(1)
})

test('the socket ends with the session, and a closed one is replaced', { timeout: LONG }, async () => {
  const { proxy, page, sockets } = await opened({ checks: [check('host')] }, '/account', /WebSocket/)
  await expect.poll(() => sockets.map(({ closed }) => closed), WAIT).toEqual([false])
  await expect.poll(() => proxy.open('/ws/checks'), WAIT).toBe(1)

  proxy.cutNow('/ws/checks')

  await expect.poll(() => sockets.map(({ closed }) => closed), WAIT).toEqual([true, false])
  await page.locator('nav').getByRole('button', { name: 'Se déconnecter' }).click()
  await page.locator('input[name=username]').waitFor()
  await expect.poll(() => sockets.map(({ closed }) => closed), WAIT).toEqual([true, true])
})

test('without a socket the results are read every 30 seconds, but not for a hidden page', {
  timeout: LONG,
}, async () => {
  const { page, asked } = await opened({ checks: [check('host')] }, '/account')
  await page.routeWebSocket('**/ws/checks', (socket) => socket.close({ code: 1011, reason: 'test' }))
  await page.clock.install()
  await page.reload()
  await page.locator('.shell').waitFor()
  await expect.poll(() => asked.reads, WAIT).toBeGreaterThan(0)
  await page.waitForLoadState('networkidle')
  const first = asked.reads
  await page.clock.fastForward(31_000)
  await expect.poll(() => asked.reads, WAIT).toBe(first + 1)

  await page.evaluate(() => {
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => true })
    document.dispatchEvent(new Event('visibilitychange'))
  })
  await page.waitForLoadState('networkidle')
  await page.clock.fastForward(120_000)
  expect(asked.reads).toBe(first + 1)

  await page.evaluate(() => {
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => false })
    document.dispatchEvent(new Event('visibilitychange'))
  })
  await expect.poll(() => asked.reads, WAIT).toBe(first + 2)
})

test('a page starts due checks only where automatic checks are on', { timeout: LONG }, async () => {
  const never = check('host', { state: 'unknown', checked_at: null, lists_at: null })
  const given = { checks: [never], automatic: false }
  const { page, asked } = await opened(given, '/')
  await attention(page).first().waitFor(WAIT)
  await page.waitForLoadState('networkidle')
  expect(asked.starts).toBe(0)

  given.automatic = true
  await page.reload()
  await expect.poll(() => asked.starts, WAIT).toBe(1)
})

test('the list has the worst first, each with its one action', { timeout: LONG }, async () => {
  const retry = { action: 'retry_check', label: 'Revérifier' } as const
  const silent = check('lxc:101', { findings: ['repository_unreachable'] })
  const readOnly = check('lxc:104', { state: 'blocked', findings: ['root_read_only'] })
  const { page, asked } = await opened({
    checks: [
      check('lxc:103', { waits: 4, findings: ['conffile_changed'] }),
      check('host', { findings: ['reboot_required'] }),
      { ...silent, findings: silent.findings.map((each) => ({ ...each, remedy: retry })) },
      { ...check('lxc:102', { waits: 1, exploited: 1 }), counts: { ...silent.counts, upgrade: 1, security: 1 } },
      { ...readOnly, findings: readOnly.findings.map((each) => ({ ...each, severity: 'blocking' })) },
    ],
  })

  await expect
    .poll(() => attention(page).allInnerTexts(), WAIT)
    .toEqual([
      'Erreur\nLe système de fichiers de lxc:104 est en lecture seule.\nOuvrir un terminal',
      'Attention\nUne faille exploitée est ouverte sur lxc:102.\nVoir',
      'Attention\nUn dépôt n’a pas répondu sur lxc:101.\nRevérifier',
      'Attention\nL’hôte doit redémarrer pour que ses mises à jour prennent effet.\nRedémarrer l’hôte',
      'Attention\nVous avez modifié des fichiers de configuration sur lxc:103\u00a0: la mise à jour garde les vôtres.\nVoir',
      'Prêt\n5 paquets en attente sur 2 cibles, dont 1 de sécurité\nMettre à jour',
    ])
  // The heading, the menu and the page of updates count alike.
  await page.getByRole('heading', { name: '5 points à traiter' }).waitFor(WAIT)
  await page
    .locator('.side .need')
    .getByText('5 cibles à traiter')
    .waitFor({ ...WAIT, state: 'attached' })
  await attention(page).getByRole('button', { name: 'Revérifier' }).click()
  await expect.poll(() => asked.starts, WAIT).toBe(1)
})

test('an upgrade without the newest lists of a repository is shown with warnings, on the dashboard and its page', {
  timeout: LONG,
}, async () => {
  const { panel, printed, page } = await opened({ checks: [] })
  const id = await upgrade(panel)
  printed.print('W: Failed to fetch http://deb.example/debian/dists/bookworm/InRelease  Could not resolve host\n')
  printed.print('Not every repository could be refreshed: upgrading with the lists at hand.\n')
  printed.end()

  await attention(page)
    .filter({ hasText: 'La dernière mise à jour de l’hôte s’est terminée avec des avertissements' })
    .getByRole('link', { name: 'Voir' })
    .click(WAIT)

  await page.waitForURL(`**/updates/${id}`)
  await page.getByText('Mis à jour, avec des avertissements').first().waitFor(WAIT)
  const warnings = page.getByRole('list', { name: 'Avertissements' })
  await warnings.getByText('n’a pas pu être actualisé').waitFor(WAIT)

  // A job that nobody started says so.
  await page.route(`**/api/updates/jobs/${id}?*`, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...Shown.parse(await response.json()), started_by_name: '' } })
  })
  await page.reload()
  await page.locator('.head').getByText('automatique').waitFor(WAIT)
})
