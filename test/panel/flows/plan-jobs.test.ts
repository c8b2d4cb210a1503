import { expect, test } from 'vitest'
import { follow } from '../browser.ts'
import { sheetOf } from './plan-sheet.ts'

const LONG = 120_000
const WAIT = { timeout: 20_000, interval: 50 }

test('a job whose plan did not fit shows the difference, and leads to a new plan', { timeout: LONG }, async () => {
  const { page, plans } = await sheetOf()
  const job = {
    job_id: '1772366400-aaaaaaaa',
    target: 'lxc:101',
    status: 'error',
    output_size: 0,
    started_at: '2026-03-01T12:00:00.000Z',
    finished_at: '2026-03-01T12:00:05.000Z',
    started_by_name: 'demo',
    exit_code: null,
    error_code: 'plan_changed',
    containers: null,
    warnings: [],
    run_id: null,
    plan_id: '1'.padStart(24, '0'),
    plan_difference: [
      { name: 'curl:amd64', planned: 'upgrade 1.0-1 1.0-2', found: 'upgrade 1.0-1 1.0-3' },
      { name: 'libnew:amd64', planned: null, found: 'install - 2.0' },
    ],
  }
  await page.route('**/api/updates/jobs/1772366400-aaaaaaaa*', (route) => route.fulfill({ json: job }))
  await follow(page, '/updates/1772366400-aaaaaaaa')
  const found = page.getByRole('table', { name: 'Écart avec le plan' }).locator('tbody tr')
  await expect
    .poll(() => found.allTextContents(), WAIT)
    .toEqual(['curl:amd64mise à jour 1.0-1 → 1.0-2mise à jour 1.0-1 → 1.0-3', 'libnew:amd64rieninstallation 2.0'])
  await page.getByText(/^apt allait faire autre chose que le plan/).waitFor(WAIT)
  await page.getByRole('button', { name: 'Nouveau plan' }).press('Enter')
  await page.locator('dialog.drawer .primary[aria-disabled=false]').waitFor(WAIT)
  expect(plans.asked).toHaveLength(1)
  expect(plans.started).toEqual([])
})

test('upgrades that were started together are one row of the history, with a page of their own', {
  timeout: LONG,
}, async () => {
  const { page } = await sheetOf()
  const job = (n: number, rest: object) => ({
    job_id: `177236640${n}-aaaaaaaa`,
    target: `lxc:10${n}`,
    status: 'success',
    started_at: '2026-03-01T12:00:00.000Z',
    finished_at: `2026-03-01T12:0${n}:00.000Z`,
    started_by_name: 'demo',
    exit_code: 0,
    error_code: null,
    containers: null,
    warnings: [],
    run_id: 'a'.repeat(24),
    plan_id: null,
    plan_difference: null,
    ...rest,
  })
  const jobs = [job(3, { run_id: null }), job(2, { exit_code: 100 }), job(1, {})]
  await page.route(/\/api\/updates\/jobs(\?|$)/, (route) => route.fulfill({ json: { jobs, version: 'x' } }))
  const run = {
    id: 'a'.repeat(24),
    started_at: jobs[0]?.started_at,
    started_by_name: 'demo',
    jobs: jobs.slice(1).reverse(),
  }
  await page.route('**/api/updates/runs/*', (route) => route.fulfill({ json: run }))
  await page.getByRole('tab', { name: 'Exécutions 2' }).click()
  const rows = page.locator('.history tbody tr')
  expect(await rows.count()).toBe(2)
  // It is shown as its worst job.
  await rows.last().getByText('Échec').waitFor(WAIT)
  await page.getByRole('link', { name: 'Voir les mises à jour de web, Conteneur 102' }).click()
  await page.getByText('2 sur 2 terminées').waitFor(WAIT)
  expect(await rows.locator('.status').allTextContents()).toEqual(['Terminé', 'Échec'])
})
