import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startDemo } from '../../runtime/demo.ts'
import { startService } from '../../serve/service.ts'
import { follow, openPage, signIn } from '../browser.ts'
import { findingsOf, smallTargets } from './page-findings.ts'
import { CHANGED_JOB, CHANGES, impossible, planning, REMOVAL } from './plan-states.ts'
import { answered, change, counted, finding, told } from './update-states.ts'

const LONG = 120_000
const WAIT = { timeout: 20_000, interval: 50 }
/** Plans are refused, and no changelog is there. */
const EXPECTED = { expected: /status of (404|409|410|422|502)/ }
const KEPT_BACK = REMOVAL.map((one) => ({ ...one, status: 'kept_back' as const, reason: 'kept_back_remove' as const }))
const ready = (target: string, name: string) =>
  told(target, name, { state: 'ready', ...counted(2, 1), download_bytes: 2_000_000 })
const STATES = [ready('host', 'Hôte'), ready('lxc:101', 'web'), ready('lxc:102', 'db'), ready('lxc:103', 'mail')]
const CHANGES_OF_ALL_KINDS = [
  ...CHANGES,
  change('tzdata', { action: 'downgrade', to: '0.9-1' }),
  change('linux-image-amd64', { action: 'install', from: null, security: true }),
]
const FINDINGS = [
  finding('self_impact', { severity: 'info' }),
  finding('disk_low', { remedy: { action: 'clean_cache', label: 'Vider le cache' } }),
]

/** The faults of the open sheet or page, with the state in front: in both themes, wide and narrow. */
async function faultsOf(page: Page, state: string): Promise<string[]> {
  const found: string[] = []
  for (const theme of ['dark', 'light'])
    for (const width of [320, 1280]) {
      await page.evaluate((theme) => document.documentElement.setAttribute('data-theme', theme), theme)
      await page.setViewportSize({ width, height: 900 })
      const faults = [...(await findingsOf(page)), ...(await smallTargets(page, 24))]
      found.push(...faults.map((fault) => `${state}, ${theme} at ${width}: ${fault}`))
    }
  return found
}

test.each(['fr-FR', 'en-GB'])(
  '%s: no plan has an axe violation, a horizontal scroll or a small target',
  { timeout: LONG },
  async (locale) => {
    const service = await startService(await startDemo())
    const page = await openPage(`${service.url}/updates`, { ...EXPECTED, locale, reducedMotion: 'reduce' })
    await answered(page, STATES, [...CHANGES_OF_ALL_KINDS, ...KEPT_BACK])
    const plans = await planning(page, { changes: CHANGES_OF_ALL_KINDS, rest: { findings: FINDINGS } })
    await signIn(page)
    const sheet = page.locator('dialog.drawer')
    const start = sheet.locator('.button.primary')
    const isReady = () => expect.poll(() => start.getAttribute('aria-disabled'), WAIT).toBe('false')
    const review = page.getByRole('button', { name: /^(Examiner la mise à jour de web|Review the upgrade of web)/ })
    const close = async () => {
      await page.keyboard.press('Escape')
      await sheet.waitFor({ state: 'detached', ...WAIT })
    }
    const found: string[] = []

    await review.click()
    await isReady()
    await sheet.locator('.switch.removes').click()
    await sheet.locator('.is-remove').waitFor(WAIT)
    await sheet.locator('.is-upgrade input').last().click()
    await sheet.locator('.disclose').first().click()
    await isReady()
    found.push(...(await faultsOf(page, 'plan')))
    await close()

    plans.state.changes = []
    await review.click()
    await sheet.locator('.empty').waitFor(WAIT)
    found.push(...(await faultsOf(page, 'empty')))
    await close()

    const remedy = { action: 'repair_dpkg' as const, label: 'Réparer' }
    plans.state.refusal = impossible(finding('dependencies_broken', { severity: 'blocking', remedy }))
    await review.click()
    await sheet.locator('.findings li').waitFor(WAIT)
    found.push(...(await faultsOf(page, 'impossible')))
    await close()

    plans.state.refusal = undefined
    plans.state.changes = CHANGES_OF_ALL_KINDS
    await page.route('**/api/updates/plans', (route) => {
      const { target } = route.request().postDataJSON()
      return target === 'lxc:102' ? route.fulfill(impossible(finding('disk_low'))) : route.fallback()
    })
    await page.locator('.head .primary').click()
    await isReady()
    found.push(...(await faultsOf(page, 'several')))
    await close()

    await page.route(`**/api/updates/jobs/${CHANGED_JOB.job_id}*`, (route) => route.fulfill({ json: CHANGED_JOB }))
    await follow(page, `/updates/${CHANGED_JOB.job_id}`)
    await page.locator('.difference tbody tr').first().waitFor(WAIT)
    found.push(...(await faultsOf(page, 'difference')))
    expect(found).toEqual([])
  },
)
