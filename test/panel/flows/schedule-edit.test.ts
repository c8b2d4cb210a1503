import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startDemo } from '../../runtime/demo.ts'
import { startService } from '../../serve/service.ts'
import { focused, focusedAtOnce, follow, openPage, signIn, tabTo } from '../browser.ts'
import { SCHEDULE, scheduleOf, scheduling } from './schedule-states.ts'
import { answered, finding, told } from './update-states.ts'

const LONG = 120_000
const WAIT = { timeout: 20_000, interval: 50 }
/** Chromium's own messages about refused requests. */
const EXPECTED = { expected: /status of (400|403|404|409)|WebSocket/ }

/** The form at this address, beside a stored schedule. */
async function formAt(path: string, schedule = scheduleOf(), more: ReturnType<typeof told>[] = []) {
  const service = await startService(await startDemo())
  const page = await openPage(`${service.url}${path}`, { ...EXPECTED, locale: 'en-GB', timezoneId: 'UTC' })
  await answered(page, [
    told('host', 'pve'),
    told('lxc:101', 'web'),
    told('lxc:102', 'db'),
    told('lxc:103', 'mail'),
    ...more,
  ])
  const answers = await scheduling(page, [schedule])
  await signIn(page)
  await page.locator('.schedule-form').waitFor(WAIT)
  return { page, service, ...answers }
}

const add = (page: Page, wave: number, value: string) =>
  page.getByLabel(`Add a target to wave ${wave}`).selectOption(value)
const chips = (page: Page, wave: number) =>
  page
    .locator('.wave-list > li')
    .nth(wave - 1)
    .locator('.chip .cut')
    .allTextContents()
const path = (page: Page) => new URL(page.url()).pathname

test('a schedule is made from presets and waves, and tells what it will do', { timeout: LONG }, async () => {
  const { page, asked } = await formAt('/schedules/new')
  const preview = page.locator('.preview')
  await preview.getByText('Every night at 02:30, for at most 2 h. Installs all updates.').waitFor(WAIT)
  await expect.poll(() => preview.locator('.times li').count(), WAIT).toBe(5)
  await page.getByLabel('Name').fill('  Sundays ')
  await page.locator('label').filter({ hasText: 'Every week' }).click()
  await page.getByLabel('Day', { exact: true }).selectOption('6')
  await page.getByLabel('At', { exact: true }).fill('04:15')
  await page.getByLabel('Begins nothing new after').selectOption('180')
  await page.locator('label').filter({ hasText: 'Security only' }).click()
  // The rest, then the host; a target stands in one wave alone.
  await page.getByRole('button', { name: 'Take The rest out of wave 1' }).click()
  await add(page, 1, 'lxc:101')
  await add(page, 1, 'lxc:103')
  await page.getByRole('button', { name: 'Add a wave' }).click()
  expect(await focused(page)).toBe('Add a target to wave 2')
  expect(await page.getByLabel('Add a target to wave 2').locator('option[value="lxc:101"]').count()).toBe(0)
  await add(page, 2, 'rest')
  await page.getByRole('button', { name: 'Add a wave' }).click()
  await add(page, 3, 'host')
  await page.getByRole('button', { name: 'Move wave 3 up' }).click()
  expect([await chips(page, 1), await chips(page, 2), await chips(page, 3)]).toEqual([
    ['web', 'mail'],
    ['Host'],
    ['The rest'],
  ])
  await page.getByLabel('Minutes of waiting after wave 1').fill('45')
  await page.locator('label').filter({ hasText: 'Go on' }).click()
  await preview
    .getByText(
      'On Saturdays at 04:15, for at most 3 h. Installs security updates only, in 3 waves. Goes on after a failure',
    )
    .waitFor(WAIT)
  await page.getByRole('button', { name: 'Create' }).click()
  await expect.poll(() => path(page), WAIT).toBe('/schedules')
  expect(asked.map(({ body }) => body)).toEqual([
    {
      name: 'Sundays',
      enabled: true,
      cron: '15 4 * * 6',
      timezone: 'UTC',
      window_minutes: 180,
      action: 'upgrade',
      only: 'security',
      waves: [
        { targets: ['lxc:101', 'lxc:103'], pause_minutes: 45 },
        { targets: ['host'], pause_minutes: 0 },
        { targets: 'rest', pause_minutes: 15 },
      ],
      on_failure: 'continue',
      reboot: 'never',
    },
  ])
})

test('a line of cron is said in words, and a wrong one says why before it is saved', { timeout: LONG }, async () => {
  const { page, asked } = await formAt('/schedules/new')
  await page.locator('label').filter({ hasText: 'Cron' }).click()
  const line = page.getByLabel('Cron line')
  expect(await line.inputValue()).toBe('30 2 * * *')
  await line.fill('0 */6 * * *')
  await page.getByText('day of the week. Every 6 hours.').waitFor(WAIT)
  await line.fill('0 */6 * *')
  await page.locator('.field .wrong').waitFor(WAIT)
  expect(await page.locator('.preview .times').count()).toBe(0)
  await line.fill('7 1-3 * * 1-5')
  await page.locator('.preview').getByText('7 1-3 * * 1-5, for at most 2 h.').waitFor(WAIT)
  await expect.poll(() => page.locator('.preview .times li').count(), WAIT).toBe(5)
  expect(asked).toEqual([])
})

test('refused fields say why in the form, and the first one has the focus', { timeout: LONG }, async () => {
  const { page, state } = await formAt('/schedules/new')
  state.refusal = {
    status: 400,
    json: {
      error: 'x',
      code: 'invalid_request',
      details: [
        { field: 'name', message: 'x' },
        { field: 'waves.0.targets', message: 'x' },
        { field: 'timezone', message: 'le nom d’un fuseau horaire, comme Europe/Paris' },
      ],
    },
  }
  await page.getByRole('button', { name: 'Take The rest out of wave 1' }).click()
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByText('From 1 to 100 characters.').waitFor(WAIT)
  await page.getByText('Choose at least one target.').waitFor(WAIT)
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('name')), WAIT).toBe('name')
  expect(path(page)).toBe('/schedules/new')
  // Each error goes away while its field is corrected, and the summary with the last of them.
  await page.keyboard.type('N')
  await page.getByText('From 1 to 100 characters.').waitFor({ state: 'detached', ...WAIT })
  expect(await page.getByLabel('Name').getAttribute('aria-invalid')).toBe('false')
  await page.getByText('Choose at least one target.').waitFor(WAIT)
  await add(page, 1, 'lxc:101')
  await page.getByText('Choose at least one target.').waitFor({ state: 'detached', ...WAIT })
  await page.locator('.preview .problem').waitFor(WAIT)
  await page.getByLabel('Time zone').fill('Europe/Paris')
  await page.locator('.preview .problem').waitFor({ state: 'detached', ...WAIT })
  expect(await page.locator('.wrong').count()).toBe(0)
})

test('stopped containers and templates are marked, with what a run does with them', { timeout: LONG }, async () => {
  const { page } = await formAt('/schedules/new', scheduleOf(), [
    told('lxc:104', 'old', { state: 'stopped' }),
    told('lxc:900', 'base', { state: 'stopped', findings: [finding('container_template')] }),
  ])
  await page.getByRole('button', { name: 'Take The rest out of wave 1' }).click()
  const options = page.getByLabel('Add a target to wave 1').locator('option')
  await expect
    .poll(() => options.allTextContents(), WAIT)
    .toEqual(expect.arrayContaining(['web', 'old (stopped)', 'base (template)']))
  await add(page, 1, 'lxc:104')
  await page.getByText('A container that is stopped when its wave begins is left alone').waitFor(WAIT)
  expect(await page.getByText('A template never runs').count()).toBe(0)
  await add(page, 1, 'lxc:900')
  await page.getByText('A template never runs: it is always left alone.').waitFor(WAIT)
  expect(await chips(page, 1)).toEqual(['old', 'base'])
  expect(await page.locator('.chip .still').allTextContents()).toEqual(['stopped', 'template'])
})

test('a schedule of security updates alone names the targets that never get any from it', {
  timeout: LONG,
}, async () => {
  const archive = { ...told('lxc:121', 'archive'), manager: 'pacman' as const }
  const waves = [
    { targets: ['lxc:101', 'lxc:121'], pause_minutes: 0 },
    { targets: 'rest' as const, pause_minutes: 0 },
  ]
  const { page } = await formAt(`/schedules/${SCHEDULE}`, scheduleOf({ waves, on_failure: 'stop' }), [archive])
  const warning = page.locator('.preview').getByText('Left out: archive. The package manager there')
  await page.locator('.preview').getByText('Installs all updates').waitFor(WAIT)

  expect(await warning.count()).toBe(0)
  await page.locator('label').filter({ hasText: 'Security only' }).click()
  await warning.waitFor(WAIT)
  expect(await warning.textContent()).toContain('The other targets are upgraded, and each run will say so.')
})

test('only what was changed is sent, and unsaved changes are guarded', { timeout: LONG }, async () => {
  const { page, asked } = await formAt(`/schedules/${SCHEDULE}`)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Nothing has changed.').waitFor(WAIT)
  await page.getByLabel('Name').fill('Every night')
  await page.getByText('Unsaved changes').waitFor(WAIT)
  await follow(page, '/account')
  await page.getByText('Leave without saving?').waitFor(WAIT)
  await page.keyboard.press('Escape')
  expect(path(page)).toBe(`/schedules/${SCHEDULE}`)
  await page.getByRole('button', { name: 'Save' }).click()
  await expect.poll(() => path(page), WAIT).toBe('/schedules')
  expect(asked).toEqual([{ method: 'PATCH', path: `/${SCHEDULE}`, body: { name: 'Every night' } }])
})

test('a restart of the host needs a wave with the host, and the password where the service wants it', {
  timeout: LONG,
}, async () => {
  const { page, state, asked } = await formAt(`/schedules/${SCHEDULE}`)
  state.refusal = { status: 403, json: { error: 'x', code: 'proof_required' } }
  const allow = page.locator('label').filter({ hasText: 'If it must' })
  await allow.click()
  await page.getByRole('button', { name: 'Take Host out of wave 3' }).click()
  await page.getByText('Possible where a wave names the host.').waitFor(WAIT)
  await add(page, 3, 'host')
  await page.getByRole('button', { name: 'Save' }).click()
  const password = page.locator('dialog input[type=password]')
  await password.waitFor(WAIT)
  await page.keyboard.press('Escape')
  await password.waitFor({ state: 'detached', ...WAIT })
  expect(path(page)).toBe(`/schedules/${SCHEDULE}`)
  await page.getByRole('button', { name: 'Save' }).click()
  await password.waitFor(WAIT)
  state.refusal = undefined
  await password.fill('demo')
  await page.keyboard.press('Enter')
  await expect.poll(() => path(page), WAIT).toBe('/schedules')
  const change = { reboot: 'if_required' }
  expect(asked.map(({ body }) => body)).toEqual([change, change, { ...change, password: 'demo' }])
})

test('the address to call is never shown: it is replaced or removed', { timeout: LONG }, async () => {
  const { page, asked } = await formAt(`/schedules/${SCHEDULE}`, scheduleOf({ ping_url_set: true }))
  await page.getByText('An address is stored. It cannot be read back.').waitFor(WAIT)
  await page.getByRole('button', { name: 'Remove the address' }).click()
  await page.getByText('The address will be removed.').waitFor(WAIT)
  await page.getByRole('button', { name: 'Save' }).click()
  await expect.poll(() => path(page), WAIT).toBe('/schedules')
  expect(asked.map(({ body }) => body)).toEqual([{ ping_url: null }])
})

test('a schedule is made by the keyboard alone', { timeout: LONG }, async () => {
  const { page, asked } = await formAt('/schedules/new')
  await page.locator('h1').focus()
  await tabTo(page, '')
  await page.keyboard.type('Night')
  await page.getByLabel('Add a target to wave 1').waitFor({ state: 'detached', ...WAIT })
  await page.getByLabel('Begins nothing new after').focus()
  await tabTo(page, 'Take The rest out of wave 1')
  await page.keyboard.press('Enter')
  await expect.poll(() => focused(page), WAIT).toBe('Add a target to wave 1')
  await page.keyboard.type('db')
  await tabTo(page, 'Add a wave')
  await page.keyboard.press('Enter')
  await expect.poll(() => focused(page), WAIT).toBe('Add a target to wave 2')
  await tabTo(page, 'Remove wave 2', 'Shift+Tab')
  await page.keyboard.press('Enter')
  await expect.poll(() => focused(page), WAIT).toBe('Remove wave 1')
  await page.getByLabel('Name').focus()
  await page.keyboard.press('Enter')
  await expect.poll(() => path(page), WAIT).toBe('/schedules')
  expect(asked).toEqual([expect.objectContaining({ method: 'POST', body: expect.objectContaining({ name: 'Night' }) })])
})

test('the focus moves before the next key, and never away from where somebody went', { timeout: LONG }, async () => {
  const { page } = await formAt('/schedules/new')
  expect(await focusedAtOnce(page.getByRole('button', { name: 'Take The rest out of wave 1' }))).toBe(
    'Add a target to wave 1',
  )
  expect(await focusedAtOnce(page.getByRole('button', { name: 'Add a wave' }))).toBe('Add a target to wave 2')
  expect(await focusedAtOnce(page.getByRole('button', { name: 'Move wave 2 up' }))).toBe('Move wave 1 up')
  expect(await focusedAtOnce(page.getByRole('button', { name: 'Remove wave 2' }))).toBe('Remove wave 1')
})
