import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../db/folder.ts'
import { testForge } from '../../forge.ts'
import { freePort } from '../../free-port.ts'
import { repository, saying } from '../../functions/modules/module.ts'
import { startDemo } from '../../runtime/demo.ts'
import { startReplaceable } from '../../serve/replaceable.ts'
import { openPage, signIn } from '../browser.ts'
import { findingsOf } from './page-findings.ts'

const LONG = 180_000
const WAIT = { timeout: 60_000 }
/** Chromium's own messages while the service is unreachable. */
const AWAY = /net::ERR_|WebSocket connection to .* failed|status of (401|409|502|503)/
/** Longer than the trial of a module. */
const AFTER_MS = 5_000

test('the page says why a module was taken out, and tries it again', { timeout: LONG }, async () => {
  const demo = await startDemo()
  const forge = await testForge()
  const harmless = join(await temporaryFolder(), 'harmless')
  forge.put(
    repository(
      'wordy',
      '1.0.0',
      `import { existsSync } from 'node:fs'
${saying('wordy', '1.0.0')}
setTimeout(() => { if (!existsSync('${harmless}')) process.exit(3) }, ${AFTER_MS})`,
    ),
  )
  const service = await startReplaceable(forge, undefined, {
    PANEL_PORT: String(await freePort()),
    PANEL_SSH_HOST: `127.0.0.1:${demo.port}`,
    PANEL_SSH_USERNAME: demo.service.username,
    PANEL_SSH_PASSWORD: demo.service.password,
  })
  expect(await service.install('wordy')).toMatchObject({ state: 'done' })
  await service.said('module taken out')
  await expect
    .poll(() => service.get('/api/repair/modules', AbortSignal.timeout(2_000)).catch(() => undefined), WAIT)
    .toMatchObject({ body: [{ id: 'wordy', problem: 'taken_out' }] })
  const page = await openPage(`${service.url}/modules`, { expected: AWAY })
  await signIn(page)
  const row = page.locator('.modules > li', { hasText: 'wordy' })
  await row.getByText('Il a bloqué ou arrêté le service').waitFor(WAIT)
  await row.getByText('Son code a arrêté le service (backend.mjs:').waitFor()
  expect(await findingsOf(page)).toEqual([])

  await writeFile(harmless, '')
  await row.getByRole('button', { name: 'Réessayer wordy' }).click()

  await row.getByText('Terminé').waitFor(WAIT)
  // The previous service may have answered once more, on a connection that the browser had kept.
  await page.reload()
  await row.getByText('Activé').waitFor(WAIT)
  expect(await service.get('/api/modules/wordy/word')).toEqual({ status: 200, body: { word: '1.0.0' } })
  expect(await row.getByRole('button', { name: 'Réessayer wordy' }).count()).toBe(0)
})
