import type { Route } from 'playwright-core'
import { expect, test } from 'vitest'
import { startDemo } from '../../runtime/demo.ts'
import { startService } from '../../serve/service.ts'
import { follow, openPage, signIn } from '../browser.ts'

const WAIT = { timeout: 30_000 }
/** The polls that may be under way when a session ends, and the renewal that a refusal leads to. */
const UNDER_WAY = /status of 401 .*\/api\/(updates\/jobs|hypervisor\/containers|auth\/refresh)(\?.*)?$/

test('all windows of a browser share the last session, and none after a sign-out', async () => {
  const service = await startService(await startDemo())
  const one = await openPage(service.url, { expected: UNDER_WAY })
  const refused: string[] = []
  one.context().on('response', (response) => {
    const asker = response.frame().page() === one ? 'one' : 'other'
    if (response.status() === 401) refused.push(`${asker} ${new URL(response.url()).pathname}`)
  })
  const other = await one.context().newPage()
  await other.goto(`${service.url}/containers`)
  await other.locator('input[name=username]').waitFor(WAIT)

  await signIn(one, 'guest')

  await other.getByRole('heading', { name: 'Conteneurs' }).waitFor(WAIT)
  expect(await other.locator('.account').innerText()).toBe('guest')

  await one.getByRole('link', { name: 'guest' }).click()
  expect(refused).toEqual([])
  await one.locator('nav').getByRole('button', { name: 'Se déconnecter' }).click()
  await other.getByText('Vous êtes déconnecté.').waitFor(WAIT)
  await signIn(other)
  await expect.poll(() => one.locator('.account').innerText(), WAIT).toBe('demo')
  // Each window has at most one request of a kind under way.
  expect(refused).toEqual([...new Set(refused)])
})

test('a language chosen before sign-in stays', async () => {
  const service = await startService(await startDemo())
  const page = await openPage(service.url)
  await page.getByRole('button', { name: 'English' }).click()
  await signIn(page)

  await page.getByRole('link', { name: 'Dashboard' }).waitFor(WAIT)
  await expect.poll(() => page.locator('html').getAttribute('lang'), WAIT).toBe('en')
  await page.waitForLoadState('networkidle')
  await page.reload()
  await page.getByRole('link', { name: 'Dashboard' }).waitFor(WAIT)
})

test('a sign-out while the service is away says so, and ends the session once it is back', async () => {
  const service = await startService(await startDemo())
  const page = await openPage(service.url, { expected: /net::ERR_/ })
  await signIn(page)
  await page.getByRole('link', { name: 'demo' }).click()
  await page.locator('nav').getByRole('button', { name: 'Se déconnecter' }).waitFor(WAIT)

  await page.context().setOffline(true)
  await page.locator('nav').getByRole('button', { name: 'Se déconnecter' }).click()
  await page.getByText('Vous êtes déconnecté ici, mais le service n’a pas répondu').waitFor(WAIT)
  await page.context().setOffline(false)

  await page.getByText('Vous êtes déconnecté.', { exact: true }).waitFor(WAIT)
  expect((await page.context().cookies()).filter(({ name }) => name.includes('refresh'))).toEqual([])
})

test('an open question is not shown to the next user', async () => {
  const service = await startService(await startDemo())
  // The service closes the sockets of the session, and the window may ask for a new token before it hears of the sign-out.
  const page = await openPage(`${service.url}/containers`, { expected: /status of 401/ })
  await signIn(page)
  await page.getByRole('button', { name: 'Arrêter web' }).click(WAIT)
  await page.getByRole('dialog').waitFor(WAIT)
  const other = await page.context().newPage()
  await other.goto(`${service.url}/account`)

  await other.locator('nav').getByRole('button', { name: 'Se déconnecter' }).click(WAIT)
  await page.locator('input[name=username]').waitFor(WAIT)
  await signIn(page, 'guest')

  await page.getByRole('heading', { name: 'Conteneurs' }).waitFor(WAIT)
  expect(await page.getByRole('dialog').count()).toBe(0)
})

test('requests made before a sign-out have no effect after it', async () => {
  const service = await startService(await startDemo())
  const page = await openPage(`${service.url}/updates`, { expected: /net::ERR_|status of 500/ })
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route('**/api/updates/checks', async (route) => {
    await held
    await route.continue().catch(() => {})
  })
  const asked = page.waitForRequest('**/api/updates/checks')
  await signIn(page)
  await asked
  await page.getByRole('link', { name: 'demo' }).click()
  await page.locator('nav').getByRole('button', { name: 'Se déconnecter' }).click(WAIT)
  await page.locator('input[name=username]').waitFor(WAIT)
  release()
  await page.waitForLoadState('networkidle')

  await page.unroute('**/api/updates/checks')
  await page.route('**/api/updates/checks', (route) =>
    route.fulfill({ status: 500, json: { error: 'La base de données ne répond pas.', code: 'storage_failed' } }),
  )
  await signIn(page, 'guest')
  await page.getByRole('link', { name: 'Mises à jour' }).first().click()
  await page.getByText('La base de données du panneau ne répond pas').first().waitFor(WAIT)
  expect(await page.locator('.targets tr.row').count()).toBe(0)
})

test('sign-in works without browser storage', async () => {
  const service = await startService(await startDemo())
  const page = await openPage(service.url, { expected: /status of 401/ })
  await page.addInitScript(() => {
    const denied = () => {
      throw new DOMException('denied', 'SecurityError')
    }
    for (const name of ['localStorage', 'sessionStorage', 'BroadcastChannel'])
      Object.defineProperty(globalThis, name, { get: denied })
  })
  await page.reload()
  await signIn(page)
  await page.getByRole('link', { name: 'demo' }).click()
  await page.locator('nav').getByRole('button', { name: 'Se déconnecter' }).click(WAIT)
  await page.getByText('Vous êtes déconnecté.').waitFor(WAIT)
})

test('a service that accepts requests without answering counts as away until it answers', async () => {
  const service = await startService(await startDemo())
  const page = await openPage(service.url, { expected: /net::ERR_/ })
  await signIn(page)
  await page.clock.install()
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route('**/api/**', async (route) => {
    await held
    await route.abort().catch(() => {})
  })
  await page.waitForRequest('**/api/updates/jobs?*', WAIT)

  await page.clock.fastForward(16_000)

  const away = page.getByText(/Nouvel essai toutes les deux secondes/)
  await away.waitFor(WAIT)
  await page.unroute('**/api/**')
  release()
  await away.waitFor({ ...WAIT, state: 'detached' })
})

test('a page is shown whose code arrives between the press and the first picture', async () => {
  const service = await startService(await startDemo())
  const page = await openPage(service.url)
  await page.locator('input[name=username]').waitFor(WAIT)
  const held: Route[] = []
  let isHeld = true
  await page.route('**/*.js', (route) => (isHeld ? void held.push(route) : route.continue()))
  await signIn(page)
  // The shell loads the code of all pages ahead.
  const isAsked = () => held.some((route) => route.request().url().includes('settings'))
  await expect.poll(isAsked, WAIT).toBe(true)
  // No picture, until the code is there.
  await page.evaluate(() => {
    const { requestAnimationFrame: frame, setTimeout: later } = window
    const queue: (() => void)[] = []
    const hold = (work: () => void) => queue.push(work)
    Object.assign(window, {
      requestAnimationFrame: hold,
      setTimeout: hold,
      paint() {
        Object.assign(window, { requestAnimationFrame: frame, setTimeout: later })
        for (const work of queue) work()
      },
    })
  })
  await follow(page, '/settings')
  await page.locator('nav a[href="/settings"][aria-current=page]').waitFor(WAIT)
  isHeld = false
  const all = held.map((route) => route.request().url())
  for (const route of held) await route.continue()
  await page.evaluate(`Promise.all(${JSON.stringify(all)}.map((each) => import(each)))`)
  await page.evaluate('paint()')

  await page.getByRole('heading', { name: 'Réglages' }).waitFor(WAIT)
})
