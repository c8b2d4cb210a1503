import { expect, test } from 'vitest'
import { LONG_USER, longNames } from '../../../demo/long-names.ts'
import { startDemo } from '../../runtime/demo.ts'
import { startService } from '../../serve/service.ts'
import { follow, openPage } from '../browser.ts'
import { armClipping } from './clipping.ts'
import { look } from './page-findings.ts'
import { guarding, JOB, protectedJob } from './protection-states.ts'

const LONG = 240_000
const WAIT = { timeout: 20_000, interval: 50 }
/** The host is away for a moment, and the jobs that the answers name do not exist. */
const EXPECTED = { expected: /status of (404|409|502)|net::ERR_|WebSocket/ }
const LONG_PACKAGE = 'linux-headers-6.1.0-37-cloud-amd64-with-a-very-long-flavour-name'
const gone = (id: number, name: string) =>
  `Le conteneur ${id} (${name}) tournait avant le redémarrage et ne tourne plus.`

/** The record of a reboot, in the place of one of an upgrade. */
const rebootJob = (rest: Parameters<typeof protectedJob>[0] = {}) =>
  protectedJob({ kind: 'reboot', target: 'host', protection: null, snapshot: null, outcome: null, ...rest }, 10)

test.each(['fr-FR', 'en-GB'])(
  '%s: a reboot of the host has no fault at any width',
  { timeout: LONG },
  async (locale) => {
    const names = longNames()
    const demo = await startDemo({ ...names, host: { reboot: [LONG_PACKAGE, 'dbus'] }, rebootMs: 30_000 })
    const service = await startService(demo)
    const page = await openPage(service.url, { ...EXPECTED, locale, reducedMotion: 'reduce' })
    await page.locator('input[name=username]').fill(LONG_USER)
    await page.locator('input[name=password]').fill('demo')
    await page.keyboard.press('Enter')
    await page.locator('.attention .reasons').waitFor(WAIT)
    await armClipping(page)
    const found: string[] = []

    await look(page, 'the dashboard', found)
    await follow(page, '/containers')
    await page.locator('.host-reboot').waitFor(WAIT)
    await look(page, 'the containers', found)
    await page.locator('.host-bar .button').click()
    await page.locator('dialog.question input').fill('another-name')
    await look(page, 'the question', found)
    await page.keyboard.press('Escape')

    const { state } = await guarding(page, rebootJob())
    const [one, two, three] = names.containers.map(({ name }) => name)
    const warnings = [gone(101, one ?? ''), gone(102, two ?? ''), gone(103, three ?? '')]
    const running = { status: 'running' as const }
    for (const [name, record] of [
      ['waiting', rebootJob(running)],
      ['back', rebootJob()],
      ['back with missing containers', rebootJob({ warnings })],
      [
        'back without a list',
        rebootJob({ warnings: ['La liste des conteneurs qui tournaient avant le redémarrage manque.'] }),
      ],
      ['missing', rebootJob({ status: 'error', exit_code: null, error_code: 'reboot_missing' })],
      ['not back', rebootJob({ status: 'error', exit_code: null, error_code: 'host_not_back' })],
      ['refused by the rule', rebootJob({ status: 'error', exit_code: null, error_code: 'systemctl_not_allowed' })],
    ] as const) {
      state.record = record
      await follow(page, '/audit')
      await follow(page, `/updates/${JOB}`)
      await page.locator(record.status === 'error' ? '.steps .fail' : '.steps').waitFor(WAIT)
      await look(page, name, found)
    }
    state.record = rebootJob({ warnings })
    await follow(page, '/')
    await page.locator('.attention li').nth(1).waitFor(WAIT)
    await look(page, 'the dashboard afterwards', found)
    state.record = rebootJob(running)
    await page.locator('.away .button').waitFor(WAIT)
    await look(page, 'the dashboard meanwhile', found)
    await page.route('**/api/**', (route) => route.abort('connectionrefused'))
    await page.locator('.away .status.run').waitFor(WAIT)
    await look(page, 'the dashboard without the service', found)
    expect(found).toEqual([])
  },
)

test.each([
  ['reboot_missing', 'L’hôte n’a pas redémarré en 15 minutes'],
  ['host_not_back', 'L’hôte ne répond plus depuis son redémarrage'],
])('%s is told on the page of the reboot and on the dashboard', { timeout: LONG }, async (code, sentence) => {
  const service = await startService(await startDemo())
  const page = await openPage(service.url, EXPECTED)
  // The demo has run for longer than this reboot.
  await guarding(page, rebootJob({ status: 'error', exit_code: null, error_code: code }))
  await page.locator('input[name=username]').fill('demo')
  await page.locator('input[name=password]').fill('demo')
  await page.keyboard.press('Enter')
  const entry = page.locator('.attention li').filter({ hasText: sentence })
  await entry.waitFor(WAIT)
  await entry.getByRole('link', { name: 'Voir' }).click()
  await page.locator('.problem').getByText(sentence).waitFor(WAIT)
  expect(await page.locator('.steps .done').filter({ hasText: 'Retour' }).count()).toBe(0)
})

test('a panel that stays away with its host for more than 15 minutes sends people to the console', {
  timeout: LONG,
}, async () => {
  const service = await startService(await startDemo())
  const page = await openPage(service.url, EXPECTED)
  await guarding(page, rebootJob({ status: 'running' }))
  await page.locator('input[name=username]').fill('demo')
  await page.locator('input[name=password]').fill('demo')
  await page.keyboard.press('Enter')
  await page.locator('.away .button').waitFor(WAIT)
  await page.route('**/api/**', (route) => route.abort('connectionrefused'))
  await page.locator('.away').getByText('cette page revient d’elle-même. Rien n’est perdu.').waitFor(WAIT)

  await page.evaluate(() => {
    const began = Date.now()
    Date.now = () => began + 16 * 60_000
    document.dispatchEvent(new Event('visibilitychange'))
  })
  await page.locator('.away').getByText('Regardez la console de l’hôte.').waitFor(WAIT)
})
