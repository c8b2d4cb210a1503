import { expect, onTestFinished, test } from 'vitest'
import { startDemo } from '../../runtime/demo.ts'
import { startService } from '../../serve/service.ts'
import { focused, openPage, tabTo, watched } from '../browser.ts'

/** A page of the panel whose findings do not fail the test. */
async function opened() {
  const service = await startService(await startDemo())
  const clean = await openPage(service.url)
  const context = await clean.context().browser()?.newContext()
  onTestFinished(() => context?.close())
  if (!context) throw new Error('there is no browser')
  const findings = await watched(context, service.url, /this is expected/)
  const page = await context.newPage()
  await page.goto(service.url)
  return { page, findings, url: service.url }
}

test('a page without faults has no findings', async () => {
  const { page, findings } = await opened()
  await page.evaluate(() => console.error('this is expected'))

  expect(findings).toEqual([])
})

test.each([
  ['an error on the console', 'error: planted', () => console.error('planted')],
  ['a warning', 'warning: planted', () => console.warn('planted')],
  [
    'an uncaught error',
    'uncaught: Error: planted',
    () =>
      void setTimeout(() => {
        throw new Error('planted')
      }),
  ],
  ['a style in the page’s text', 'policy: style-src-attr', () => document.body.setAttribute('style', 'color: red')],
  [
    'a script of another origin',
    'policy: script-src-elem',
    () =>
      void document.head.append(Object.assign(document.createElement('script'), { src: 'http://127.0.0.1:9/x.js' })),
  ],
  ['a question to another origin', 'policy: connect-src', () => void fetch('http://127.0.0.1:9/').catch(() => {})],
  [
    'a socket to another origin',
    'policy: connect-src',
    () => {
      try {
        new WebSocket('ws://127.0.0.1:9/')
      } catch {}
    },
  ],
])('%s is a finding', async (_, finding, fault) => {
  const { page, findings } = await opened()

  await page.evaluate(fault)

  await expectFound(findings, finding)
})

test('a finding in another page of the same window counts too', async () => {
  const { page, findings, url } = await opened()
  const other = await page.context().newPage()
  await other.goto(`${url}/account`)

  await other.evaluate(() => console.error('planted'))

  await expectFound(findings, 'error: planted')
})

test('an unanswered request is a finding; an aborted one is not', async () => {
  const { page, findings, url } = await opened()
  await page.route('**/planted-*', (route) => route.abort(route.request().url().endsWith('cut') ? 'failed' : 'aborted'))

  await page.evaluate(() => Promise.allSettled([fetch('/planted-given-up'), fetch('/planted-cut')]))

  await expectFound(findings, `failed: net::ERR_FAILED ${url}/planted-cut`)
  expect(findings.filter((each) => each.startsWith('failed'))).toHaveLength(1)
})

test('a request to another origin is a finding even without a policy', async () => {
  const { page, findings, url } = await opened()
  await page.route('**/bare', (route) => route.fulfill({ contentType: 'text/html', body: '<p>No policy</p>' }))
  await page.goto(`${url}/bare`)

  await page.evaluate(() => {
    fetch('http://127.0.0.1:9/asked').catch(() => {})
    new WebSocket('ws://127.0.0.1:9/opened')
  })

  await expectFound(findings, 'foreign: http://127.0.0.1:9/asked')
  await expectFound(findings, 'foreign: ws://127.0.0.1:9/opened')
  await page.goto('http://127.0.0.1:9/gone-to').catch(() => {})
  await expectFound(findings, 'foreign: http://127.0.0.1:9/gone-to')
})

test('the keyboard walk finds an invisible or lost focus', async () => {
  const { page } = await opened()
  await page.locator('form').waitFor()
  await page.evaluate(() => {
    const buttons = ['first', 'second', 'third'].map((textContent) =>
      Object.assign(document.createElement('button'), { textContent }),
    )
    document.body.replaceChildren(...buttons)
    if (buttons[1]) buttons[1].style.outline = 'none'
  })

  await tabTo(page, 'first')
  await expect(tabTo(page, 'third')).rejects.toThrow('unseen BUTTON second')
  expect(await focused(page)).toBe('third')
  await page.evaluate(() => document.activeElement?.remove())
  expect(await focused(page)).toBe('nothing')
  await expect(tabTo(page, 'fourth')).rejects.toThrow('fourth')
})

async function expectFound(findings: readonly string[], finding: string): Promise<void> {
  await expect.poll(() => findings.some((each) => each.startsWith(finding)), { timeout: 10_000 }).toBe(true)
}
