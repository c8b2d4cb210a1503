import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { openDatabase } from '../../../db/libsql/client.ts'
import { saying } from '../../functions/modules/module.ts'
import { pageFiles, versionedForge } from '../../functions/releases/versioned-forge.ts'
import { openPage, signIn } from '../browser.ts'
import { started } from './started.ts'
import { environmentWith } from './with-modules.ts'

const RIGHTS = 'Le code de ce module aura tous les droits du service'
const NO_CODE = 'Ce module n’a pas de code'

const plain = (version: string) => pageFiles('cap', version, { 'index.html': version })
const coded = (version: string) => ({
  ...pageFiles('cap', version, { 'index.html': version }, { has_backend: true }),
  'backend.mjs': saying('cap', version),
})

async function opened(url: string): Promise<Page> {
  const page = await openPage(`${url}/modules`)
  await signIn(page)
  return page
}

test('the dialog tells of code and its rights when a tag with code is chosen, though the newest commit has none', async () => {
  const on = await versionedForge()
  const withCode = on.push('cap', coded('1.0.0'))
  on.tag('cap', 'v1.0.0', withCode)
  on.push('cap', plain('2.0.0'))
  const { service } = await started({ PANEL_FORGE_URL: on.forge.url, PANEL_FORGE_ORG: on.forge.org })
  const page = await opened(service.url)
  const dialog = page.getByRole('dialog')

  await page.getByRole('button', { name: 'Installer cap' }).click()
  await dialog.getByText(NO_CODE).waitFor()
  expect(await dialog.getByText(RIGHTS).count()).toBe(0)
  await dialog.getByLabel('Version').selectOption('v1.0.0')
  await dialog.getByText(RIGHTS).waitFor()
  expect(await dialog.getByText(NO_CODE).count()).toBe(0)
  expect(await dialog.locator('code').getAttribute('title')).toBe(withCode)
  await dialog.getByLabel('Version').selectOption('')
  await dialog.getByText(NO_CODE).waitFor()
})

test('the return to a previous release tells of code and its rights, though the installed one has none', async () => {
  const on = await versionedForge()
  const withCode = on.push('cap', coded('1.0.0'))
  const commit = on.push('cap', plain('2.0.0'))
  const repository = `${on.forge.url}/${on.forge.org}/cap`
  const env = await environmentWith({
    cap: { files: { 'index.html': '2' }, nav: { version: '2.0.0', commit, repository } },
  })
  const db = await openDatabase(`file:${env.PANEL_DATA_DIR}/panel.db`)
  const previous = JSON.stringify({ version: '1.0.0', commit: withCode, tag: null })
  await db.batch([{ sql: `UPDATE modules SET previous = ?1 WHERE id = 'cap'`, args: [previous] }])
  await db.close()
  const { service } = await started({ ...env, PANEL_FORGE_URL: on.forge.url, PANEL_FORGE_ORG: on.forge.org })
  const page = await opened(service.url)

  await page.getByRole('button', { name: 'Plus d’actions pour cap' }).click()
  await page.getByRole('button', { name: 'Revenir à 1.0.0' }).click()
  const dialog = page.getByRole('dialog')
  expect(await dialog.locator('code').getAttribute('title')).toBe(withCode)
  await dialog.getByText(RIGHTS).waitFor()
})
