import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { createPanel } from '../../../client/index.ts'
import { startDemoHypervisor } from '../../../demo/hypervisor.ts'
import { LONG_USER, longNames } from '../../../demo/long-names.ts'
import { prepare } from '../../../demo/prepare.ts'
import { CHECK } from '../../../functions/checks/check-script.ts'
import { testForge } from '../../forge.ts'
import { startDemo } from '../../runtime/demo.ts'
import { startService } from '../../serve/service.ts'
import { follow, openPage } from '../browser.ts'
import { armClipping, clippingAt, WIDTHS } from './clipping.ts'

const LONG = 240_000
const LANGUAGES = [
  ['fr', 'fr-FR'],
  ['en', 'en-GB'],
] as const
/** A long user agent, as bots and proxies send it. */
const DEVICE = `Mozilla/5.0 (X11; Linux x86_64) ${'AnUncommonlyLongProductToken/1.0.0.0 '.repeat(8)}Chrome/140.0 Safari/537.36`
/** Chromium's own messages about refused requests and a cut network. */
const EXPECTED = /status of (400|401|404|500|503)|net::ERR_|WebSocket connection to .* failed/
const MODULE = 'a-module-with-the-longest-name-that-the-registry-takes-in-full'

/** An element of each other page that appears only when the page has loaded. */
const LOADED_SELECTORS = {
  '/updates/:job': '.output .line',
  '/containers': '.containers-table .spark',
  '/modules': 'section:last-child .modules > li',
  '/settings': '.settings form',
  '/account': '.list > li:nth-child(2)',
  '/audit': '.audit-entries > li',
  '/logs': '.log-lines li',
  '/terminal': '.list > li',
}

const LOG_LINE = JSON.stringify({
  level: 'warn',
  time: '2026-03-01T12:00:00.000Z',
  msg: 'request failed at the host',
  id: '0f8b1a2c-7cb1-47ba-94c8-2ff0063a49a0',
  path: `/api/${'averylongpathwithoutaplacetobreakit'.repeat(4)}`,
})

const counted = { views: 0, ms: 0 }
afterAll(() => {
  console.info(`${counted.views} views at ${WIDTHS.length} widths in ${Math.round(counted.ms / 1000)} s`)
})

/** A module's repository in a forge, without code. */
function described(id: string, name: string) {
  const description = `${name}: ${'what it does, told at some length. '.repeat(4)}`
  const json = JSON.stringify({ id, name, version: '2025.10.31-rc.1+build.20251031', description, has_backend: false })
  return { name: id, branches: { main: { files: { 'module.json': json } } } }
}

/** A panel whose host has names of the maximum length and an upgrade in its history, and a page before sign-in. */
async function world(locale: string) {
  const names = longNames()
  const demo = await startDemo({ ...names, lineMs: 1 })
  const hypervisor = await startDemoHypervisor(names.containers)
  onTestFinished(() => hypervisor.close())
  const forge = await testForge()
  forge.put(described(MODULE, 'LastenausgleichsgesetzdurchführungsverordnungUndNochEinWeniges'))
  forge.put(described('offered', 'Offered'.repeat(9)))
  const service = await startService(demo, { PANEL_FORGE_URL: forge.url, PANEL_FORGE_ORG: forge.org })
  await prepare(service.url, hypervisor)
  const panel = createPanel({ url: service.url, WebSocket: false })
  await panel.signIn(LONG_USER, 'demo')
  await panel.api('POST /api/registry/modules/{id}/install', { params: { id: MODULE } })
  const statusOf = async (id: string) => (await panel.api('GET /api/updates/jobs/{id}', { params: { id } })).status
  const { job_id: job } = await panel.api('POST /api/updates/run', { body: { target: 'lxc:101' } })
  await expect.poll(() => statusOf(job)).toBe('success')
  const { job_id: check } = await panel.api('POST /api/updates/checks', { body: { target: 'all' } })
  await expect.poll(() => statusOf(check)).toBe('success')
  const page = await openPage(service.url, { locale, userAgent: DEVICE, reducedMotion: 'reduce', expected: EXPECTED })
  return { demo, service, panel, page, job }
}

/** Checks the current page at every width, once nothing is loading. */
async function look(page: Page, name: string, found: string[], options = {}): Promise<void> {
  await expect.poll(() => page.locator('.placeholder').count()).toBe(0)
  const began = performance.now()
  for (const fault of await clippingAt(page, WIDTHS, options)) found.push(`${name}, ${fault}`)
  counted.views += 1
  counted.ms += performance.now() - began
}

async function signedIn(page: Page): Promise<void> {
  await page.locator('input[name=username]').fill(LONG_USER)
  await page.locator('input[name=password]').fill('demo')
  await page.keyboard.press('Enter')
  await page.locator('.shell').waitFor()
}

async function goTo(page: Page, path: string): Promise<void> {
  await follow(page, path)
  await expect.poll(() => new URL(page.url()).pathname + new URL(page.url()).search).toBe(path)
  await page.locator('h1').waitFor()
}

test.each(LANGUAGES)('%s: no page is clipped or blocked at any width', { timeout: LONG }, async (lang, locale) => {
  const { page, job } = await world(locale)
  await armClipping(page)
  const found: string[] = []
  await look(page, 'sign-in', found)
  await page.locator('input[name=username]').fill(LONG_USER)
  await page.locator('input[name=password]').fill('wrong')
  await page.keyboard.press('Enter')
  await page.locator('.problem').waitFor()
  await look(page, 'a sign-in that is refused', found)
  await signedIn(page)
  await expect.poll(() => page.locator('html').getAttribute('lang')).toBe(lang)

  await page.locator('.cards tbody tr').first().waitFor()
  await look(page, '/', found)
  await goTo(page, '/updates')
  await page.locator('tr.row:has(.c-sec .tag) .opener').first().click()
  await page.locator('.names > li').first().waitFor()
  await look(page, '/updates', found)
  await page.getByRole('tab').nth(1).click()
  await page.locator('.history td').first().waitFor()
  await look(page, '/updates, the runs', found)
  await page.route('**/api/settings/logs', (route) => route.fulfill({ json: { lines: [LOG_LINE] } }))
  for (const [path, selector] of Object.entries(LOADED_SELECTORS)) {
    await goTo(page, path.replace(':job', job))
    await page.locator(selector).first().waitFor()
    await look(page, path, found)
  }

  expect(found).toEqual([])
})

test.each(LANGUAGES)(
  '%s: no open dialog, running job or error is clipped or blocked at any width',
  { timeout: LONG },
  async (lang, locale) => {
    const { demo, panel, page } = await world(locale)
    await armClipping(page)
    await signedIn(page)
    await expect.poll(() => page.locator('html').getAttribute('lang')).toBe(lang)
    const found: string[] = []
    const closed = async () => {
      await page.keyboard.press('Escape')
      await expect.poll(() => page.locator('dialog').count()).toBe(0)
    }

    await page.locator('.head button').click()
    await look(page, 'the dashboard while it is arranged', found)
    await page.keyboard.press('?')
    await page.locator('dialog.key-map').waitFor()
    await look(page, 'the keys', found)
    await closed()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('e')
    await page.locator('[role=option]').first().waitFor()
    await look(page, 'the palette', found)
    await closed()

    await goTo(page, '/containers')
    const menu = page.locator('.container-actions [popovertarget]').first()
    await menu.click()
    await look(page, 'an open menu', found, { inFrames: true })
    await page.locator('.menu:popover-open button').last().click()
    await page.locator('dialog.question').waitFor()
    await look(page, 'a question about a container', found)
    await page.locator('dialog.question [type=submit]').click()
    await page.locator('.task').waitFor()
    await look(page, 'a container and what is done with it', found)

    await goTo(page, '/modules')
    await page.locator('.modules [popovertarget]').first().click()
    await page.locator('.menu:popover-open button').last().click()
    await page.locator('dialog.question').waitFor()
    await look(page, 'a module to be removed', found)
    await closed()

    // The upgrade must run until all widths are checked.
    demo.lineMs = 60_000
    const { job_id: job } = await panel.api('POST /api/updates/run', { body: { target: 'lxc:102' } })
    await goTo(page, '/updates')
    await page.locator('tr.running .c-act button').click()
    await page.locator('.output .line').first().waitFor()
    await look(page, 'an upgrade under way, among others', found)
    demo.override = ([name, , text]) => (name === 'sh' && text === CHECK ? new Promise(() => {}) : undefined)
    await panel.api('POST /api/updates/checks', { body: { target: 'lxc:101' } })
    await page.locator('.choice button').nth(1).click()
    await page.locator('.outputs > .cut').waitFor()
    await look(page, 'a check under way, beside an upgrade', found)
    await page
      .getByRole('button', { name: /^(Examiner la mise|Review the)/ })
      .first()
      .click()
    await page.locator('dialog.drawer .chg').first().waitFor()
    await look(page, 'the plan of an upgrade', found)
    await closed()
    await page.locator('.head .primary').click()
    await page.locator('dialog.drawer .many li').first().waitFor()
    await look(page, 'the plans of all upgrades', found)
    await closed()
    await goTo(page, `/updates/${job}`)
    await page.locator('.output .line').first().waitFor()
    await page.keyboard.press('Control+f')
    await look(page, 'an upgrade under way, and a search in it', found)

    await follow(page, '/terminal?target=lxc:102')
    await page.locator('.shell-tabs button').first().waitFor()
    await page.locator('.picker [type=submit]').click()
    await expect.poll(() => page.locator('.shell-tabs button').count()).toBe(2)
    await look(page, 'two terminals', found)

    await page.route('**/api/audit?*', (route) =>
      route.fulfill({
        status: 500,
        json: { error: 'x', code: 'internal' },
        headers: { 'x-request-id': 'r'.repeat(36) },
      }),
    )
    await goTo(page, '/audit')
    await page.locator('.problem').waitFor()
    await look(page, 'what could not be loaded', found)
    await goTo(page, '/updates/none')
    await page.locator('.problem').waitFor()
    await look(page, 'an upgrade that does not exist', found)

    await page.setViewportSize({ width: 320, height: 900 })
    await page.locator('.side > .more').click()
    await page.locator('dialog.sheet').waitFor()
    await look(page, 'the menu of a phone', found)
    await closed()
    await page.context().setOffline(true)
    await goTo(page, '/account')
    await page.locator('.away p').waitFor()
    for (const fault of await clippingAt(page, WIDTHS)) found.push(`a service that is away, ${fault}`)

    expect(found).toEqual([])
  },
)

test.each(LANGUAGES)('%s: setup is not clipped or blocked at any width', { timeout: LONG }, async (_, locale) => {
  const demo = await startDemo(longNames())
  const service = await startService(demo, { PANEL_SSH_HOST: '', PANEL_SSH_USERNAME: '', PANEL_SSH_PASSWORD: '' })
  const token = (await readFile(join(service.folder, 'setup-token'), 'utf8')).trim()
  const page = await openPage(`${service.url}/#token=${token}`, { locale, reducedMotion: 'reduce' })
  await armClipping(page)
  const found: string[] = []
  const submit = page.locator('form [type=submit]')
  await submit.click()
  await page.locator('.wrong').first().waitFor()
  await look(page, 'the wizard with what is missing', found)
  await page.locator('input[name=ssh_host]').fill(`127.0.0.1:${demo.port}`)
  await page.locator('input[name=ssh_username]').fill(LONG_USER)
  await page.locator('input[name=ssh_password]').fill('demo')
  await submit.click()
  await page.locator('.fingerprint').waitFor()
  await page.locator('summary').click()
  await look(page, 'what the wizard has found', found)

  expect(found).toEqual([])
})

// --- The check finds planted faults.

test('the check finds clipped and blocked elements, and nothing else', { timeout: LONG }, async () => {
  const demo = await startDemo()
  const service = await startService(demo)
  const page = await openPage(service.url)
  await page.locator('form').waitFor()
  await armClipping(page)
  const planted = async (html: string) => {
    await page.evaluate((html) => {
      document.body.innerHTML = html
    }, html)
    // The policy refuses style attributes in HTML, but not styles that a script sets.
    await page.evaluate(() => {
      for (const each of document.querySelectorAll<HTMLElement>('[data-css]'))
        each.style.cssText = each.dataset.css ?? ''
    })
    return (await clippingAt(page, [400])).map((fault) => fault.replace(/^400 px: (\w+): .*? > (\S+).*$/, '$1 $2'))
  }

  expect(
    await planted('<main><p data-css="width: 60px; white-space: nowrap; overflow: hidden">more than that</p></main>'),
  ).toEqual(['clipped p'])
  expect(await planted('<main><p data-css="width: 50px; overflow-wrap: anywhere">incomprehensible</p></main>')).toEqual(
    ['word p'],
  )
  expect(
    await planted(
      '<main><span class="status ok"><span class="word" data-css="width: 20px; overflow-wrap: anywhere">done</span></span></main>',
    ),
  ).toEqual(['word span.word'])
  expect(
    await planted(
      '<main><div class="scroll"><div data-css="width: 600px"><button class="button" data-css="margin-left: 500px">Stop</button></div></div></main>',
    ),
  ).toEqual(['scrolls div.scroll', 'off button.button'])
  expect(await planted('<main><p>one line</p><p data-css="margin-top: -20px">another line</p></main>')).toEqual([
    'overlap p',
  ])
  expect(await planted('<main><p class="cut" data-css="width: 80px">a name without a title</p></main>')).toEqual([
    'ellipsis p.cut',
  ])
  expect(await planted('<main><p class="cut" title="all of it" data-css="width: 30px">a name</p></main>')).toEqual([
    'ellipsis p.cut',
  ])
  expect(await planted('<main data-css="width: 700px"><p>short</p></main>')).toEqual(['page p'])

  const well = 'customer-portal-staging-environment-with-a-rather-long-name-0001'
  expect(
    await planted(`<main><p>${well}</p><p class="cut" title="${well}" data-css="width: 120px">${well}</p></main>`),
  ).toEqual([])
})
