import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { startServer } from '../../serve/server.ts'
import { startForge } from '../forge.ts'
import { withHistory } from '../functions/releases/versioned-forge.ts'
import { LONG_ID, moduleWorld } from './module-world.ts'
import type { Looker } from './reboot-looks.ts'

/** Starts a service of its own with many modules, and takes their pictures in every window that `each` opens. */
export async function lookAtModules(
  host: Readonly<Record<string, string>>,
  each: (look: (page: Page, open: (url: string) => Promise<Looker>) => Promise<void>) => Promise<void>,
): Promise<void> {
  const data = await mkdtemp(join(tmpdir(), 'ops-panel-looks-'))
  const on = withHistory(await startForge())
  const world = await moduleWorld(on, data)
  const server = await startServer({ ...host, PANEL_PORT: '0', PANEL_LOG_LEVEL: 'error', ...world })
  try {
    await each(async (page, open) => look(page, await open(server.url)))
  } finally {
    await server.stop()
    await on.forge.close()
    await rm(data, { recursive: true, force: true })
  }
}

/** The lists, the questions before an installation and a return, pages of modules, and the forge in the settings. */
async function look(page: Page, { go, takeAll }: Looker): Promise<void> {
  const dialog = page.locator('dialog')
  const closed = async () => {
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  }
  const row = (name: string) => page.locator('.modules > li', { has: page.locator('strong', { hasText: name }) })
  await go('/modules')
  await row('Tool 1').first().waitFor()
  await takeAll('modules-list')
  await page.locator('details.core > summary').last().click()
  await takeAll('modules-left-out', 'section:last-child > details.core > div:nth-of-type(4)')
  await page.locator('input.filter').fill('LastenausG')
  await takeAll('modules-offered', '.modules > li:has-text("a-fork") >> nth=0')
  await page.locator('input.filter').fill('nothing like it')
  await takeAll('modules-no-match')
  await page.locator('input.filter').fill('')

  const older = row('Older').first()
  await older.locator('.button.primary').click()
  await dialog.locator('.changes summary').click()
  await takeAll('module-update')
  await dialog.locator('select').selectOption('v2.0.0-beta')
  await dialog.locator('.changes summary').click()
  await takeAll('module-update-tag')
  await closed()
  await older.locator('[popovertarget]').click()
  await takeAll('module-menu', '.modules > li:has(strong:text-is("Older"))')
  await page.locator('.menu:popover-open button').first().click()
  await dialog.locator('.changes').waitFor()
  await takeAll('module-return')
  await closed()
  await row('Tool 1').first().locator('.button').click()
  await takeAll('module-install')
  await closed()
  await page.locator('input.filter').fill('a-fork')
  await row('a-fork').first().locator('button').click()
  await takeAll('module-install-code')
  await closed()

  for (const [name, selector] of [
    ['watch', 'tbody tr'],
    ['framed', 'iframe'],
    ['bare', '.problem, .empty'],
    [LONG_ID, 'h1'],
    ['looping', '.problem'],
  ] as const) {
    await go(`/modules/${name}`)
    await page.locator(selector).first().waitFor()
    await page.waitForTimeout(500)
    await takeAll(`module-page-${name.slice(0, 8)}`)
  }
}
