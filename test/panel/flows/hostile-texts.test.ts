import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page, Route } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { createPanel } from '../../../client/index.ts'
import { ROUTES } from '../../../panel/routes.ts'
import { follow, openPage, signIn } from '../browser.ts'
import { started } from './started.ts'

const LONG = { timeout: 240_000 }
/** A name of a container, a package or a file, as an attacker writes it; it breaks out of an attribute, a tag and a script. */
const MARK = 'hostile-7c1f'
const HOSTILE = `${MARK}"'></script><img src=x onerror="document.body.dataset.hit=1"><svg onload=document.body.dataset.hit=2>`
const LINK = 'javascript:document.body.dataset.hit=3'

/** The fields whose text comes from people, hosts, forges and containers. */
const TEXTS =
  /^(name|title|label|description|message|error|detail|text|output|username|by|made_by|started_by_name|ended_by|user_agent|ip|last_ip|last_address|origin|source|reasons|reason_text|repository_name|fingerprint|author|license|version|new_version|cron_text|note|lines|msg|from|to)$/
const LINKS = /^(href|url|nav_href|repository|homepage|link)$/

/** Puts the hostile text behind each of these texts, as though the service checked nothing. */
function poisoned(value: unknown, key = ''): unknown {
  if (typeof value === 'string') return TEXTS.test(key) ? `${value}${HOSTILE}` : LINKS.test(key) ? LINK : value
  if (Array.isArray(value)) return value.map((each) => poisoned(each, key))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  // The details of an audit entry have names of their own.
  return Object.fromEntries(entries.map(([name, each]) => [name, poisoned(each, key === 'details' ? 'text' : name)]))
}

async function poison(route: Route): Promise<void> {
  const answer = await route.fetch()
  const type = answer.headers()['content-type'] ?? ''
  if (!type.startsWith('application/json') || /\/api\/auth\/(login|refresh|step-up)/.test(route.request().url()))
    return route.fulfill({ response: answer })
  await route.fulfill({ response: answer, json: poisoned(await answer.json()) })
}

/** The traces of a text that has become more than text: an element, a handler, a link that runs; or a script that ran. */
function broken(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found = [...document.querySelectorAll('*')].flatMap((element) => {
      const handlers = element.getAttributeNames().filter((name) => /^on|^hostile/.test(name))
      const runs = ['href', 'src', 'action', 'formaction', 'data'].filter((name) =>
        /^\s*(javascript|data:text|vbscript)/i.test(element.getAttribute(name) ?? ''),
      )
      const isForeign = element.matches('img[src="x"], iframe, object, embed, script:not([src])')
      return [...handlers, ...runs, ...(isForeign ? ['foreign'] : [])].map((why) => `${why}: ${element.outerHTML}`)
    })
    return [...found, ...(document.body.dataset.hit ? [`a script ran: ${document.body.dataset.hit}`] : [])]
  })
}

test('hostile texts from hosts, people and forges stay texts on every page', LONG, async () => {
  const { service } = await started()
  const { api, signIn: enter } = createPanel({ url: service.url, WebSocket: false })
  await enter('demo', 'demo')
  await api('POST /api/auth/tokens', { body: { name: '"><img src=x>', role: 'viewer', targets: 'all' } })
  const settings = { url: 'http://127.0.0.1:9', token: 'x' }
  await api('POST /api/notifications/channels', { body: { name: '"><img src=x>', kind: 'gotify', settings } })
  const body = { name: '"><img src=x>', cron: '30 2 * * *', timezone: 'Europe/Paris', action: 'check' as const }
  const waves = [{ targets: ['host'], pause_minutes: 0 }]
  const { id: schedule } = await api('POST /api/schedules', { body: { ...body, waves } })
  const { run_id: scheduleRun } = await api('POST /api/schedules/{id}/run', { params: { id: schedule } })
  const { id: plan } = await api('POST /api/updates/plans', { body: { target: 'lxc:101' } })
  const { run_id: run, jobs } = await api('POST /api/updates/runs', { body: { plans: [plan] } })
  // Somebody whose name and browser are hostile has been refused.
  await fetch(`${service.url}/api/auth/login`, {
    method: 'POST',
    headers: { 'user-agent': HOSTILE, 'content-type': 'application/json' },
    body: JSON.stringify({ username: HOSTILE, password: 'x' }),
  })
  const page = await openPage(service.url, { expected: /status of (4\d\d|50\d)/ })
  await page.route('**/api/**', poison)
  await signIn(page)
  const found: string[] = []
  const seen: string[] = []
  for (const { page: name, path } of ROUTES) {
    if (name === 'setup' || name === 'signIn' || name === 'enrol' || name === 'oidc') continue
    const at = path
      .replace(':job', String(jobs[0]?.job_id))
      .replace(':run', name === 'scheduleRun' ? scheduleRun : run)
      .replace(':schedule', schedule)
    await follow(page, at)
    await page.locator('h1').waitFor()
    await expect.poll(() => page.locator('.placeholder').count()).toBe(0)
    await page.waitForLoadState('networkidle')
    // Everything that opens in place is opened, and every menu once.
    for (const each of await page.locator('main details:not([open]) > summary, main [aria-expanded=false]').all())
      await each.click({ timeout: 2_000 }).catch(() => {})
    found.push(...(await broken(page)).map((text) => `${at}: ${text}`))
    if ((await page.locator('body').innerText()).includes(MARK)) seen.push(name)
    await page.keyboard.press('Escape')
  }

  expect(found).toEqual([])
  // Pages that show none of the texts would prove nothing.
  expect(seen).toEqual(expect.arrayContaining(['access', 'audit', 'containers', 'dashboard', 'modules', 'updates']))
  expect(seen.length).toBeGreaterThan(8)
})

test('markup that became elements would be seen, and even then no script of it would run', async () => {
  const { service } = await started()
  const page = await openPage(`${service.url}/sign-in`, { expected: /./ })
  await page.locator('input[name=username]').waitFor()
  const markup = `<p title="${HOSTILE}">${HOSTILE}</p><a id="trap" href="${LINK}">here</a>`
  await page.evaluate((html) => document.body.insertAdjacentHTML('beforeend', html), markup)
  await page.locator('#trap').evaluate((link: HTMLElement) => link.click())
  await page.waitForLoadState('networkidle')

  const found = await broken(page)

  for (const sign of [/^onerror: <img/, /^onload: <svg/, /^href: <a/, /^foreign: <img/])
    expect(found).toContainEqual(expect.stringMatching(sign))
  expect(found.filter((text) => text.startsWith('a script ran'))).toEqual([])
})

/** Addresses that somebody sends to a person, who may be signed in or signs in there. */
function hostileAddresses(): string[] {
  const hostile = encodeURIComponent(HOSTILE)
  return [
    `/sign-in?next=//evil.example/&return_to=https:evil.example&url=${encodeURIComponent(LINK)}#//evil.example`,
    `/updates?open=${hostile}&q=${hostile}`,
    '//evil.example/',
    `/oidc?error=${hostile}&error_description=${hostile}&state=${hostile}`,
    `/oidc?code=${hostile}&state=x&iss=${hostile}`,
    `/enrol#${hostile}`,
    `/updates/${hostile}`,
    `/schedules/${hostile}`,
    `/terminal?target=${hostile}`,
    `/audit?action=${hostile}&username=${hostile}`,
    '///evil.example/%2e%2e',
    '/\\evil.example/',
    '/%5Cevil.example/',
    '/https:%2f%2fevil.example',
    '//[',
    '//evil.example/updates',
  ]
}

test('hostile words of a provider, and hostile addresses, stay texts; a sign-in leads nowhere else', LONG, async () => {
  const { service } = await started()
  const visit = async (page: Page, path: string) => {
    await page.goto(service.url + path)
    await page.waitForLoadState('networkidle')
    expect([path, await broken(page), new URL(page.url()).origin]).toEqual([path, [], service.url])
  }
  const signedOut = await openPage(service.url, { expected: /status of 4\d\d|ERR_ABORTED/ })
  for (const path of hostileAddresses()) await visit(signedOut, path)

  // Passwords are limited by address, so not everywhere.
  for (const path of hostileAddresses().slice(0, 3)) {
    const page = await openPage(service.url, { expected: /status of 4\d\d|ERR_ABORTED/ })
    await visit(page, path)
    if ((await page.locator('input[name=username]').count()) === 0) continue
    await signIn(page)
    await page.waitForLoadState('networkidle')
    expect([path, await broken(page), new URL(page.url()).origin]).toEqual([path, [], service.url])
  }

  const signedIn = await openPage(service.url, { expected: /status of 4\d\d|ERR_ABORTED/ })
  await signIn(signedIn)
  for (const path of hostileAddresses()) await visit(signedIn, path)
})

test('the service sends no browser elsewhere, however an address is written', async () => {
  const { service } = await started()
  const { hostname, port } = new URL(service.url)
  const { request } = await import('node:http')
  const locationOf = (path: string) =>
    new Promise<[status: number | undefined, location: string | undefined]>((resolve, reject) => {
      const asked = request({ hostname, port, path, headers: { host: 'evil.example' } }, (answer) => {
        answer.resume()
        resolve([answer.statusCode, answer.headers.location])
      })
      asked.on('error', reject).end()
    })
  const paths = [
    '/api/docs',
    '//evil.example/api/docs',
    '//evil.example',
    '/\\evil.example',
    '/%2f%2fevil.example',
    '/updates/',
  ]
  const told = await Promise.all(paths.map(async (path) => [path, ...(await locationOf(path))] as const))

  for (const [path, status, location] of told)
    expect([path, status, location ?? '/']).toEqual([path, expect.any(Number), expect.stringMatching(/^\/(?![/\\])/)])
})

test(
  'no page of another origin shows the panel in a frame, and no script is written into its pages',
  LONG,
  async () => {
    const { service } = await started()
    const paths = ['/', '/updates', '/sign-in', '/oidc', '/api/docs/', '/api/health', '/no/such/page']
    const attacker = createServer((_, response) => {
      const frames = paths.map((path) => `<iframe src="${service.url}${path}"></iframe>`)
      response.setHeader('content-type', 'text/html').end(`<!doctype html><title>a</title>${frames.join('')}`)
    })
    await new Promise<void>((resolve) => attacker.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void attacker.close())
    const { port } = z.object({ port: z.number() }).parse(attacker.address()) satisfies Pick<AddressInfo, 'port'>
    const page = await openPage(`http://127.0.0.1:${port}`, { expected: /./ })
    await page.waitForLoadState('networkidle')

    const shown = await Promise.all(
      page
        .frames()
        .slice(1)
        .map((frame) => frame.url()),
    )
    expect(shown).toEqual(paths.map(() => 'chrome-error://chromewebdata/'))

    for (const path of ['/sign-in', '/api/docs/']) {
      const own = await openPage(service.url + path, { expected: /./ })
      const ran = await own.evaluate(async () => {
        const script = document.createElement('script')
        script.textContent = 'document.body.dataset.inline = "ran"'
        document.body.append(script)
        const button = document.createElement('button')
        button.setAttribute('onclick', 'document.body.dataset.handler = "ran"')
        document.body.append(button)
        button.click()
        const link = document.createElement('a')
        link.href = 'javascript:void(document.body.dataset.link = "ran")'
        document.body.append(link)
        link.click()
        const foreign = document.createElement('script')
        foreign.src = 'data:text/javascript,document.body.dataset.foreign="ran"'
        document.body.append(foreign)
        await new Promise((resolve) => setTimeout(resolve, 200))
        return Object.keys(document.body.dataset)
      })
      expect([path, ran]).toEqual([path, []])
    }
  },
)
