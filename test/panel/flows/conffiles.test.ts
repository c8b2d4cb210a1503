import { expect, test } from 'vitest'
import { sheetOf } from './plan-sheet.ts'

import { CHANGES, planOf } from './plan-states.ts'

const LONG = 120_000
const WAIT = { timeout: 20_000, interval: 50 }
const FILE = '/etc/nginx/with space/nginx.conf'
const UNKNOWN = { file: FILE, package: 'curl', state: 'changed', choice: 'keep' } as const
const NOTHING = { diff: null, diff_cut: false, diff_missing: null }
const DIFF = '@@ -1,2 +1,2 @@\n user www-data;\n-workers 2;\n+workers <b>auto</b>;\n'

test('the changed files are compared on demand, and the choice is stored in the plan', { timeout: LONG }, async () => {
  const { page, review, sheet, plans } = await sheetOf()
  plans.state.rest = { conffiles: [{ ...UNKNOWN, ...NOTHING }] }
  const compared = { ...UNKNOWN, ...NOTHING, state: 'conflict' as const, diff: DIFF }
  const asked: unknown[] = []
  await page.route('**/api/updates/plans/*/conffiles', (route) => {
    const isChoice = route.request().method() === 'PUT'
    const choice = isChoice ? ('take' as const) : ('keep' as const)
    asked.push(isChoice ? route.request().postDataJSON() : 'compare')
    return route.fulfill({ json: planOf(1, 'lxc:101', CHANGES, { conffiles: [{ ...compared, choice }] }) })
  })
  await review.press('Enter')
  const files = sheet.locator('.conffiles')
  await files.waitFor(WAIT)
  expect(await files.locator('.file .mono').allTextContents()).toEqual([FILE])
  expect(await files.getByRole('switch').count()).toBe(0)

  await files.getByRole('button', { name: 'Comparer' }).press('Enter')
  await files.locator('summary').press('Enter')
  expect(await files.locator('pre').textContent()).toBe(DIFF)
  expect(await files.locator('.goes').textContent()).toBe('-workers 2;\n')
  await files.getByRole('switch').press('Space')

  await expect.poll(() => files.getByRole('switch').getAttribute('aria-checked'), WAIT).toBe('true')
  expect(asked).toEqual(['compare', { choices: [{ file: FILE, choice: 'take' }] }])
  expect(await files.locator('.hint').textContent()).toContain('.dpkg-old')
  // The same plan is still the one that is run.
  await page.getByRole('button', { name: 'Installer exactement ceci' }).press('Enter')
  await expect.poll(() => plans.started, WAIT).toEqual([{ target: 'lxc:101', plan: '1'.padStart(24, '0') }])
})

test('a comparison that fails is told, and the plan can still be run', { timeout: LONG }, async () => {
  const { page, review, sheet, plans } = await sheetOf()
  plans.state.rest = { conffiles: [{ ...UNKNOWN, ...NOTHING }] }
  await page.route('**/api/updates/plans/*/conffiles', (route) =>
    route.fulfill({ status: 502, json: { error: 'x', code: 'conffiles_unavailable' } }),
  )
  await review.press('Enter')
  const files = sheet.locator('.conffiles')
  await files.getByRole('button', { name: 'Comparer' }).press('Enter')

  await files.getByText('n’ont pas pu être comparés').waitFor(WAIT)
  const start = page.getByRole('button', { name: 'Installer exactement ceci' })
  await expect.poll(() => start.getAttribute('aria-disabled'), WAIT).toBe('false')
})
