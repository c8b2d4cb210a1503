import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Locator,
  type Page,
} from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { CHROMIUM } from '../chromium.ts'

/** There is no internet, and none is needed. */
const ARGS = ['--no-sandbox', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost']

/** One for all files of a worker; it ends with the worker, whose pipe it listens to. */
let browser: Promise<Browser> | undefined

interface PageOptions extends BrowserContextOptions {
  /** Messages of the console that the test brings about: a network that is cut, say. */
  expected?: RegExp
}

/** A window of its own in a Chromium that the tests share. Its test fails with what is wrong in it, seen or not. */
export async function openPage(url: string, { expected, ...options }: PageOptions = {}): Promise<Page> {
  browser ??= chromium.launch({ executablePath: CHROMIUM, args: ARGS })
  const viewport = { width: 1280, height: 800 }
  const context = await (await browser).newContext({ locale: 'fr-FR', viewport, ...options })
  const findings = await watched(context, url, expected)
  const page = await context.newPage()
  onTestFinished(async () => {
    // A route that still waits for its answer would fail once its window is gone.
    for (const owner of [context, ...context.pages()]) await owner.unrouteAll({ behavior: 'ignoreErrors' })
    await context.close()
    expect(findings).toEqual([])
  })
  await page.goto(url)
  return page
}

/**
 * Collects the faults of all pages of a window: errors, warnings, failed or refused requests, and requests to another
 * origin.
 */
export async function watched(context: BrowserContext, url: string, expected?: RegExp): Promise<string[]> {
  const findings: string[] = []
  const note = (kind: string, text: string) => {
    if (!expected?.test(text)) findings.push(`${kind}: ${text}`)
  }
  const noteForeign = (asked: string) => {
    if (!asked.startsWith('blob:') && new URL(asked).host !== new URL(url).host) note('foreign', asked)
  }
  context.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      note(message.type(), `${message.text()} ${message.location().url}`)
  })
  context.on('weberror', (thrown) => {
    const { stack, message } = thrown.error()
    note('uncaught', stack ?? message)
  })
  context.on('request', (request) => noteForeign(request.url()))
  context.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText ?? ''
    // A browser cancels requests when somebody leaves a page or signs out.
    if (reason !== 'net::ERR_ABORTED') note('failed', `${reason} ${request.url()}`)
  })
  context.on('page', (page) => page.on('websocket', (socket) => noteForeign(socket.url())))
  await context.exposeFunction('violated', (text: string) => note('policy', text))
  await context.addInitScript(() => {
    addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
      Reflect.get(globalThis, 'violated')(`${violatedDirective} ${blockedURI}`)
    })
  })
  return findings
}

/** By a link of the panel's own, as people go there. */
export async function follow(page: Page, path: string): Promise<void> {
  await page.evaluate((to) => {
    const link = document.createElement('a')
    link.href = to
    document.body.append(link)
    link.click()
    link.remove()
  }, path)
}

/** Signs in by the form that is shown; `guest` is no administrator. */
export async function signIn(page: Page, name: 'demo' | 'guest' = 'demo'): Promise<void> {
  await page.locator('input[name=username]').fill(name)
  await page.locator('input[name=password]').fill(name)
  await page.keyboard.press('Enter')
  await page.locator('.shell').waitFor()
}

/**
 * Presses a button, and tells what has the focus before the next picture: a later focus would come after the next key
 * of somebody who types quickly, or take the focus from where they went.
 */
export function focusedAtOnce(button: Locator): Promise<string> {
  return button.evaluate(async (pressed: HTMLElement) => {
    pressed.focus()
    pressed.click()
    for (let n = 0; n < 1000 && document.activeElement === pressed; n += 1) await null
    const element = document.activeElement
    if (!element || element === document.body) return 'nothing'
    return (element.getAttribute('aria-label') ?? element.textContent ?? '').trim()
  })
}

/** Tells what has the focus once something new is shown, before the next picture; the answer comes by the function that it returns. */
export async function focusedWithNew(page: Page, selector: string): Promise<() => Promise<string | undefined>> {
  const seen = await page.evaluateHandle((wanted) => {
    const told: { name?: string } = {}
    const observer = new MutationObserver(() => {
      if (document.querySelector(wanted) === null) return
      observer.disconnect()
      told.name = (document.activeElement?.textContent ?? '').trim()
    })
    observer.observe(document.body, { childList: true, subtree: true })
    return told
  }, selector)
  return () => seen.evaluate(({ name }) => name)
}

/** The name of what has the focus; `nothing` when nothing has, and `unseen …` when nobody sees it. */
export function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const element = document.activeElement
    if (!element || element === document.body) return 'nothing'
    const name = (element.getAttribute('aria-label') ?? element.textContent ?? '').trim()
    const { outlineStyle, outlineWidth } = getComputedStyle(element)
    const { width, height } = element.getBoundingClientRect()
    const isSeen = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) > 0 && width > 0 && height > 0
    return isSeen ? name : `unseen ${element.tagName} ${name}`
  })
}

/** Presses Tab until what has that name has the focus; every stop on the way is seen. */
export async function tabTo(page: Page, name: string, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  const passed: string[] = []
  for (let n = 0; n < 80; n += 1) {
    await page.keyboard.press(key)
    passed.push(await focused(page))
    if (passed.at(-1) === name) break
  }
  expect(passed).toContain(name)
  expect(passed.filter((stop) => /^(nothing$|unseen )/.test(stop))).toEqual([])
}
