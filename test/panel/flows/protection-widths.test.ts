import { expect, test } from 'vitest'
import { startDemo } from '../../runtime/demo.ts'
import { startService } from '../../serve/service.ts'
import { follow, openPage, signIn } from '../browser.ts'
import { armClipping } from './clipping.ts'
import { look } from './page-findings.ts'
import { CHANGES, planning, planOf } from './plan-states.ts'
import { brokenJob, guarding, JOB, protectedJob } from './protection-states.ts'
import { answered, ready } from './update-states.ts'

const LONG = 240_000
const WAIT = { timeout: 20_000, interval: 50 }
/** The jobs that the answers name do not exist. */
const EXPECTED = { expected: /status of (404|409|422)|WebSocket/ }
const LONG_NAME = 'customer-portal-staging-environment-with-a-rather-long-name-001'

test.each(['fr-FR', 'en-GB'])('%s: protection has no fault at any width', { timeout: LONG }, async (locale) => {
  const service = await startService(await startDemo())
  const page = await openPage(`${service.url}/account`, { ...EXPECTED, locale, reducedMotion: 'reduce' })
  await answered(page, [
    ready('host', 'Hôte'),
    ready('lxc:101', LONG_NAME),
    ready('lxc:102', 'db'),
    ready('lxc:103', 'mail'),
  ])
  await planning(page)
  await page.route('**/api/updates/plans/*', (route) => route.fulfill({ json: planOf(1, 'lxc:101', CHANGES) }))
  const { state } = await guarding(page)
  state.told.targets = state.told.targets.map((each, n) => (n === 0 ? { ...each, name: LONG_NAME } : each))
  await signIn(page)
  await armClipping(page)
  const found: string[] = []

  const running = { status: 'running' as const, outcome: null, snapshot: null, comparison: null }
  const reason =
    "can't rollback, 'panel-1' is not most recent snapshot on 'a-rather-long-name-of-a-volume-without-a-place'"
  for (const [name, record] of [
    ['running', protectedJob({ ...running, phase: 'settling' }, 1)],
    ['without a snapshot', protectedJob({ snapshot: null, unprotected: 'snapshot feature is not available' })],
    ['good', protectedJob()],
    ['rolled back', brokenJob({ outcome: 'rolled_back', outage_seconds: 38 })],
    ['stuck', brokenJob({ outcome: 'rollback_failed', reason })],
    ['broken', brokenJob()],
  ] as const) {
    state.record = record
    await follow(page, '/account')
    await follow(page, `/updates/${JOB}`)
    await page.locator('.steps').waitFor(WAIT)
    await page.locator('.output').waitFor(WAIT)
    await look(page, name, found)
  }
  await page.locator('.seg button').last().click()
  await page.locator('.button.undo').click()
  await look(page, 'the question before a rollback', found)

  await follow(page, '/updates')
  await page.locator('.targets tr.row').first().waitFor(WAIT)
  await look(page, 'a broken target', found)

  await page.locator('.head .primary').click()
  await page.locator('.drawer .guard li').first().waitFor(WAIT)
  await look(page, 'the foot of several plans', found)
  await page.keyboard.press('Escape')
  await page
    .getByRole('button', { name: /^(Examiner la mise à jour de|Review the upgrade of) (db|mail)/ })
    .first()
    .click()
  await page.locator('.drawer .guard li').first().waitFor(WAIT)
  await page.locator('.drawer .primary[aria-disabled=false]').waitFor(WAIT)
  await look(page, 'the foot of a plan', found)
  await page.keyboard.press('Escape')

  await follow(page, '/updates?tab=protection')
  await page.locator('.guarded .disclose').first().click()
  await look(page, 'the policies', found)
  state.refusal = {
    status: 422,
    json: {
      error: 'x',
      code: 'protection_invalid',
      details: ['keep', 'settle_seconds', 'backup_storage', 'probes.0.url', 'probes.0.status', 'probes.1.command'].map(
        (field) => ({ field, message: 'le nom d’un stockage' }),
      ),
    },
  }
  await page.locator('.guarded > li').last().locator('.button').last().click()
  await page.locator('dialog.edit-policy [type=submit]').click()
  await page.locator('dialog.edit-policy .wrong').first().waitFor(WAIT)
  await look(page, 'a refused policy', found)

  expect(found).toEqual([])
})
