import { expect, test } from 'vitest'
import { pageFiles, versionedForge } from '../../functions/releases/versioned-forge.ts'
import { saying } from '../../functions/modules/module.ts'
import { startDemo } from '../../runtime/demo.ts'
import { startReplaceable } from '../../serve/replaceable.ts'
import { openPage, signIn } from '../browser.ts'
import { findingsOf } from './page-findings.ts'

/** The test stops and starts a service several times. */
const LONG = 180_000
const WAIT = { timeout: 60_000 }
/** Chromium's own messages while the service is unreachable. */
const AWAY = /net::ERR_|WebSocket connection to .* failed|status of (401|409|502|503)/

const files = (version: string, more: Record<string, string> = {}) => ({
  ...pageFiles('wordy', version, { 'index.html': version, ...more }, { has_backend: true }),
  'backend.mjs': saying('wordy', version),
})

test('a release is chosen with what it changes, follows in its row, and returns by one click', {
  timeout: LONG,
}, async () => {
  const demo = await startDemo()
  const on = await versionedForge()
  const first = on.push('wordy', files('1.0.0'))
  on.tag('wordy', 'v1.0.0', first)
  on.publish('wordy', 'v1.0.0', { name: 'The first', body: 'It begins.' })
  const second = on.push('wordy', files('2.0.0', { 'new.js': 'x' }), { title: 'More of it' })
  const service = await startReplaceable(on.forge, undefined, {
    PANEL_SSH_HOST: `127.0.0.1:${demo.port}`,
    PANEL_SSH_USERNAME: demo.service.username,
    PANEL_SSH_PASSWORD: demo.service.password,
  })
  const page = await openPage(`${service.url}/modules`, { expected: AWAY })
  await signIn(page)
  const dialog = page.locator('dialog')
  const row = page.locator('.modules > li', { hasText: 'wordy' })
  const ended = async () => {
    await row.locator('.deployment header').getByText('Terminé').waitFor(WAIT)
    expect(await page.locator('.deployment').count()).toBe(1)
    await page.getByRole('button', { name: 'Masquer' }).click()
  }

  await page.getByRole('button', { name: 'Installer wordy' }).click(WAIT)
  await dialog.getByLabel('Version').selectOption('v1.0.0')
  await dialog.getByRole('heading', { name: 'Installer wordy v1.0.0\u202f?' }).waitFor()
  expect(await dialog.locator('code').getAttribute('title')).toBe(first)
  await dialog.getByText('Notes de cette version').click()
  await dialog.getByText('It begins.').waitFor()
  expect(await findingsOf(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Installer' }).click()
  await ended()
  expect(await service.module('wordy')).toMatchObject({ version: '1.0.0', commit: first, tag: 'v1.0.0' })

  await page.getByRole('button', { name: 'Passer à 2.0.0\u00a0: wordy' }).click(WAIT)
  await dialog.getByRole('heading', { name: 'Mettre à jour wordy en 2.0.0\u202f?' }).waitFor()
  await dialog.getByText('1 commit, 4 fichiers changent').click()
  expect(await dialog.locator('.commits li p').allTextContents()).toEqual([
    'More of it',
    expect.stringContaining(' · '),
  ])
  await dialog.getByText('new.js').waitFor()
  expect(await dialog.getByText('Comparer sur la forge').getAttribute('href')).toMatch(
    new RegExp(`/compare/${first}\\.\\.\\.${second}$`),
  )
  expect(await findingsOf(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Installer' }).click()
  await ended()
  expect(await service.get('/api/modules/wordy/word')).toEqual({ status: 200, body: { word: '2.0.0' } })

  await page.getByRole('button', { name: 'Plus d’actions pour wordy' }).click()
  await page.getByRole('button', { name: 'Revenir à 1.0.0' }).click()
  await dialog.getByText('Un commit de la version installée n’y est pas.').waitFor()
  expect(await dialog.locator('code').getAttribute('title')).toBe(first)
  await dialog.getByRole('button', { name: 'Revenir', exact: true }).click()
  await ended()
  expect(await service.module('wordy')).toMatchObject({ version: '1.0.0', tag: 'v1.0.0', previous: { commit: second } })
  expect(await service.get('/api/modules/wordy/word')).toEqual({ status: 200, body: { word: '1.0.0' } })
})
