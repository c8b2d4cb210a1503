import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { openPage, signIn } from '../browser.ts'
import { started } from './started.ts'

const WAIT = { timeout: 30_000 }

/** Which ends of the bar fade, because there is more. */
function fading(page: Page): Promise<boolean[]> {
  return page.locator('.tabs').evaluate((bar) => {
    const mask = getComputedStyle(bar).maskImage
    const isBoth = mask.startsWith('linear-gradient(to right, ') && mask.endsWith('rgba(0, 0, 0, 0))')
    return ['right', 'left'].map((way) => isBoth || mask.startsWith(`linear-gradient(to ${way}, rgba(0, 0, 0, 0)`))
  })
}

test('a bar of tabs that is wider than the phone shows that it goes on, at the end where it does', async () => {
  const { service } = await started()
  const page = await openPage(`${service.url}/updates`)
  await signIn(page)
  const last = page.getByRole('tab', { name: /^Protection/ })
  await last.waitFor(WAIT)
  await expect.poll(() => fading(page), WAIT).toEqual([false, false])

  await page.setViewportSize({ width: 390, height: 800 })
  await expect.poll(() => fading(page), WAIT).toEqual([false, true])
  await last.click()
  await expect.poll(() => fading(page), WAIT).toEqual([true, false])
})
