import { expect } from 'vitest'
import { createPanel, type Panel } from '../../../client/index.ts'
import { type Applications, OF_RUNNER, OF_VAULTWARDEN, withScript } from '../../../demo/applications.ts'
import { container } from '../../../demo/place.ts'
import { startDemo } from '../../runtime/demo.ts'
import { startService } from '../../serve/service.ts'
import { openPage, signIn } from '../browser.ts'

/** The answers that a page is to bear: a change of the source, a withdrawn agreement, an address that cannot be had. */
const EXPECTED = /status of (403|404|409|422|502)/
const WAIT = { timeout: 20_000, interval: 50 }

/** A community script, whose update asks nothing. */
export const PAPERLESS = withScript('paperless-ngx', 'Paperless-ngx', ['2.18.4', '2.19.0'])
/** A script whose update ends with a question. */
export const ADGUARD = withScript('adguard', 'AdGuard Home', ['0.107.64', '0.107.67'], 'Choose an action')

/** A panel whose containers have these applications, each as the last check has found it, with the page of the updates. */
export async function applicationPage(
  of: Readonly<Record<string, Applications>> = {
    docs: PAPERLESS,
    dns: ADGUARD,
    vault: OF_VAULTWARDEN,
    runner: OF_RUNNER,
  },
  {
    user = 'demo',
    locale = 'fr-FR',
    path = '/updates',
  }: { user?: 'demo' | 'guest'; locale?: string; path?: string } = {},
) {
  const places = Object.entries(of).map(([name, applications], n) => container(`${101 + n}`, name, { applications }))
  const demo = await startDemo({ containers: places })
  const service = await startService(demo)
  const panel = createPanel({ url: service.url, WebSocket: false })
  await panel.signIn('demo', 'demo')
  await checkAll(panel)
  const page = await openPage(service.url + path, { locale, expected: EXPECTED, reducedMotion: 'reduce' })
  await signIn(page, user)
  return { demo, places, service, panel, page, sheet: page.locator('dialog.application') }
}

async function checkAll(panel: Panel): Promise<void> {
  const { job_id: id } = await panel.api('POST /api/updates/checks', { body: { target: 'all' } })
  const statusOf = async () => (await panel.api('GET /api/updates/jobs/{id}', { params: { id } })).status
  await expect.poll(statusOf, WAIT).toBe('success')
}
