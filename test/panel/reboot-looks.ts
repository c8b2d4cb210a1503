import type { Page } from 'playwright-core'

export interface Looker {
  go(path: string): Promise<void>
  /** Takes a picture at each width, after scrolling to an element. */
  takeAll(name: string, seen?: string): Promise<void>
}

/** A reboot of the host: the question with a wrong name, its page and another one meanwhile, its end, and what the dashboard says after it. */
export async function lookAtReboot(page: Page, { go, takeAll }: Looker): Promise<void> {
  await go('/settings')
  await takeAll('reboot-about', '.about')
  await go('/')
  await takeAll('reboot-before')
  await takeAll('reboot-card', '.card-deeds')
  await page
    .locator('.facts ~ .card-deeds .button')
    .filter({ hasText: /hôte|host/ })
    .click()
  const dialog = page.locator('dialog.question')
  await dialog.locator('input').fill('pve-other')
  await takeAll('reboot-question')
  await dialog.locator('input').fill('pve')
  await dialog.locator('button[type=submit]').click()
  await page.waitForURL(/\/updates\/\d/)
  const job = new URL(page.url()).pathname
  await page
    .locator('.steps .now')
    .filter({ hasText: /Départ|Leaving/ })
    .waitFor()
  await page
    .getByText(/ne répond plus|does not answer/)
    .first()
    .waitFor()
  await takeAll('reboot-under-way')
  await go('/containers')
  await takeAll('reboot-elsewhere')
  await go(job)
  await page.locator('.steps .warn').waitFor({ timeout: 60_000 })
  await takeAll('reboot-end')
  await go('/')
  await takeAll('reboot-after')
}
