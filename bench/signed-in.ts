import type { Browser, BrowserContext } from 'playwright-core'
import { startDemoHost } from '../demo/host.ts'
import type { Place } from '../demo/place.ts'
import { startService } from '../test/host/service.ts'

/** A browser window that is signed in to a service. */
export interface SignedIn {
  context: BrowserContext
  /** The address of the service, with the slash at its end. */
  url: string
  /** The data folder of the service. */
  folder: string
  stop(): Promise<void>
}

/** Starts the built service with an imitated host that has these containers, and signs a browser in. */
export async function startSignedIn(browser: Browser, containers: Place[]): Promise<SignedIn> {
  const host = await startDemoHost({ containers })
  const service = await startService({
    as: null,
    env: {
      PANEL_SSH_HOST: `127.0.0.1:${host.port}`,
      PANEL_SSH_USERNAME: host.service.username,
      PANEL_SSH_PASSWORD: host.service.password,
    },
  })
  const context = await browser.newContext({ locale: 'fr-FR' })
  const page = await context.newPage()
  await page.goto(service.url)
  await page.locator('input[name=username]').fill('demo')
  await page.locator('input[name=password]').fill('demo')
  await page.keyboard.press('Enter')
  await page.locator('.shell').waitFor()
  await page.close()
  const stop = async () => {
    await service.stop()
    await host.close()
  }
  return { context, url: `${service.url}/`, folder: service.folder, stop }
}
