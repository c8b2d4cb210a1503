import type { Page } from 'playwright-core'

/** All lines of the shown output, read from the rows while scrolling from the first to the last. */
export async function shownLines(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    const log = document.querySelector('.output .log')
    if (!log) throw new Error('no output')
    const frame = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
    const lines = new Map<number, string>()
    log.scrollTop = 0
    for (;;) {
      await frame()
      for (const row of log.querySelectorAll('.line')) {
        const [number, text] = [row.querySelector('i'), row.querySelector(':scope > span')]
        lines.set(Number(number?.textContent), text?.textContent ?? '')
      }
      if (log.scrollTop + log.clientHeight >= log.scrollHeight - 1) break
      log.scrollTop += log.clientHeight
    }
    return Array.from({ length: Math.max(0, ...lines.keys()) }, (_, n) => lines.get(n + 1) ?? `(${n + 1} is missing)`)
  })
}

/** The number of rows in the page. */
export function rowCount(page: Page): Promise<number> {
  return page.locator('.output .line').count()
}
