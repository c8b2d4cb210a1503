import { expect, test } from 'vitest'
import { follow } from '../browser.ts'
import { sheetOf } from './plan-sheet.ts'
import { CHANGED_JOB, CHANGES, planOf, UNPROTECTED } from './plan-states.ts'

const LONG = 120_000
const WAIT = { timeout: 20_000, interval: 50 }

test('a job whose plan did not fit shows the difference, and leads to a new plan of the same choice', {
  timeout: LONG,
}, async () => {
  const { page, plans } = await sheetOf()
  const chosen = { only: 'security' as const, exclude: ['curl'], allow_remove: true }
  await page.route(`**/api/updates/plans/${CHANGED_JOB.plan_id}`, (route) =>
    route.fulfill({ json: planOf(1, 'lxc:101', CHANGES, chosen) }),
  )
  await page.route('**/api/updates/jobs/1772366400-aaaaaaaa*', (route) => route.fulfill({ json: CHANGED_JOB }))
  await follow(page, '/updates/1772366400-aaaaaaaa')
  const found = page.getByRole('table', { name: 'Écart avec le plan' }).locator('tbody tr')
  await expect
    .poll(() => found.allTextContents(), WAIT)
    .toEqual(['curl:amd64mise à jour 1.0-1 → 1.0-2mise à jour 1.0-1 → 1.0-3', 'libnew:amd64rieninstallation 2.0'])
  await page.getByText(/^La mise à jour n’aurait plus été celle du plan/).waitFor(WAIT)
  await page.getByRole('button', { name: 'Nouveau plan' }).press('Enter')
  await page.locator('dialog.drawer .primary[aria-disabled=false]').waitFor(WAIT)
  expect(plans.asked).toEqual([{ target: 'lxc:101', ...chosen }])
  expect(plans.started).toEqual([])
})

test('upgrades that were started together are one row of the history, with a page of their own', {
  timeout: LONG,
}, async () => {
  const { page } = await sheetOf()
  const job = (n: number, rest: object) => ({
    ...UNPROTECTED,
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

test('a failure stays in the row after an upgrade that changed nothing, and both are told', {
  timeout: LONG,
}, async () => {
  const { page, checks } = await sheetOf()
  const ended = { ...UNPROTECTED, started_by_name: 'demo', containers: null, warnings: [], run_id: null, plan_id: null }
  const failed = {
    ...ended,
    job_id: '1772366300-aaaaaaaa',
    target: 'lxc:101',
    status: 'success',
    started_at: '2026-03-01T11:58:00.000Z',
    finished_at: '2026-03-01T11:59:00.000Z',
    exit_code: 100,
    error_code: null,
    plan_difference: null,
  }
  const jobs = [CHANGED_JOB, failed]
  await page.route(/\/api\/updates\/jobs(\?|$)/, (route) => route.fulfill({ json: { jobs, version: 'x' } }))
  const { job_id, finished_at } = CHANGED_JOB
  const unharmed = { application: null, regressions: 0, on_failure: null, decided: null }
  const last_upgrade = { job_id, outcome: 'plan_changed' as const, exit_code: null, finished_at, ...unharmed }
  checks.state.checks = checks.state.checks.map((check) => ({ ...check, last_upgrade }))
  await page.reload()
  const row = page.locator('.targets tr.row').filter({ hasText: 'web' })
  await row.getByText('Échec').waitFor(WAIT)
  await row.getByRole('button', { name: 'Réessayer la mise à jour de web' }).waitFor(WAIT)
  await row.getByRole('button', { name: 'web', exact: true }).click()
  const told = page.locator('tr.detail .findings li')
  expect(await told.nth(0).textContent()).toMatch(/La dernière mise à jour a échoué .* \(code 100\)Voir la sortie$/)
  expect(await told.nth(1).textContent()).toMatch(/Écart avec le plan .*, rien n’a changéVoir l’écart$/)
  expect(await told.nth(1).getByRole('link').getAttribute('href')).toBe(`/updates/${job_id}`)

  // Without the failure the target is ready, and the row says why nothing was installed.
  jobs.pop()
  await page.reload()
  await row.getByText('Prêt').waitFor(WAIT)
  await row.getByText(/^Écart avec le plan il y a /).waitFor(WAIT)
  await page.getByRole('tab', { name: 'Exécutions 1' }).click()
  expect(await page.locator('.history .status').allTextContents()).toEqual(['Écart avec le plan'])
  await follow(page, '/')
  await page.getByText('Écart avec le plan').waitFor(WAIT)
  expect(await page.locator('.attention').getByText('a échoué').count()).toBe(0)
})
