import { expect, test } from 'vitest'
import { startDemo } from '../../runtime/demo.ts'
import { startService } from '../../serve/service.ts'
import { follow, openPage, signIn } from '../browser.ts'
import { RUN, runOf, SCHEDULE, scheduleOf, scheduling, targetOf, upgradeOf, waveOf } from './schedule-states.ts'
import { answered, told } from './update-states.ts'

const LONG = 120_000
const WAIT = { timeout: 20_000, interval: 50 }

async function panelAt(path: string, name: 'demo' | 'guest' = 'demo') {
  const service = await startService(await startDemo())
  const page = await openPage(`${service.url}/account`, {
    expected: /status of (403|404)|WebSocket/,
    locale: 'en-GB',
    timezoneId: 'UTC',
  })
  await answered(page, [told('host', 'pve'), told('lxc:101', 'web'), told('lxc:102', 'db'), told('lxc:103', 'mail')])
  const answers = await scheduling(page, [scheduleOf()])
  await signIn(page, name)
  return { page, open: () => follow(page, path), ...answers }
}

/** Runs of a schedule from the newest on, one a night. */
const nights = (count: number) =>
  Array.from({ length: count }, (_, n) =>
    runOf({
      id: `${n}`.padStart(24, 'a'),
      due_at: new Date(Date.now() - (n + 1) * 86_400_000).toISOString(),
      ...(n === 1 && { state: 'missed' as const, reason: 'service_away', missed: 2, waves: [] }),
    }),
  )

test('all runs of a schedule are there page by page, and lead to their own pages', { timeout: LONG }, async () => {
  const { page, state, open } = await panelAt('/schedules')
  state.runs = nights(45)
  await open()
  await page.getByRole('link', { name: 'All runs: Nightly upgrades' }).click()
  const rows = page.locator('.run-history li')
  await expect.poll(() => rows.count(), WAIT).toBe(20)
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent), WAIT).toBe('All runs')
  expect(await rows.nth(0).textContent()).toMatch(/^Stopped.*1 broken, 1 upgraded · in 30\smin$/)
  expect(await rows.nth(1).textContent()).toMatch(/^Missed.*2 times missed$/)
  await page.getByRole('button', { name: 'Show older ones' }).click()
  await expect.poll(() => rows.count(), WAIT).toBe(40)
  await page.getByRole('button', { name: 'Show older ones' }).click()
  await expect.poll(() => rows.count(), WAIT).toBe(45)
  expect(await page.getByRole('button', { name: 'Show older ones' }).count()).toBe(0)
  // The button is gone; whoever works by keyboard goes on at the first run that came.
  await expect
    .poll(() => rows.evaluateAll((all) => all.findIndex((each) => each.contains(document.activeElement))), WAIT)
    .toBe(40)
  // A run that begins pushes the last one of the first page down: none is lost or shown twice.
  state.runs = [runOf({ id: RUN, due_at: new Date().toISOString(), state: 'running' }), ...state.runs]
  await expect.poll(() => rows.count(), WAIT).toBe(46)
  expect(new Set(await rows.locator('a').evaluateAll((all) => all.map((a) => a.getAttribute('href')))).size).toBe(46)
  await rows.nth(0).locator('a').click()
  await expect.poll(() => new URL(page.url()).pathname, WAIT).toBe(`/schedules/runs/${RUN}`)
})

test('who may change nothing sees all runs, too, and a schedule without runs says so', { timeout: LONG }, async () => {
  const { page, open } = await panelAt(`/schedules/${SCHEDULE}`, 'guest')
  await open()
  await page.locator('.run-history').getByText('No runs yet.').waitFor(WAIT)
})

const web = upgradeOf('lxc:101', 8.99, 3, {
  outcome: 'regressed',
  regressions: [
    { kind: 'unit', name: 'nginx.service', message: 'x' },
    { kind: 'socket', name: 'tcp/443', message: 'x' },
  ],
  decided: { by: 'alice', at: new Date().toISOString(), choice: 'keep', job_id: null },
})
const db = upgradeOf('lxc:102', 8.9, 2, { warnings: ['Le dépôt x n’a pas été relu.'], packages: 1 })
const mail = upgradeOf('lxc:103', 8.8, 1, { outcome: 'failed', status: 'error', packages: null })
const jobOf = ({ job_id, target }: typeof web, outcome: string, reason: string | null = null) =>
  targetOf(target, outcome, { job_id, reason })

test('a run says of each container what happened, why, and when', { timeout: LONG }, async () => {
  const { page, state, open } = await panelAt(`/schedules/runs/${RUN}`)
  state.upgrades = [web, db, mail]
  state.run = runOf({
    waves: [
      waveOf(
        ['lxc:101', 'lxc:102', 'lxc:103', 'lxc:104'],
        [
          jobOf(web, 'regressed'),
          jobOf(db, 'upgraded'),
          jobOf(mail, 'failed', 'La tâche n’est plus là.'),
          targetOf('lxc:104', 'skipped', {
            job_id: null,
            reason: 'Le conteneur est arrêté : il n’est pas démarré pour cela.',
          }),
        ],
      ),
    ],
  })
  await open()
  const rows = page.locator('.wave-targets > li')
  await rows
    .nth(0)
    .getByText('Unit nginx.service and 1 more do not work any more · alice keeps the upgrade · 12 packages')
    .waitFor(WAIT)
  expect(await rows.nth(0).locator('a').getAttribute('href')).toBe(`/updates/${web.job_id}`)
  // Not all lists were fresh, so “upgraded” is not the whole truth.
  await rows.nth(1).getByText(' · 1 package').waitFor(WAIT)
  expect(await rows.nth(1).locator('.status').getAttribute('class')).toContain('warn')
  await rows.nth(2).getByText('The job is no longer there.').waitFor(WAIT)
  await rows.nth(3).getByText('The container is stopped: it is not started for this.').waitFor(WAIT)

  const night = page.locator('.night')
  const times = await night.locator('.course').allTextContents()
  expect(times).toHaveLength(4)
  expect(times[0]).toMatch(/^Wave 1\d\d:\d\d – \d\d:\d\d · 6\smin$/)
  expect(times[1]).toMatch(/^Brokenweb\d\d:\d\d – \d\d:\d\d · 3\smin$/)
  expect(times[2]).toMatch(/^Upgradeddb\d\d:\d\d – \d\d:\d\d · 2\smin$/)
  const places = await night
    .locator('.bar rect:not(.track)')
    .evaluateAll((all) => all.map((bar) => bar.getAttribute('x')))
  const numbers = places.map(Number)
  expect(numbers).toEqual([...numbers].sort((one, other) => one - other))
})

test('a run whose upgrades cannot be read says so, and still shows its waves', { timeout: LONG }, async () => {
  const { page, open } = await panelAt(`/schedules/runs/${RUN}`)
  await page.route(/\/api\/updates\/runs\//, (route) =>
    route.fulfill({ status: 404, json: { error: 'x', code: 'not_found' } }),
  )
  await open()
  await page.locator('main .problem').waitFor(WAIT)
  await page.locator('.wave-targets').getByText('Broken').waitFor(WAIT)
})
