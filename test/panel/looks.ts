// Takes pictures of every page, in the demo's world, into dist/pictures: to be looked at. The README's are four of them.
//   node test/panel/looks.ts [page…] [--widths=320,900] [--themes=dark] [--languages=en] [--long]
// With --long, names are as long as they may be.
import { mkdirSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Browser, chromium } from 'playwright-core'
import { fleet, fleetHost } from '../../demo/fleet.ts'
import { startDemoHost } from '../../demo/host.ts'
import { startDemoHypervisor } from '../../demo/hypervisor.ts'
import { longNames } from '../../demo/long-names.ts'
import { prepare } from '../../demo/prepare.ts'
import { ROUTES } from '../../panel/routes.ts'
import { startServer } from '../../serve/server.ts'
import { CHROMIUM } from '../chromium.ts'

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
const HEIGHT = 900
/** Until figures have moved a little, and the demo's first upgrade is over. */
const LIVED_MS = options.long ? 4_000 : 40_000
const SETTLED_MS = 1_500

const folder = 'dist/pictures'
mkdirSync(folder, { recursive: true })
const data = await mkdtemp(join(tmpdir(), 'ops-panel-looks-'))
const names = options.long ? longNames() : { containers: fleet(), host: fleetHost() }
const { containers } = names
const host = await startDemoHost(names)
const hypervisor = await startDemoHypervisor(containers)
/** The service for the pictures, and one that is not installed yet. */
const [server, empty] = await Promise.all([
  startServer({
    PANEL_PORT: '0',
    PANEL_DATA_DIR: join(data, 'installed'),
    PANEL_LOG_LEVEL: 'info',
    PANEL_SSH_HOST: `127.0.0.1:${host.port}`,
    PANEL_SSH_USERNAME: host.service.username,
    PANEL_SSH_PASSWORD: host.service.password,
    PANEL_SSH_HOST_KEY: host.hostKey,
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
  for (const language of (['fr', 'en'] as const).filter((each) => options.languages.includes(each)))
    for (const theme of THEMES) {
      await lookAtWizard(browser, language, theme)
      await look(browser, language, theme)
    }
} finally {
  await browser.close()
  await Promise.all([server.stop(), empty.stop()])
  hypervisor.close()
  await host.close()
  await rm(data, { recursive: true, force: true })
}

async function lookAtWizard(
  browser: Browser,
  language: keyof typeof LANGUAGES,
  theme: (typeof THEMES)[number],
): Promise<void> {
  if (asked.length > 0 && !asked.includes('setup')) return
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

async function look(browser: Browser, language: keyof typeof LANGUAGES, theme: (typeof THEMES)[number]): Promise<void> {
  const context = await browser.newContext({ locale: LANGUAGES[language], colorScheme: theme, reducedMotion: 'reduce' })
  const page = await context.newPage()
  await page.setViewportSize({ width: 1440, height: HEIGHT })
  await page.goto(server.url)
  const take = async (name: string, width: number) => {
    await page.screenshot({ path: `${folder}/${name}-${language}-${theme}-${width}.png` })
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
  await go('/')
  await page.waitForTimeout(LIVED_MS)
  for (const { page: name, path } of ROUTES) {
    if (name === 'setup' || name === 'signIn' || (asked.length > 0 && !asked.includes(name))) continue
    if (name === 'job' || name === 'run') await go('/updates?tab=runs')
    const made = page.locator(`.history tbody a[href^="${name === 'run' ? '/runs/' : '/updates/'}"]`).first()
    if (name === 'run' && (await made.count()) === 0) continue
    if (name === 'job' || name === 'run') {
      await made.click()
      await page.waitForTimeout(SETTLED_MS)
    } else await go(name === 'terminal' ? '/terminal?target=lxc:101' : path)
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: HEIGHT })
      await page.waitForTimeout(200)
      await take(name, width)
    }
    await page.setViewportSize({ width: 1440, height: HEIGHT })
  }
  await context.close()
}
