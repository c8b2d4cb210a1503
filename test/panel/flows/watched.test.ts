import { expect, onTestFinished, test } from 'vitest'
import { startDemo } from '../../runtime/demo.ts'
import { startService } from '../../runtime/service.ts'
import { openPage, watched } from '../browser.ts'

/** A page of the panel whose findings do not fail the test. */
async function opened() {
  const service = await startService(await startDemo())
  const clean = await openPage(service.url)
  const context = await clean.context().browser()?.newContext()
  onTestFinished(() => context?.close())
  const page = await context?.newPage()
  if (!page) throw new Error('there is no page')
  const findings = await watched(page, service.url, /this is expected/)
  await page.goto(service.url)
  return { page, findings }
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

  await expect.poll(() => findings.some((each) => each.startsWith(finding)), { timeout: 10_000 }).toBe(true)
})

test('what leaves for another origin where no policy holds it back is a finding too', async () => {
  const { page, findings } = await opened()

  await page.goto('http://127.0.0.1:9/').catch(() => {})

  expect(findings).toContain('foreign: http://127.0.0.1:9/')
})
