import type { Looker } from './reboot-looks.ts'
import type { Page } from 'playwright-core'

/** The applications of targets, the reading of a script and of a stack with their agreements, and the jobs that update them. */
export async function lookAtApplications(page: Page, { go, takeAll }: Looker): Promise<void> {
  const rows = (target: string) => page.locator(`#applications-${target.replace(':', '\\:')} ~ .names > li`)
  await go('/updates?open=lxc:119')
  await rows('lxc:119').first().waitFor()
  await takeAll('applications', '.applications')

  const sheet = page.locator('dialog.application')
  const primary = sheet.locator('.primary')
  const withdrawn = async () => {
    // An earlier theme or language has agreed already.
    const withdraw = sheet.locator('.agreed .button')
    if ((await withdraw.count()) === 0) return
    await withdraw.click()
    await page.locator('dialog.question .danger').click()
    await page.locator('dialog.question').waitFor({ state: 'detached' })
    await withdraw.waitFor({ state: 'detached' })
  }
  for (const [target, name] of [
    ['lxc:112', 'stack'],
    ['lxc:116', 'script'],
  ] as const) {
    await go(`/updates?open=${target}`)
    const button = rows(target).locator('.button').first()
    // A stack has nothing newer once it was updated.
    if ((await button.count()) === 0) continue
    await button.click()
    await sheet.locator('.facts').waitFor()
    await withdrawn()
    await takeAll(`application-${name}`)
    await primary.click()
    await sheet.locator('.agreed .ok').waitFor()
    await page.waitForTimeout(1_100)
    await takeAll(`application-${name}-agreed`)
    await primary.click()
    await page.waitForURL(/\/updates\/\d/)
    await page.waitForTimeout(2_000)
    await takeAll(`application-${name}-job`)
    await page.locator('.told-version, .next-steps, .choices').first().waitFor({ timeout: 120_000 })
    await takeAll(`application-${name}-end`)
  }
}
