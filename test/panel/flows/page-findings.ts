import type { Page } from 'playwright-core'

declare const axe: {
  run(options: object): Promise<{ violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] }>
}

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

/** What is wrong with a page as it is: what axe finds, a page that scrolls sideways, a status without its word. */
export async function findingsOf(page: Page, source: string): Promise<string[]> {
  // By the debugger: the page's own policy lets no script in.
  await page.evaluate(source)
  return page.evaluate(async (values) => {
    const { violations } = await axe.run({ runOnly: { type: 'tag', values } })
    const found = violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`))
    const { scrollWidth, clientWidth } = document.documentElement
    if (scrollWidth > clientWidth) found.push(`scrolls sideways: ${scrollWidth} of ${clientWidth}`)
    for (const status of document.querySelectorAll('.status')) {
      if (!status.querySelector('svg') || !status.textContent?.trim())
        found.push(`status: ${status.outerHTML.slice(0, 200)}`)
    }
    return found
  }, RULES)
}

/** What is pressed and is smaller than that, in px. Links within a sentence may be as high as it. */
export function smallTargets(page: Page, least: number): Promise<string[]> {
  return page.evaluate((least) => {
    const targets =
      'button, select, summary, input:not([type=radio], [type=checkbox]), label:has(input), a.button, nav a, .list a'
    return [...document.querySelectorAll<HTMLElement>(targets)].flatMap((element) => {
      const { width, height } = element.getBoundingClientRect()
      const isShown = element.checkVisibility({ visibilityProperty: true }) && width > 1 && height > 1
      if (!isShown || (width >= least && height >= least - 0.5)) return []
      return [`${Math.round(width)} × ${Math.round(height)}: ${element.outerHTML.slice(0, 120)}`]
    })
  }, least)
}
