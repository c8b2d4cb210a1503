import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { clippingAt, WIDTHS } from './clipping.ts'

declare const axe: {
  run(options: object): Promise<{ violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] }>
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

/** The faults of a page: findings of axe, horizontal scrolling, and statuses shown by colour alone. */
export async function findingsOf(page: Page): Promise<string[]> {
  // `evaluate` works through the debugger, because the page's policy blocks injected scripts.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(AXE)
  return page.evaluate(async (values) => {
    const { violations } = await axe.run({ runOnly: { type: 'tag', values } })
    const found = violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`))
    const { scrollWidth, clientWidth } = document.documentElement
    if (scrollWidth > clientWidth) found.push(`scrolls sideways: ${scrollWidth} of ${clientWidth}`)
    const shapes = new Map<string, string>()
    for (const status of document.querySelectorAll('.status')) {
      const svg = status.querySelector('svg')
      const shape = svg?.innerHTML.trim()
      const told = status.outerHTML.slice(0, 200)
      if (!svg || !shape) found.push(`status without a shape: ${told}`)
      if (!status.textContent?.trim()) found.push(`status without a word: ${told}`)
      if (!shape) continue
      // Many people cannot see a difference in colour alone.
      const kind = [...status.classList].filter((name) => name !== 'status').join(' ')
      const other = shapes.get(shape) ?? kind
      if (other !== kind) found.push(`status with the shape of ${other}: ${told}`)
      shapes.set(shape, other)
    }
    return found
  }, RULES)
}

/** The height of a window in which most pages are whole, in px. */
export const TALL = 4_000

/**
 * Adds the faults of the shown state: at all widths those of its layout, and at two those that axe finds in both themes.
 * `inFrames`: see `clippingAt`.
 */
export async function look(page: Page, state: string, found: string[], { inFrames = false } = {}): Promise<void> {
  for (const fault of await clippingAt(page, WIDTHS, { inFrames })) found.push(`${state}, ${fault}`)
  for (const theme of ['dark', 'light'])
    for (const width of [320, 1280]) {
      await page.evaluate((name) => document.documentElement.setAttribute('data-theme', name), theme)
      await page.setViewportSize({ width, height: TALL })
      // In a window shorter than the page, the menu of a phone lies over rows that can be scrolled free of it.
      const whole = await page.evaluate(() => document.documentElement.scrollHeight)
      if (whole > TALL) await page.setViewportSize({ width, height: whole })
      const faults = [...(await findingsOf(page)), ...(await smallTargets(page, 24))]
      found.push(...faults.map((fault) => `${state}, ${theme} at ${width}: ${fault}`))
    }
  await page.setViewportSize({ width: 1280, height: 800 })
}

/** Controls smaller than `least` px. A link inside a sentence may have the height of its line (WCAG 2.5.8). */
export function smallTargets(page: Page, least: number): Promise<string[]> {
  return page.evaluate((least) => {
    const targets = 'button, select, summary, input:not([type=radio], [type=checkbox]), label:has(input), a:not(p a)'
    return [...document.querySelectorAll<HTMLElement>(targets)].flatMap((element) => {
      const { width, height } = element.getBoundingClientRect()
      const isShown = element.checkVisibility({ visibilityProperty: true }) && width > 1 && height > 1
      if (!isShown || (width >= least && height >= least - 0.5)) return []
      return [`${Math.round(width)} × ${Math.round(height)}: ${element.outerHTML.slice(0, 120)}`]
    })
  }, least)
}

/** The names of the texts that contain a token: one of those issued, or any text in the form of a token. */
export function withToken(texts: Readonly<Record<string, string>>, tokens: readonly string[]): string[] {
  return Object.entries(texts).flatMap(([name, text]) =>
    /eyJ[\w-]{8}|(token|refresh)=/.test(text) || tokens.some((token) => text.includes(token)) ? [name] : [],
  )
}

/** The data of a page that any script of its origin can read, by storage. */
export function readable(page: Page): Promise<Record<string, string>> {
  return page.evaluate(() => ({
    localStorage: JSON.stringify({ ...localStorage }),
    sessionStorage: JSON.stringify({ ...sessionStorage }),
    cookie: document.cookie,
    address: location.href,
    history: JSON.stringify(history.state) ?? '',
    window: window.name,
    page: document.documentElement.outerHTML,
  }))
}

/** The names of databases and caches of a page's origin. */
export function stores(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    const databases = await indexedDB.databases()
    return [...databases.map(({ name = '' }) => name), ...(await caches.keys())]
  })
}
