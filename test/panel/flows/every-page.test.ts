import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { createPanel } from '../../../client/index.ts'
import { FOR_ADMINS } from '../../../panel/navigation.ts'
import { ROUTES } from '../../../panel/routes.ts'
import { startDemo } from '../../runtime/demo.ts'
import { controlledOutput } from '../../runtime/upgrade-output.ts'
import { startService } from '../../serve/service.ts'
import { isLong } from '../../rounds.ts'
import { follow, openPage, signIn } from '../browser.ts'
import { environmentWith } from './with-modules.ts'
import { findingsOf, readable, smallTargets, stores, withToken } from './page-findings.ts'

const WIDTHS = [320, 390, 820, 1440]
/** High enough for the whole page, because a control scrolled under a phone's bar would count as too small. */
const TALL = 4_000
const LONG = 240_000
/** Languages and themes: one of each in the gate, all of them in the long run. */
const LOOKS = [
  ['fr', 'dark'],
  ['fr', 'light'],
  ['en', 'dark'],
  ['en', 'light'],
].slice(0, isLong ? 4 : 1)

/** The ids that all pages need so that they have something to show. */
interface Made {
  module: string
  job: string
  run: string
  schedule: string
  scheduleRun: string
}

/** The addresses of all pages. */
function addresses({ job, module, run, schedule, scheduleRun }: Made): string[] {
  return ROUTES.filter(({ page }) => page !== 'setup' && page !== 'signIn').map(({ page, path }) =>
    path
      .replace(':job', job)
      .replace(':module', module)
      .replace(':run', page === 'scheduleRun' ? scheduleRun : run)
      .replace(':schedule', schedule),
  )
}

/** Makes a channel, and a schedule that checks the host each night, with a run that somebody has started. */
async function scheduled(url: string) {
  const { api, signIn } = createPanel({ url, WebSocket: false })
  await signIn('demo', 'demo')
  const settings = { url: 'http://127.0.0.1:9', token: 'x' }
  await api('POST /api/notifications/channels', { body: { name: 'Phone', kind: 'gotify', settings } })
  const waves = [{ targets: ['host'], pause_minutes: 0 }]
  const { id } = await api('POST /api/schedules', {
    body: { name: 'Every night', cron: '30 2 * * *', timezone: 'Europe/Paris', action: 'check', waves },
  })
  const { run_id: scheduleRun } = await api('POST /api/schedules/{id}/run', { params: { id } })
  return { schedule: id, scheduleRun }
}

/** A signed-in user of a panel whose host has run an upgrade. */
async function world(options: Parameters<typeof openPage>[1] = {}) {
  const demo = await startDemo()
  demo.lineMs = 1
  const module = 'hello'
  const code = await readFile(new URL('../../../examples/module-hello/backend.mjs', import.meta.url), 'utf8')
  const service = await startService(demo, await environmentWith({ [module]: { code } }))
  const page = await openPage(service.url, options)
  await signIn(page)
  const { id: plan } = await (await service.request('POST', '/api/updates/plans', { target: 'lxc:101' })).json()
  const answer = await service.request('POST', '/api/updates/runs', { plans: [plan] })
  const { run_id: run, jobs } = await answer.json()
  const job = jobs[0].job_id
  await expect
    .poll(async () => (await (await service.request('GET', `/api/updates/jobs/${job}`)).json()).status)
    .toBe('success')
  return {
    page,
    demo,
    service,
    made: { job: String(job), module, run: String(run), ...(await scheduled(service.url)) },
  }
}

/** Opens a page and waits until nothing is loading. */
async function goTo(page: Page, path: string): Promise<void> {
  await follow(page, path)
  await page.locator('h1').waitFor()
  await page.waitForLoadState('networkidle')
  await expect.poll(() => page.locator('.placeholder').count()).toBe(0)
}

const counted = { pages: 0 }
afterAll(() => {
  console.info(`${counted.pages} views without a finding`)
})

test.each(LOOKS)(
  '%s, %s: every page at every width has no axe violation, no horizontal scroll and no small target',
  { timeout: LONG },
  async (lang, theme) => {
    const { page, made } = await world({ reducedMotion: 'reduce' })
    await goTo(page, '/account')
    await page.locator(`label:has([value=${theme}])`).click()
    await page.locator(`label:has([value=${lang}])`).click()
    await page.waitForLoadState('networkidle')
    await page.reload()
    await page.locator('.shell').waitFor()
    await expect.poll(() => page.locator('html').getAttribute('data-theme')).toBe(theme)
    expect(await page.locator('html').getAttribute('lang')).toBe(lang)

    const found: string[] = []
    for (const path of addresses(made)) {
      await goTo(page, path)
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: TALL })
        const findings = [...(await findingsOf(page)), ...(await smallTargets(page, 24))]
        found.push(...findings.map((finding) => `${path} at ${width}: ${finding}`))
        counted.pages += 1
      }
    }

    expect(found).toEqual([])
  },
)

test('sign-in and setup have no axe violation, no horizontal scroll and no small target', {
  timeout: LONG,
}, async () => {
  const demo = await startDemo()
  const installed = await startService(demo)
  const empty = await startService(demo, { PANEL_SSH_HOST: '' })
  const found: string[] = []
  for (const url of [installed.url, empty.url])
    for (const colorScheme of isLong ? (['dark', 'light'] as const) : (['dark'] as const))
      for (const locale of isLong ? ['fr-FR', 'en-GB'] : ['fr-FR']) {
        const page = await openPage(url, { colorScheme, locale })
        await page.locator('form').waitFor()
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: TALL })
          const findings = [...(await findingsOf(page)), ...(await smallTargets(page, 24))]
          found.push(...findings.map((finding) => `${page.url()} at ${width}: ${finding}`))
        }
      }
  expect(found).toEqual([])
})

test('touch targets on a phone are large enough', { timeout: LONG }, async () => {
  const touch = { hasTouch: true, isMobile: true, viewport: { width: 390, height: 844 } }
  const { page, demo, service, made } = await world(touch)
  const found: string[] = []
  controlledOutput(demo).print('begun\n')
  expect((await service.request('POST', '/api/updates/run', { target: 'lxc:101' })).status).toBe(202)
  await goTo(page, '/containers')
  await page.getByRole('row').getByRole('link', { name: 'Mise à jour' }).waitFor()
  for (const path of addresses(made)) {
    await goTo(page, path)
    found.push(...(await smallTargets(page, 44)).map((finding) => `${path}: ${finding}`))
  }
  expect(found).toEqual([])
})

test('viewers see no actions of operators and administrators', {
  timeout: LONG,
}, async () => {
  const demo = await startDemo()
  const service = await startService(demo, { PANEL_VIEWER_GROUPS: 'guest' })
  const page = await openPage(service.url)
  await signIn(page, 'guest')

  const links = await page.locator('nav a').evaluateAll((all) => all.map((each) => each.getAttribute('href')))
  for (const { page: name, path } of ROUTES) if (FOR_ADMINS.has(name)) expect(links).not.toContain(path)
  await goTo(page, '/containers')
  await page.getByText('old-backup').waitFor()
  expect(await page.getByText('Démarrer').count()).toBe(0)
  await goTo(page, '/settings')
  await page.getByText('Cette page est réservée aux administrateurs').waitFor()
})

test('every page leads to the end of the session', { timeout: LONG }, async () => {
  const { page, made } = await world()
  const out = page.locator('nav').getByRole('button', { name: 'Se déconnecter' })
  // The page of an enrolment link belongs to whoever has the link, signed in or not.
  for (const path of addresses(made).filter((each) => each !== '/enrol')) {
    await page.setViewportSize({ width: 1440, height: 900 })
    await goTo(page, path)
    await out.click({ trial: true })
    await page.setViewportSize({ width: 390, height: 844 })
    await page.locator('nav .more').click()
    await page.locator('dialog').getByRole('button', { name: 'Se déconnecter' }).click({ trial: true })
    await page.keyboard.press('Escape')
  }
  await page.setViewportSize({ width: 1440, height: 900 })
  await out.click()
  await page.locator('input[name=password]').waitFor()
})

test('no token is in storage or in an address', { timeout: LONG }, async () => {
  const { page, made } = await world()
  const asked: string[] = []
  const tokens = new Set<string>()
  page.on('request', (request) => asked.push(request.url()))
  page.on('response', async (response) => {
    if (response.url().endsWith('/api/auth/refresh')) tokens.add((await response.json()).access_token)
  })
  await page.reload()
  for (const path of addresses(made)) {
    await goTo(page, path)
    expect(withToken(await readable(page), [...tokens]), path).toEqual([])
  }

  for (const { value } of await page.context().cookies()) tokens.add(value)
  expect(tokens.size).toBeGreaterThanOrEqual(2)
  expect(withToken(await readable(page), [...tokens])).toEqual([])
  expect(await stores(page)).toEqual([])
  expect(asked.length).toBeGreaterThan(20)
  expect(withToken(Object.fromEntries(asked.map((address) => [address, address])), [...tokens])).toEqual([])
})

// --- The checks find planted faults.

test('the check finds faults in a page', { timeout: LONG }, async () => {
  const { page } = await world()
  await page.setViewportSize({ width: 320, height: 844 })
  expect(await findingsOf(page)).toEqual([])
  expect(await smallTargets(page, 24)).toEqual([])
  await page.evaluate(() => {
    const wide = document.createElement('div')
    wide.style.width = '2000px'
    const faint = document.createElement('p')
    faint.textContent = 'faint'
    faint.style.color = '#888'
    faint.style.backgroundColor = '#777'
    const tiny = document.createElement('button')
    tiny.style.cssText = 'width: 23px; height: 23px; min-height: 0; padding: 0'
    wide.append(tiny, faint)
    document.querySelector('main')?.append(wide)
  })

  const found = (await findingsOf(page)).join('\n')
  expect(found).toContain('scrolls sideways')
  expect(found).toContain('button-name')
  expect(found).toContain('color-contrast')
  expect(await smallTargets(page, 24)).toEqual([expect.stringMatching(/^23 × 23/)])
  expect(await smallTargets(page, 44)).not.toEqual([])
})

test('the check finds a status shown by colour alone', { timeout: LONG }, async () => {
  const { page } = await world()
  await page.evaluate(() => {
    const add = (kind: string, inside: string) => {
      const status = Object.assign(document.createElement('span'), { className: `status ${kind}`, innerHTML: inside })
      document.querySelector('main')?.append(status)
    }
    const svg = (shape: string) => `<svg viewBox="0 0 16 16">${shape}</svg>`
    add('no-shape', 'word')
    add('empty-shape', `${svg('')}word`)
    add('no-word', svg('<path d="M0 0 1 1"/>'))
    add('like-it', `${svg('<path d="M0 0 1 1"/>')}word`)
  })

  const found = (await findingsOf(page)).filter((each) => each.startsWith('status'))
  expect(found.map((each) => each.replace(/(: <span class="status \S+").*/, '$1'))).toEqual([
    'status without a shape: <span class="status no-shape"',
    'status without a shape: <span class="status empty-shape"',
    'status without a word: <span class="status no-word"',
    'status with the shape of no-word: <span class="status like-it"',
  ])
})

test('the check finds a leaked token', { timeout: LONG }, async () => {
  const { page } = await world()
  const token = 'one-that-was-handed-out'
  const where = async () => withToken(await readable(page), [token])
  expect(await where()).toEqual([])
  await page.evaluate((token) => {
    localStorage.setItem('planted', token)
    sessionStorage.setItem('planted', token)
    // biome-ignore lint/suspicious/noDocumentCookie: a planted fault
    document.cookie = `planted=${token}`
    history.replaceState({ token }, '', `?planted=${token}`)
    window.name = token
    document.body.dataset.planted = token
    indexedDB.open('planted')
  }, token)

  expect(await where()).toEqual(['localStorage', 'sessionStorage', 'cookie', 'address', 'history', 'window', 'page'])
  await expect.poll(() => stores(page)).toEqual(['planted'])
  expect(withToken({ jwt: 'x eyJhbGciOiJSUzI1NiJ9 y', query: '/ws?token=x', other: '/ws?tokens' }, [])).toEqual([
    'jwt',
    'query',
  ])
})
