import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startDemo } from '../../runtime/demo.ts'
import { startService } from '../../serve/service.ts'
import { focused, focusedWithNew, follow, openPage, signIn } from '../browser.ts'
import { everyStanding, recentOf, RUN, runningRun, runOf, scheduleOf, scheduling } from './schedule-states.ts'
import { answered, told } from './update-states.ts'

const LONG = 120_000
const WAIT = { timeout: 20_000, interval: 50 }
/** Chromium's own messages about refused requests. */
const EXPECTED = { expected: /status of (400|403|404|409)|WebSocket/ }

/** A page of the panel with these schedules. */
async function schedulesAt(
  path: string,
  { schedules = everyStanding(), name = 'demo' as 'demo' | 'guest', locale = 'en-GB' } = {},
) {
  const service = await startService(await startDemo())
  const page = await openPage(`${service.url}${path}`, { ...EXPECTED, locale, timezoneId: 'UTC' })
  const checks = await answered(page, [told('host', 'pve'), told('lxc:101', 'web'), told('lxc:102', 'db')])
  const answers = await scheduling(page, schedules)
  await signIn(page, name)
  return { page, service, checks: checks.state, ...answers }
}

const names = (page: Page) => page.locator('.schedule h2 a').allTextContents()
const heading = (page: Page) => page.locator('h1').textContent()
const card = (page: Page, name: string) =>
  page.locator('.schedule').filter({ has: page.getByRole('link', { name, exact: true }) })

test('the heading is the answer, and what needs somebody comes first with the one action that helps', {
  timeout: LONG,
}, async () => {
  const { page } = await schedulesAt('/schedules')
  await expect.poll(() => heading(page), WAIT).toMatch(/^7 schedules, next (today|tonight|tomorrow) \d\d:\d\d$/)
  await page.getByText('3 need you · Next: Check all').waitFor(WAIT)
  const all = await names(page)
  expect(all.slice(1)).toEqual([
    'Nightly upgrades',
    'Weekend',
    'Host, security only',
    'Check all',
    'Not used yet',
    'Monthly',
  ])
  await card(page, 'Nightly upgrades').getByText('Every night at 02:30, for at most 2 h.').waitFor(WAIT)
  await card(page, 'Host, security only').getByText('On Sundays at 05:00 (America/New_York)').waitFor(WAIT)
  await card(page, 'Weekend').getByText('On Saturdays and Sundays at 03:00').waitFor(WAIT)
  await page.locator('.schedule').first().getByText('7,37 1-3 * * 1-5, for at most 2 h.').waitFor(WAIT)
  await card(page, 'Check all').getByRole('button', { name: 'Run now: Check all' }).waitFor(WAIT)
  await card(page, 'Monthly').getByRole('button', { name: 'Resume: Monthly' }).waitFor(WAIT)
  await card(page, 'Nightly upgrades').getByRole('link', { name: 'See what happened: Nightly upgrades' }).click()
  await expect.poll(() => new URL(page.url()).pathname, WAIT).toBe(`/schedules/runs/${RUN}`)
})

/** So many schedules, of which the last needs somebody. */
const manySchedules = (count: number) =>
  Array.from({ length: count }, (_, n) =>
    scheduleOf({
      id: `${n}`.padStart(24, '0'),
      name: `Night ${`${n + 1}`.padStart(3, '0')}`,
      ...(n === count - 1 && { recent: recentOf('stopped'), last_run: runOf() }),
    }),
  )

test('a long list shows its first twenty, more on demand, and keeps all of them fresh', { timeout: LONG }, async () => {
  const { page, state, lists } = await schedulesAt('/schedules', { schedules: manySchedules(45) })
  const cards = page.locator('.schedule')
  await page.getByText('20 of 45 shown').waitFor(WAIT)
  // The figures are those of all, and who needs somebody is on the first page.
  expect(await heading(page)).toMatch(/^45 schedules, next /)
  await page.getByText('1 need').waitFor(WAIT)
  expect((await names(page)).slice(0, 3)).toEqual(['Night 045', 'Night 001', 'Night 002'])
  const more = page.getByRole('button', { name: 'Show more' })
  const focusWithMore = await focusedWithNew(page, '.schedule:nth-child(21)')
  await more.focus()
  await page.keyboard.press('Enter')
  await expect.poll(() => cards.count(), WAIT).toBe(40)
  expect(await focusWithMore()).toBe('Night 020')
  expect(await focused(page)).toBe('Night 020')
  expect(lists.at(-1)).toBe('limit=40')

  // The next refresh asks for all that is shown; nobody works in the list.
  await page.locator('h1').focus()
  state.schedules = state.schedules.map((each) =>
    each.name === 'Night 030' ? { ...each, recent: recentOf('missed'), last_run: null } : each,
  )
  await expect.poll(async () => (await names(page)).slice(0, 2), WAIT).toEqual(['Night 045', 'Night 030'])
  expect(await cards.count()).toBe(40)
  await more.click()
  await expect.poll(() => cards.count(), WAIT).toBe(45)
  expect(await more.count()).toBe(0)
})

test('a long list is searched by name, and its figures stay those of all', { timeout: LONG }, async () => {
  const { page, state } = await schedulesAt('/schedules', { schedules: manySchedules(45) })
  const search = page.getByRole('searchbox', { name: 'Search by name' })
  await search.fill('night 03')
  await expect.poll(() => names(page), WAIT).toEqual(Array.from({ length: 10 }, (_, n) => `Night 03${n}`))
  expect(await heading(page)).toMatch(/^45 schedules, next /)
  await search.fill('nothing')
  await page.getByText('No schedule has this name.').waitFor(WAIT)
  expect(await heading(page)).toMatch(/^45 schedules, next /)
  await search.fill('')
  await expect.poll(() => page.locator('.schedule').count(), WAIT).toBe(20)
  state.schedules = manySchedules(20)
  await page.reload()
  await page.locator('.schedule').nth(19).waitFor(WAIT)
  expect(await search.count()).toBe(0)
  expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0)
})

test('more schedules that do not come are told, and the list stays as it is', { timeout: LONG }, async () => {
  const { page, state } = await schedulesAt('/schedules', { schedules: manySchedules(45) })
  await page.locator('.schedule').nth(19).waitFor(WAIT)
  state.unread = { status: 404, json: { error: 'x', code: 'x' } }
  await page.getByRole('button', { name: 'Show more' }).click()
  await page.getByRole('alert').first().waitFor(WAIT)
  expect(await page.locator('.schedule').count()).toBe(20)
  state.unread = undefined
  await page.getByRole('button', { name: 'Show more' }).click()
  await expect.poll(() => page.locator('.schedule').count(), WAIT).toBe(40)
  await expect.poll(() => page.getByRole('alert').count(), WAIT).toBe(0)
})

test('the strip of runs is one stop for the keyboard: arrows walk, and the sentence below leads to the run', {
  timeout: LONG,
}, async () => {
  const { page } = await schedulesAt('/schedules', { schedules: [scheduleOf()] })
  const strip = page.getByRole('slider', { name: 'Last runs of Nightly upgrades' })
  const said = () => strip.getAttribute('aria-valuetext')
  await strip.focus()
  await expect.poll(said, WAIT).toMatch(/: done, 1 upgraded$/)
  for (let n = 0; n < 6; n += 1) await page.keyboard.press('ArrowLeft')
  await expect.poll(said, WAIT).toMatch(/: cancelled$/)
  expect(await page.locator('.strip-of-runs .said').textContent()).toBe(await said())
  await page.keyboard.press('Home')
  expect(await strip.getAttribute('aria-valuenow')).toBe('1')
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  await expect.poll(() => new URL(page.url()).pathname, WAIT).toBe(`/schedules/runs/${RUN}`)
})

test('a run is asked about before it starts, and a schedule before it is deleted', { timeout: LONG }, async () => {
  const { page, asked } = await schedulesAt('/schedules', { schedules: [scheduleOf()] })
  const start = page.getByRole('button', { name: 'Run now: Nightly upgrades' })
  await start.click()
  await page.locator('dialog').getByText('The window begins now and lasts 2 h.').waitFor(WAIT)
  await page.keyboard.press('Escape')
  await expect.poll(() => focused(page), WAIT).toBe('Run now: Nightly upgrades')
  expect(asked).toEqual([])
  await start.click()
  await page.locator('dialog .primary').click()
  await expect.poll(() => new URL(page.url()).pathname, WAIT).toBe(`/schedules/runs/${RUN}`)
  await follow(page, '/schedules')
  await page.getByRole('button', { name: 'Actions of Nightly upgrades' }).click()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.locator('dialog .danger').click()
  await page.getByText('The panel does nothing by itself at night yet.').waitFor(WAIT)
  expect(asked.map(({ method, path }) => `${method} ${path.replace(/[0-9a-f]{24}/, 'id')}`)).toEqual([
    'POST /id/run',
    'DELETE /id',
  ])
})

test('a schedule that may restart the host is resumed with the password of its new owner', {
  timeout: LONG,
}, async () => {
  const { page, state, asked } = await schedulesAt('/schedules', {
    schedules: [scheduleOf({ enabled: false, next: [], reboot: 'if_required' })],
  })
  state.refusal = { status: 400, json: { error: 'x', code: 'proof_required' } }
  await page.getByRole('button', { name: 'Resume: Nightly upgrades' }).click()
  await page.locator('dialog input[type=password]').waitFor(WAIT)
  state.refusal = undefined
  await page.keyboard.type('demo')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Run now: Nightly upgrades' }).waitFor(WAIT)
  expect(asked.map(({ body }) => body)).toEqual([{ enabled: true }, { enabled: true, password: 'demo' }])
})

test('a pause of all schedules is told on every page, and administrators resume there', { timeout: LONG }, async () => {
  const { page, checks, asked } = await schedulesAt('/schedules', { schedules: [scheduleOf()] })
  await page.getByRole('button', { name: 'Pause all' }).click()
  checks.schedules_paused = { by: 'demo', at: new Date().toISOString() }
  await page.locator('dialog .danger').click()
  const band = page.getByText('Schedules paused by demo just now: none starts.')
  await band.waitFor(WAIT)
  await expect.poll(() => heading(page), WAIT).toBe('1 schedule')
  expect(await page.getByRole('button', { name: 'Run now: Nightly upgrades' }).getAttribute('aria-disabled')).toBe(
    'true',
  )
  await follow(page, '/account')
  await band.waitFor(WAIT)
  checks.schedules_paused = null
  await page.getByRole('button', { name: 'Resume' }).click()
  await band.waitFor({ state: 'detached', ...WAIT })
  expect(asked.map(({ body }) => body)).toEqual([{ paused: true }, { paused: false }])
})

test('who is no administrator reads schedules and runs, and starts or changes nothing', { timeout: LONG }, async () => {
  const { page, checks } = await schedulesAt('/schedules', { name: 'guest' })
  await card(page, 'Check all').waitFor(WAIT)
  expect(await page.locator('main button').count()).toBe(0)
  checks.schedules_paused = { by: 'demo', at: new Date().toISOString() }
  await page.reload()
  await page.getByText('Schedules paused by demo').waitFor(WAIT)
  expect(await page.locator('.away button').count()).toBe(0)
  await card(page, 'Check all').getByRole('link', { name: 'Check all', exact: true }).click()
  await page.getByText('Only an administrator can change a schedule.').waitFor(WAIT)
  expect(await page.locator('main input').count()).toBe(0)
})

test('a run shows each wave live, and can be cancelled while it runs', { timeout: LONG }, async () => {
  const { page, state, asked } = await schedulesAt('/account')
  state.run = runningRun()
  await follow(page, `/schedules/runs/${RUN}`)
  await expect.poll(() => heading(page), WAIT).toBe('Nightly upgrades: running')
  const waves = page.locator('.run-waves > li')
  const stations = () => waves.evaluateAll((all) => all.map(({ className }) => className))
  await expect.poll(stations, WAIT).toEqual(['done', 'now', 'ahead'])
  await page.getByRole('link', { name: 'Upgrade: web' }).waitFor(WAIT)
  await page.getByRole('link', { name: 'All its upgrades' }).waitFor(WAIT)
  expect(await waves.nth(1).locator('.status').allTextContents()).toEqual(['Running', 'Waiting', 'Impossible'])
  await page.getByRole('button', { name: 'Cancel this run' }).click()
  state.run = runningRun({ cancelled_by: 'demo' })
  await page.locator('dialog .danger').click()
  await page.getByText('demo cancels it: what runs goes to its end.').waitFor(WAIT)
  expect(asked).toEqual([{ method: 'POST', path: `/runs/${RUN}/cancel`, body: null }])
  state.run = runOf()
  await expect.poll(() => heading(page), WAIT).toBe('Nightly upgrades: stopped')
  await page.getByText('Stopped: something does not work any more after an upgrade.').waitFor(WAIT)
  await expect.poll(stations, WAIT).toEqual(['fail', 'off', 'off'])
  await page.getByText('1 broken, 1 upgraded').waitFor(WAIT)
  expect(await page.locator('.run-result .status').textContent()).toBe('Stopped')
  expect(await page.getByRole('button', { name: 'Cancel this run' }).count()).toBe(0)
})

test('missed times and a restart of the host are told with their reason', { timeout: LONG }, async () => {
  const { page, state } = await schedulesAt('/account')
  state.run = runOf({ state: 'missed', reason: 'service_away', missed: 3, started_at: null, waves: [] })
  await follow(page, `/schedules/runs/${RUN}`)
  await page.getByText('Nothing was done: the service was away at that time. 3 times missed').waitFor(WAIT)
  state.run = runOf({
    state: 'done',
    reason: null,
    reboot: { check_id: '1772366400-aaaaaaaa', job_id: '1772366400-bbbbbbbb', outcome: 'rebooted' },
  })
  await follow(page, '/account')
  await follow(page, `/schedules/runs/${RUN}`)
  await page.getByText('Restarted', { exact: true }).waitFor(WAIT)
  expect(await page.getByRole('link', { name: 'Follow the restart' }).getAttribute('href')).toBe(
    '/updates/1772366400-bbbbbbbb',
  )
})
