// Takes pictures of every page, in the demo's world, into dist/pictures: to be looked at. The README's are four of them.
//   node test/panel/looks.ts [page…] [--widths=320,900] [--themes=dark] [--languages=en] [--long]
// Besides the pages there are `plan`, the plan of one container with a removal, `plans`, those of all targets, `selection`, some selected
// targets, `protection` with its dialog, and `broken`, a container that its upgrade has broken, with its row. `applications`, `factors`,
// `reboot` and `module-states`, only when they are asked for, are updates of applications, second factors with tokens and people, a reboot of the
// host, each from its question to its end, and modules in every state. With --long, names are as long as they may be.
import { mkdirSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Browser, chromium, type Page } from 'playwright-core'
import { createPanel } from '../../client/index.ts'
import { fleet, fleetHost } from '../../demo/fleet.ts'
import { startDemoHost } from '../../demo/host.ts'
import { startDemoHypervisor } from '../../demo/hypervisor.ts'
import { longNames } from '../../demo/long-names.ts'
import { prepare } from '../../demo/prepare.ts'
import { ROUTES } from '../../panel/routes.ts'
import { startServer } from '../../serve/server.ts'
import { CHROMIUM } from '../chromium.ts'
import { lookAtFactors } from './access-looks.ts'
import { lookAtApplications } from './application-looks.ts'
import { lookAtModules } from './module-looks.ts'
import { type Looker, lookAtReboot } from './reboot-looks.ts'

const { values: options, positionals: asked } = parseArgs({
  allowPositionals: true,
  options: {
    widths: { type: 'string', default: '390,820,1440' },
    themes: { type: 'string', default: 'dark,light' },
    languages: { type: 'string', default: 'fr,en' },
    long: { type: 'boolean', default: false },
  },
})
const WIDTHS = options.widths.split(',').map(Number)
const THEMES = (['dark', 'light'] as const).filter((each) => options.themes.includes(each))
const LANGUAGES = { fr: 'fr-FR', en: 'en-GB' } as const
const LOOKED = (['fr', 'en'] as const).filter((each) => options.languages.includes(each))
const HEIGHT = 900
/** Until figures have moved a little, and the demo's first upgrade is over. */
const LIVED_MS = options.long ? 4_000 : 40_000
const SETTLED_MS = 1_500

const folder = 'dist/pictures'
mkdirSync(folder, { recursive: true })
const data = await mkdtemp(join(tmpdir(), 'ops-panel-looks-'))
const names = options.long ? longNames() : { containers: fleet(), host: fleetHost() }
const { containers } = names
const host = await startDemoHost({ ...names, rebootMs: 12_000 })
const hypervisor = await startDemoHypervisor(containers)
const ssh = {
  PANEL_SSH_HOST: `127.0.0.1:${host.port}`,
  PANEL_SSH_USERNAME: host.service.username,
  PANEL_SSH_PASSWORD: host.service.password,
  PANEL_SSH_HOST_KEY: host.hostKey,
}
/** The service for the pictures, and one that is not installed yet. */
const [server, empty] = await Promise.all([
  startServer({
    PANEL_PORT: '0',
    PANEL_DATA_DIR: join(data, 'installed'),
    PANEL_LOG_LEVEL: 'info',
    ...ssh,
  }),
  startServer({ PANEL_PORT: '0', PANEL_DATA_DIR: join(data, 'empty'), PANEL_LOG_LEVEL: 'warn' }),
])
const token = await readFile(join(data, 'empty', 'setup-token'), 'utf8')
const browser = await chromium.launch({
  executablePath: CHROMIUM,
  args: ['--no-sandbox'],
})
try {
  await prepare(server.url, hypervisor)
  await startRun(server.url)
  const scheduleRun = await schedule(server.url)
  const broken = await breakOne(server.url)
  if (asked.includes('module-states'))
    await lookAtModules(ssh, async (look) => {
      for (const language of LOOKED)
        for (const theme of THEMES) {
          const context = await browser.newContext({ locale: LANGUAGES[language], reducedMotion: 'reduce' })
          const page = await context.newPage()
          await look(page, (url) => opened(page, url, language, theme))
          await context.close()
        }
    })
  for (const language of asked.join() === 'module-states' ? [] : LOOKED)
    for (const theme of THEMES) {
      await lookAtWizard(browser, language, theme)
      await look(browser, language, theme, { broken, scheduleRun })
    }
} finally {
  await browser.close()
  await Promise.all([server.stop(), empty.stop()])
  hypervisor.close()
  await host.close()
  await rm(data, { recursive: true, force: true })
}

/** Whether the pictures of a page are asked for. */
function isAsked(name: string): boolean {
  return asked.length === 0 || asked.includes(name)
}

/** Upgrades two containers together, so that there is a run to look at. */
async function startRun(url: string): Promise<void> {
  const panel = createPanel({ url, WebSocket: false })
  await panel.signIn('demo', 'demo')
  const plans: string[] = []
  for (const { id } of containers.filter(({ running, upgradable }) => running && upgradable.length > 0)) {
    if (plans.length === 2) break
    const target = `lxc:${id}`
    const plan = await panel.api('POST /api/updates/plans', { body: { target } }).catch(() => undefined)
    if (plan) plans.push(plan.id)
  }
  await panel.api('POST /api/updates/runs', { body: { plans } })
  await panel.signOut()
}

/** Makes two schedules and a channel; returns the id of a run. */
async function schedule(url: string): Promise<string | undefined> {
  if (!/^(schedules?|scheduleRun|notifications)?$/.test(asked[0] ?? '')) return undefined
  const panel = createPanel({ url, WebSocket: false })
  await panel.signIn('demo', 'demo')
  const waves = [
    { targets: ['lxc:101', 'lxc:102'], pause_minutes: 30 },
    { targets: 'rest' as const, pause_minutes: 15 },
    { targets: ['host'], pause_minutes: 0 },
  ]
  const body = { cron: '30 2 * * *', timezone: 'Europe/Paris', waves }
  await panel.api('POST /api/schedules', { body: { ...body, name: 'Nightly upgrades', action: 'upgrade' } })
  const { id } = await panel.api('POST /api/schedules', {
    body: { ...body, name: 'Check all', cron: '0 */6 * * *', action: 'check' },
  })
  const { run_id } = await panel.api('POST /api/schedules/{id}/run', { params: { id } })
  const settings = { url: 'http://127.0.0.1:9', topic: 'ops-panel' }
  await panel.api('POST /api/notifications/channels', { body: { name: 'Phone', kind: 'ntfy', settings } })
  await panel.signOut()
  return run_id
}

/** The address that the picture of a page shows. */
function addressOf(name: string, path: string, scheduleRun: string | undefined): string {
  if (name === 'terminal') return '/terminal?target=lxc:101'
  if (name === 'schedule') return '/schedules/new'
  return name === 'scheduleRun' ? `/schedules/runs/${scheduleRun}` : path
}

/** Upgrades the container that does not survive it; returns the id of the job, unless the fleet has no such container. */
async function breakOne(url: string): Promise<string | undefined> {
  if (!isAsked('broken')) return undefined
  const panel = createPanel({ url, WebSocket: false })
  await panel.signIn('demo', 'demo')
  const target = 'lxc:112'
  const plan = await panel.api('POST /api/updates/plans', { body: { target } }).catch(() => undefined)
  const job = plan && (await panel.api('POST /api/updates/run', { body: { target, plan: plan.id } }))
  await panel.signOut()
  return job?.job_id
}

async function lookAtWizard(
  browser: Browser,
  language: keyof typeof LANGUAGES,
  theme: (typeof THEMES)[number],
): Promise<void> {
  if (!isAsked('setup')) return
  const context = await browser.newContext({ locale: LANGUAGES[language], colorScheme: theme, reducedMotion: 'reduce' })
  const page = await context.newPage()
  await page.goto(`${empty.url}/#token=${token.trim()}`)
  const takeAll = async (name: string) => {
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: HEIGHT })
      await page.waitForTimeout(200)
      await page.screenshot({ path: `${folder}/${name}-${language}-${theme}-${width}.png` })
    }
  }
  await page.locator('input[name=ssh_host]').fill(`127.0.0.1:${host.port}`)
  await page.locator('input[name=ssh_username]').fill(host.service.username)
  await page.locator('input[name=ssh_password]').fill(host.service.password)
  await takeAll('setup-1')
  await page.keyboard.press('Enter')
  await page.locator('.fingerprint').waitFor()
  await takeAll('setup-2')
  await context.close()
}

interface Made {
  broken: string | undefined
  /** A run of a schedule. */
  scheduleRun: string | undefined
}

async function look(
  browser: Browser,
  language: keyof typeof LANGUAGES,
  theme: (typeof THEMES)[number],
  { broken, scheduleRun }: Made,
): Promise<void> {
  const context = await browser.newContext({ locale: LANGUAGES[language], colorScheme: theme, reducedMotion: 'reduce' })
  const page = await context.newPage()
  const { go, takeAll } = await opened(page, server.url, language, theme)
  await go('/')
  await page.waitForTimeout(LIVED_MS)
  for (const { page: name, path } of ROUTES) {
    if (name === 'setup' || name === 'signIn' || !isAsked(name)) continue
    if (name === 'scheduleRun' && scheduleRun === undefined) continue
    if (name === 'job' || name === 'run') await go('/updates?tab=runs')
    const made = page.locator(`.history tbody a[href^="${name === 'run' ? '/runs/' : '/updates/'}"]`).first()
    if (name === 'run' && (await made.count()) === 0) continue
    if (name === 'job' || name === 'run') {
      await made.click()
      await page.waitForTimeout(SETTLED_MS)
    } else await go(addressOf(name, path, scheduleRun))
    await takeAll(name)
  }
  await lookAtProtection(page, { go, takeAll, broken })
  await go('/updates')
  await lookAtPlans(page, takeAll)
  if (asked.includes('applications')) await lookAtApplications(page, { go, takeAll })
  if (asked.includes('factors')) await lookAtFactors(page, { go, takeAll })
  if (asked.includes('reboot')) await lookAtReboot(page, { go, takeAll })
  await context.close()
}

/** Signs in at a service, in a language and a theme, and returns the means to take pictures. */
async function opened(
  page: Page,
  url: string,
  language: keyof typeof LANGUAGES,
  theme: (typeof THEMES)[number],
): Promise<Looker> {
  await page.setViewportSize({ width: 1440, height: HEIGHT })
  await page.goto(url)
  const take = async (name: string, width: number) => {
    await page.screenshot({ path: `${folder}/${name}-${language}-${theme}-${width}.png` })
  }
  const takeAll = async (name: string, seen?: string) => {
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: HEIGHT })
      await page.waitForTimeout(200)
      if (seen) await page.locator(seen).scrollIntoViewIfNeeded()
      await take(name, width)
    }
    await page.setViewportSize({ width: 1440, height: HEIGHT })
  }
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: HEIGHT })
    await take('sign-in', width)
  }
  await page.locator('input[name=username]').fill('demo')
  await page.locator('input[name=password]').fill('demo')
  await page.keyboard.press('Enter')
  await page.locator('.shell').waitFor()
  const go = async (path: string) => {
    await page.evaluate(`{
      const link = Object.assign(document.createElement('a'), { href: ${JSON.stringify(path)} })
      document.body.append(link)
      link.click()
      link.remove()
    }`)
    await page.waitForTimeout(SETTLED_MS)
  }
  await go('/account')
  await page.locator(`label:has([value=${theme}])`).click()
  await page.locator(`label:has([value=${language}])`).click()
  return { go, takeAll }
}

interface Looking extends Looker {
  /** The job whose upgrade has broken its container. */
  broken: string | undefined
}

/** The tab of the policies with a dialog, and an upgrade that broke its container, with the question before its rollback. */
async function lookAtProtection(page: Page, { go, takeAll, broken }: Looking): Promise<void> {
  if (isAsked('protection')) {
    await go('/updates?tab=protection')
    await page.locator('.guarded .disclose').first().click()
    await takeAll('protection')
    await page.locator('.guarded > li > .button:not(.plain)').first().click()
    for (const n of [0, 3]) await page.locator('.probes .add .button').nth(n).click()
    await takeAll('protection-edit')
    await page.keyboard.press('Escape')
  }
  if (broken === undefined) return
  await go('/updates')
  await takeAll('broken-row')
  await go(`/updates/${broken}`)
  await takeAll('broken')
  await page.locator('.button.undo').click()
  await takeAll('broken-sure')
}

/** The sheets of plans, and a selection, on the page of the updates. */
async function lookAtPlans(page: Page, takeAll: (name: string) => Promise<void>): Promise<void> {
  const boxes = page.locator('.targets tr.row .c-check input')
  const sheet = page.locator('dialog.drawer')
  const close = async () => {
    await page.keyboard.press('Escape')
    await sheet.waitFor({ state: 'detached' })
  }
  if (isAsked('plan')) {
    // The container whose upgrade removes packages, if it is there.
    const row = page.locator('.targets tr.row').filter({ hasText: '106' })
    const review = /Examiner|Review/
    await ((await row.count()) > 0 ? row : page).getByRole('button', { name: review }).last().click()
    await page.waitForTimeout(SETTLED_MS)
    await takeAll('plan')
    const removes = sheet.locator('.switch.removes')
    if ((await removes.count()) > 0) {
      await removes.click()
      await page.waitForTimeout(SETTLED_MS)
      await takeAll('plan-removes')
    }
    await close()
  }
  if (isAsked('conffiles')) {
    // The container with a changed configuration file.
    const row = page.locator('.targets tr.row').filter({ hasText: '109' })
    await row
      .getByRole('button', { name: /Examiner|Review/ })
      .last()
      .click()
    await page.waitForTimeout(SETTLED_MS)
    await sheet.getByRole('button', { name: /^Compar/ }).click()
    await sheet.locator('.conffiles summary').click()
    await page.waitForTimeout(SETTLED_MS)
    await sheet.locator('.conffiles').scrollIntoViewIfNeeded()
    await takeAll('conffiles')
    await close()
  }
  if (isAsked('plans')) {
    await page.locator('.head .primary').click()
    await page.waitForTimeout(2 * SETTLED_MS)
    await takeAll('plans')
    await close()
  }
  if (isAsked('selection')) {
    for (const n of [0, 1, 2]) await boxes.nth(n).check()
    await takeAll('selection')
  }
}
