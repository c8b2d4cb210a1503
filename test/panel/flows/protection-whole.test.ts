import { expect, test } from 'vitest'
import { createPanel } from '../../../client/index.ts'
import { fleet } from '../../../demo/fleet.ts'
import { DEFAULT_PROTECTION } from '../../../functions/protection/protection.ts'
import { startDemo } from '../../runtime/demo.ts'
import { startService } from '../../serve/service.ts'
import { follow, openPage, signIn } from '../browser.ts'

const LONG = 120_000
const WAIT = { timeout: 60_000, interval: 50 }

test('an upgrade breaks its container, somebody compares, decides, and goes back', { timeout: LONG }, async () => {
  const demo = await startDemo({ containers: fleet() })
  demo.lineMs = 5
  const service = await startService(demo)
  // Other tests start without protection.
  const panel = createPanel({ url: service.url, WebSocket: false })
  await panel.signIn('demo', 'demo')
  await panel.api('PUT /api/updates/protection/{target}', { params: { target: 'default' }, body: DEFAULT_PROTECTION })
  const page = await openPage(`${service.url}/updates`)
  await signIn(page)
  await page.getByRole('button', { name: 'Tout vérifier' }).click()
  await page.getByRole('button', { name: 'Examiner la mise à jour de vaultwarden' }).click(WAIT)
  const sheet = page.locator('dialog.drawer')
  await expect
    .poll(() => sheet.locator('.guard li').allTextContents(), WAIT)
    .toEqual(['Instantané', 'Mise à jour', '60\u00a0s de contrôle de santé', 'demande avant de revenir'])
  await sheet.locator('.primary[aria-disabled=false]').click(WAIT)

  // It runs beside the targets.
  await page.locator('.outputs .steps li').first().waitFor(WAIT)
  await page.getByRole('link', { name: 'Comparer et décider' }).click(WAIT)
  await expect.poll(() => page.locator('h1').textContent(), WAIT).toBe('vaultwarden est en panne depuis sa mise à jour')
  const stations = () => page.locator('.steps li').evaluateAll((all) => all.map(({ className }) => className))
  expect(await stations()).toEqual(['done', 'done', 'fail', 'ask'])
  const rows = page.getByRole('table', { name: 'Avant et après' }).locator('tr.row')
  expect(await rows.allInnerTexts()).toEqual(expect.arrayContaining([expect.stringContaining('Terminé, code 128')]))

  await page.getByRole('button', { name: 'Revenir en arrière sur vaultwarden' }).click()
  await page.getByRole('button', { name: 'Revenir en arrière maintenant' }).click()
  await expect.poll(() => page.locator('h1').textContent(), WAIT).toBe('vaultwarden est revenu en arrière')
  await page.getByText(/Il n’a pas répondu pendant/).waitFor(WAIT)
  await follow(page, '/updates')
  await page.getByRole('link', { name: 'Pourquoi vaultwarden est revenu en arrière' }).waitFor(WAIT)
})
