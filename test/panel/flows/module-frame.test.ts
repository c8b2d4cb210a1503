import { expect, test } from 'vitest'
import * as z from 'zod'
import { follow, openPage, signIn } from '../browser.ts'
import { openFirefox, shown } from '../firefox.ts'
import { ASKING, HOSTILE, isRefused, OTHER, PROBE } from './hostile-frame.ts'
import { ageProofs } from './proofs.ts'
import { withModules } from './with-modules.ts'

const Told = z.record(z.string(), z.string())
/** The messages of Chromium about the refusals that the test brings about. */
const REFUSALS =
  /Content Security Policy|sandbox|Sandbox|connect-src|script-src|form-action|Unsafe attempt|Blocked|violates|ERR_BLOCKED|csp|eval/

function expectRefused(told: Readonly<Record<string, string>>): void {
  for (const name of [
    'cookie',
    'set cookie',
    'local storage',
    'session storage',
    'database',
    'service worker',
    'document of the panel',
    'function of the panel',
    'address of the panel',
    'navigation of the panel',
    'fetch',
    'fetch with the cookie',
    'foreign fetch',
    'request',
    'eval',
  ])
    expect([name, told[name], isRefused(told[name])]).toEqual([name, told[name], true])
  // Firefox throws where Chromium opens nothing.
  expect(['none', 'InvalidAccessError']).toContain(told.window)
  expect(told).toMatchObject({
    origin: 'null',
    'own call': JSON.stringify({ user: 'demo' }),
    'call of another module': 'notDeclared',
    removal: 'notDeclared',
    disabling: 'notDeclared',
    'disabling by an id': 'notDeclared',
    'another method': 'notDeclared',
    'a path that leads up': 'notDeclared',
    'a parameter that leads up': 'invalid_request',
    'a parameter with a slash': JSON.stringify({ id: '../../other/x' }),
    'a parameter of the panel': 'notDeclared',
    me: 'notDeclared',
    'a long message': 'invalid',
    'a message with a loop': 'invalid',
    'a message with bytes': 'invalid',
    'a long answer': 'tooLarge',
    'too many calls': 'true',
  })
}

test('in Chromium, a sandboxed page reads nothing of the panel, and calls what its own module declares alone', async () => {
  const { service } = await withModules({ probe: { code: PROBE, files: HOSTILE }, other: { code: OTHER } })
  const page = await openPage(service.url, { expected: REFUSALS })
  await signIn(page)
  await follow(page, '/modules/probe')
  const frame = page.frameLocator('iframe')
  await frame.locator('#told:not(:empty)').waitFor({ state: 'attached' })
  const told = Told.parse(JSON.parse((await frame.locator('#told').textContent()) ?? ''))

  expectRefused(told)
  expect(new URL(page.url()).pathname).toBe('/modules/probe')
  expect(page.context().pages()).toHaveLength(1)
  expect(await (await service.request('GET', '/api/modules/other/calls')).json()).toBe(0)
  // The user is still signed in: nothing has reached the cookie.
  await page.reload()
  await page.locator('.shell').waitFor()
})

const FIREFOX_STARTS = 120_000

test('in Firefox, a sandboxed page reads nothing of the panel, and calls what its own module declares alone', {
  timeout: FIREFOX_STARTS,
}, async () => {
  const { service } = await withModules({ probe: { code: PROBE, files: HOSTILE }, other: { code: OTHER } })
  const firefox = await openFirefox(service.url)
  await firefox.evaluate(shown('input[name=username]'))
  await firefox.evaluate(`for (const name of ['username', 'password']) {
    const field = document.querySelector('input[name=' + name + ']')
    field.value = 'demo'
    field.dispatchEvent(new Event('input', { bubbles: true }))
  }`)
  await firefox.evaluate("document.querySelector('form').requestSubmit()")
  await firefox.evaluate(shown('.shell'))
  await firefox.goto(`${service.url}/modules/probe`)
  await firefox.evaluate(shown('iframe'))
  await firefox.evaluateInFrame(shown('#told:not(:empty)'))
  const told = await firefox.evaluateInFrame("document.querySelector('#told').textContent")

  expectRefused(Told.parse(JSON.parse(String(told))))
  expect(await firefox.evaluate('location.pathname')).toBe('/modules/probe')
  expect((await firefox.tabs()).filter((url) => url.startsWith(service.url))).toEqual([`${service.url}/modules/probe`])
  expect(await (await service.request('GET', '/api/modules/other/calls')).json()).toBe(0)
  await firefox.goto(`${service.url}/modules/probe`)
  await firefox.evaluate(shown('.shell'))
})

test('a frame makes the panel ask for a proof after a click alone, and no more once the user has declined', async () => {
  const { service } = await withModules({ probe: { code: PROBE, files: ASKING } })
  const page = await openPage(service.url, { expected: /\b403\b/ })
  const told = () => page.waitForEvent('console', (message) => message.text() === 'told step_up_required')
  await signIn(page)
  await ageProofs(service.folder)
  // A new document has had no click yet, and takes a new token. Playwright's own evaluations would count as clicks.
  const atStart = told()
  await page.goto(`${service.url}/modules/probe`)
  await atStart
  expect(await page.locator('dialog[open]').count()).toBe(0)

  const button = page.frameLocator('iframe').locator('button')
  await button.click()
  await page.locator('dialog[open]').waitFor()
  const declined = told()
  await page.keyboard.press('Escape')
  await declined

  const again = told()
  await button.click()
  await again
  expect(await page.locator('dialog[open]').count()).toBe(0)
})

test('messages of any window but the frame are not heard', async () => {
  const { service } = await withModules({ probe: { code: PROBE, files: HOSTILE } })
  const page = await openPage(service.url, { expected: REFUSALS })
  await signIn(page)
  await follow(page, '/modules/probe')
  await page.frameLocator('iframe').locator('#told:not(:empty)').waitFor({ state: 'attached' })
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))

  const heard = await page.evaluate(async () => {
    const messages: unknown[] = []
    addEventListener('message', ({ data }) => messages.push(data))
    postMessage({ panel: 1, id: 'forged', call: 'GET /api/modules/probe/list' }, '*')
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
    return messages
  })
  expect(heard).toEqual([{ panel: 1, id: 'forged', call: 'GET /api/modules/probe/list' }])
  expect(asked).not.toContain('/api/modules/probe/list')
})

test('a tab that opens the address of the frame is a sandbox, too', async () => {
  const { service } = await withModules({ probe: { files: { 'web/index.html': '<p id="told">Told</p>' } } })
  const page = await openPage(service.url, { expected: REFUSALS })
  await signIn(page)
  await follow(page, '/modules/probe')
  const address = await page.locator('iframe').getAttribute('src')

  const response = await page.goto(`${service.url}${address}`)
  expect(response?.status()).toBe(200)
  await page.locator('#told').waitFor({ state: 'attached' })
  expect(await page.evaluate(() => self.origin)).toBe('null')
  expect(
    await page.evaluate(() => {
      try {
        return document.cookie
      } catch (error) {
        return error instanceof Error ? error.name : ''
      }
    }),
  ).toBe('SecurityError')
})
