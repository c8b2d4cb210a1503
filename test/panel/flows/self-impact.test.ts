import type { Page, Route } from 'playwright-core'
import { expect, test } from 'vitest'
import { selfImpactFindings, standingFindings } from '../../../functions/restarts/standing-findings.ts'
import { type Role, standingAt } from '../../../functions/restarts/standing.ts'
import { startDemo } from '../../runtime/demo.ts'
import { startService } from '../../serve/service.ts'
import { follow, openPage, signIn } from '../browser.ts'
import { armClipping, clippingAt, WIDTHS } from './clipping.ts'
import { CHANGES, planning } from './plan-states.ts'
import { guarding, protectedJob } from './protection-states.ts'
import { answered, ready } from './update-states.ts'

const LONG = 120_000
const WAIT = { timeout: 20_000, interval: 50 }
/** The jobs that the answers name do not exist; services are away. */
const EXPECTED = { expected: /status of (404|409|422|502)|net::ERR_|WebSocket/ }
const LONG_NAME = 'customer-portal-staging-environment-with-a-rather-long-name-001'

/** The panel runs in 118 behind a proxy in 117. */
const STANDING = {
  roles: new Map<string, Set<Role>>([
    ['lxc:118', new Set<Role>(['panel'])],
    ['lxc:117', new Set<Role>(['proxy'])],
  ]),
  places: ['lxc:118'],
  units: new Set<string>(),
}
const impact = (target: string, ...packages: string[]) => selfImpactFindings(standingAt(STANDING, target), packages)
const newer = { name: 'ops-panel', from: '0.2.0', to: '0.3.0', action: 'upgrade', status: 'planned' }

/** Targets in another order than the one of a run; 118 offers a newer panel. */
const STATES = () => [
  { ...ready('host', 'Hôte'), findings: impact('host', 'openssh-server') },
  { ...ready('lxc:118', 'panel'), findings: standingFindings(standingAt(STANDING, 'lxc:118'), [newer]) },
  { ...ready('lxc:117', LONG_NAME), findings: impact('lxc:117', 'nginx') },
  ready('lxc:101', 'web'),
]

async function shown(path: string, locale = 'fr-FR') {
  const service = await startService(await startDemo())
  const page = await openPage(`${service.url}${path}`, { ...EXPECTED, locale, reducedMotion: 'reduce' })
  const checks = await answered(page, STATES(), CHANGES)
  const plans = await planning(page)
  await page.route('**/api/updates/plans', async (route) => {
    const { target } = route.request().postDataJSON()
    plans.state.rest = { findings: STATES().find((each) => each.target === target)?.findings ?? [] }
    return route.fallback()
  })
  await signIn(page)
  return { page, checks, plans, sheet: page.locator('dialog.drawer') }
}

const isReady = (page: Page) =>
  expect.poll(() => page.locator('dialog.drawer .button.primary').getAttribute('aria-disabled'), WAIT).toBe('false')

test('a newer panel is on the dashboard and in the settings, each with its plan', { timeout: LONG }, async () => {
  const { page, plans, sheet } = await shown('/')
  const entry = page.locator('.attention li').filter({ hasText: 'Une version plus récente du panneau' })
  await entry.getByText('0.3.0 (0.2.0 installée)').waitFor(WAIT)
  await entry.getByRole('button', { name: 'Examiner' }).click()
  await sheet.waitFor(WAIT)
  await isReady(page)
  expect(plans.asked.at(-1)?.target).toBe('lxc:118')
  await sheet.getByText('La mise à jour change le panneau lui-même').waitFor(WAIT)
  expect(await sheet.locator('.cautions').textContent()).toBe(
    'Ce panneau peut se couper un moment\u00a0: l’exécution continue, et cette page revient d’elle-même.',
  )
  await page.keyboard.press('Escape')

  await follow(page, '/settings')
  const about = page.getByRole('region', { name: 'À propos' })
  await about.getByText('0.2.0', { exact: true }).waitFor(WAIT)
  await about.getByText('0.3.0 (0.2.0 installée)').waitFor(WAIT)
  await about.getByRole('button', { name: 'Examiner la mise à jour de panel' }).click()
  await sheet.waitFor(WAIT)
  await isReady(page)
  expect(plans.asked.at(-1)?.target).toBe('lxc:118')
})

test('the dashboard says what an upgrade cuts, and shows its plan', { timeout: LONG }, async () => {
  const { page, checks, plans, sheet } = await shown('/')
  for (const check of checks.state.checks) if (check.target !== 'lxc:101') check.state = 'attention'
  await page.reload()
  const sentences = page.locator('.attention li').filter({ hasText: 'coupe' })
  await expect
    .poll(() => sentences.locator('.grow').allTextContents(), WAIT)
    .toEqual([
      'La mise à jour de l’hôte coupe un moment l’accès du panneau à l’hôte.',
      'La mise à jour de panel coupe le panneau un moment.',
      `La mise à jour de ${LONG_NAME} coupe le panneau un moment.`,
    ])
  await sentences.first().getByRole('button', { name: 'Examiner' }).click()
  await sheet.waitFor(WAIT)
  await isReady(page)
  expect(plans.asked.at(-1)?.target).toBe('host')
})

test('the settings say that no newer panel is known', { timeout: LONG }, async () => {
  const { page, checks } = await shown('/')
  for (const check of checks.state.checks) check.findings = []
  await page.reload()
  await follow(page, '/settings')
  const about = page.getByRole('region', { name: 'À propos' })
  await about.getByText('Aucune n’est connue.').waitFor(WAIT)
  await about.getByText('MIT').waitFor(WAIT)
  expect(await about.getByRole('button').count()).toBe(0)
})

test('in a run of several the ground of the panel comes last, and its sheet says so and what is away', {
  timeout: LONG,
}, async () => {
  const { page, sheet } = await shown('/updates')
  await page.getByRole('button', { name: 'Tout examiner' }).click()
  await sheet.waitFor(WAIT)
  await isReady(page)

  const rows = sheet.locator('.many > li')
  expect(await rows.locator('.named > .cut').allTextContents()).toEqual(['web', LONG_NAME, 'panel', 'Hôte'])
  await sheet.getByText(`car le panneau en dépend\u00a0: ${LONG_NAME}, panel, Hôte.`).waitFor(WAIT)
  expect(await rows.evaluateAll((all) => all.map((row) => row.querySelector('.tags')?.textContent))).toEqual([
    expect.not.stringContaining('Coupe'),
    expect.stringContaining('Coupe ce panneau'),
    expect.stringContaining('Coupe ce panneau'),
    expect.stringContaining('Coupe l’accès à l’hôte'),
  ])
  const cautions = sheet.locator('.cautions')
  expect(await cautions.textContent()).toContain('Ce panneau et l’accès à l’hôte peuvent se couper un moment')
  for (const name of ['panel', LONG_NAME]) await sheet.getByRole('checkbox', { name: `Inclure ${name}` }).uncheck()
  expect(await cautions.textContent()).toContain('L’accès à l’hôte peut se couper un moment')
  await sheet.getByText('car le panneau en dépend\u00a0: Hôte.').waitFor(WAIT)
  await sheet.getByRole('checkbox', { name: 'Inclure Hôte' }).uncheck()
  expect(await cautions.count()).toBe(0)
  expect(await sheet.getByText('car le panneau en dépend').count()).toBe(0)
})

test('while an upgrade of its ground takes the service away, every page says why, and comes back', {
  timeout: LONG,
}, async () => {
  const { page } = await shown('/logs')
  await guarding(page, protectedJob({ target: 'lxc:118', status: 'running', outcome: null, phase: 'upgrading' }))
  await page
    .getByText('1 tâche en cours')
    .first()
    .waitFor({ ...WAIT, state: 'attached' })
  const cut = (route: Route) => route.abort('connectionrefused')
  await page.route('**/api/**', cut)

  const why = page.locator('.away').getByText('La mise à jour de panel coupe le panneau un moment.')
  await page.locator('.away p').waitFor(WAIT)
  await why.waitFor(WAIT)
  await follow(page, '/containers')
  await page.getByRole('heading', { name: 'Conteneurs' }).waitFor(WAIT)
  await why.waitFor(WAIT)
  expect(await page.getByRole('alert').count()).toBe(0)
  await page.unroute('**/api/**', cut)
  await page.getByText('Le service répond à nouveau.').waitFor(WAIT)
  await expect.poll(() => why.count(), WAIT).toBe(0)
  await page.getByRole('row').filter({ hasText: 'web' }).waitFor(WAIT)
})

test.each(['fr-FR', 'en-GB'])(
  '%s: nothing about the ground of the panel is clipped',
  { timeout: LONG },
  async (locale) => {
    const { page, sheet } = await shown('/', locale)
    await page.locator('.attention li').filter({ hasText: '0.3.0' }).waitFor(WAIT)
    await armClipping(page)
    const found: string[] = []
    const look = async (state: string) => {
      for (const fault of await clippingAt(page, WIDTHS)) found.push(`${state}, ${fault}`)
    }
    await look('the dashboard')
    await follow(page, '/settings')
    await page.locator('.about').waitFor(WAIT)
    await look('the settings')
    await follow(page, '/updates')
    await page.locator('.head .primary').click()
    await sheet.waitFor(WAIT)
    await isReady(page)
    await look('the sheet of several plans')
    expect(found).toEqual([])
  },
)
