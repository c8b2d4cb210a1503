import { rm } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { LFS_POINTER } from '../../forge-repository.ts'
import { testForge } from '../../forge.ts'
import { openPage, signIn } from '../browser.ts'
import { findingsOf } from './page-findings.ts'
import { started } from './started.ts'
import { environmentWith } from './with-modules.ts'

const COUNT = 120
/** More than a group of those left out shows at first. */
const EMPTY = 30

/** As many as the panel reads of a forge. */
const MANY = 1_000

async function opened(count = COUNT) {
  const forge = await testForge()
  for (let n = 0; n < count; n += 1) {
    const descriptor = { id: `module-${n}`, name: `Module ${n}`, version: '1.0.0', description: `Does ${n}.` }
    forge.put({
      name: descriptor.id,
      ...(n === 7 && { forkOf: 'https://forge.example/other/seven' }),
      branches: { main: { files: { 'module.json': JSON.stringify(descriptor) } } },
    })
  }
  forge.put({ name: 'old', archived: true, branches: {} })
  for (let n = 0; n < EMPTY; n += 1) forge.put({ name: `bare-${n}`, empty: true, branches: {} })
  forge.put({ name: 'pointer', branches: { main: { files: { 'module.json': LFS_POINTER } } } })
  forge.put({ name: 'nameless', branches: { main: { files: { 'module.json': '{"id":"nameless"}' } } } })
  const { service } = await started({ PANEL_FORGE_URL: forge.url, PANEL_FORGE_ORG: forge.org })
  const page = await openPage(`${service.url}/modules`)
  await signIn(page)
  const available = page.getByRole('region', { name: 'Disponibles sur la forge' })
  return { forge, page, available, rows: available.locator('.modules > li') }
}

test('many modules are shown in parts, found by a filter, and those left out are grouped by the reason', async () => {
  const { page, available, rows } = await opened()
  await available.getByText('50 modules sur 120').waitFor()
  expect(await rows.count()).toBe(50)
  await available.getByRole('button', { name: 'Afficher 50 de plus' }).click()
  await available.getByRole('button', { name: 'Afficher 20 de plus' }).click()
  expect(await rows.count()).toBe(COUNT)

  const filter = page.getByRole('searchbox', { name: 'Filtrer par nom, description ou dépôt' })
  await filter.fill('module-7 ')
  await expect.poll(() => rows.count()).toBe(11)
  await filter.fill('does 7.')
  await expect.poll(() => rows.count()).toBe(1)
  expect(await rows.getByRole('link', { name: 'https://forge.example/other/seven' }).count()).toBe(1)
  await filter.fill('nothing like this')
  await available.getByText('Aucun module ne correspond.').waitFor()
  await filter.fill('')

  await available.getByText('33 dépôts ne sont pas proposés').click()
  await available.getByText('Archivés (1)').waitFor()
  await available.getByText('pointeur Git LFS').waitFor()
  const empty = available.locator('.left-out', { hasText: 'Vides (30)' })
  expect(await empty.locator('li:visible').count()).toBe(10)
  // Those that are not shown are in the page, where the search of a browser finds them.
  expect(await empty.locator('li').count()).toBe(EMPTY)
  await empty.getByText('et 20 autres').click()
  expect(await empty.locator('li:visible').count()).toBe(EMPTY)
  await available.getByText('nameless — name : obligatoire ; version : obligatoire').waitFor()
  expect(await findingsOf(page)).toEqual([])
  // Beside many rows, the bar at the bottom covers one of them in part.
  await filter.fill('does 7.')
  await page.setViewportSize({ width: 320, height: 700 })
  expect(await findingsOf(page)).toEqual([])
})

test('a forge that is slow neither delays the installed modules nor hides what it has given', async () => {
  const { forge, page, available, rows } = await opened()
  await available.getByText('50 modules sur 120').waitFor()
  forge.put({
    name: 'late',
    branches: { main: { files: { 'module.json': JSON.stringify({ id: 'late', name: 'Late', version: '1' }) } } },
  })
  let letGo = () => {}
  const held = new Promise<void>((resolve) => {
    letGo = resolve
  })
  forge.behave = async ({ url }) => {
    if (url?.includes('/late/')) await held
    return false
  }
  await page.getByRole('button', { name: 'Actualiser' }).click()
  await page.reload()
  await page.getByText('Le panneau lui-même').waitFor()
  await available.getByText(/^Lecture des dépôts.* sur 123…$/).waitFor()
  expect(await rows.count()).toBe(50)
  letGo()
  await available.getByText('50 modules sur 121').waitFor()
  await expect.poll(() => available.getByText('Lecture des dépôts').count()).toBe(0)
})

test('a module whose code or files are not there has no link to its page, for it has none', async () => {
  const nav = (id: string) => ({ nav_label: id, nav_href: `/modules/${id}` })
  const env = await environmentWith({
    fine: { code: 'export default () => []', nav: nav('fine') },
    broken: { code: 'throw new Error("no")', nav: nav('broken') },
    lost: { code: 'export default () => []', files: { 'web/index.html': '<p>' }, nav: nav('lost') },
  })
  await rm(`${env.PANEL_MODULES_DIR}/lost`, { recursive: true })
  const { service } = await started(env)
  const page = await openPage(`${service.url}/modules`)
  await signIn(page)
  await page.getByRole('link', { name: 'Ouvrir fine' }).waitFor()
  await page.locator('.modules > li', { hasText: 'broken' }).getByText('Son code n’a pas pu être chargé').waitFor()
  expect(await page.getByRole('link', { name: /^Ouvrir/ }).count()).toBe(1)
})

test('of a thousand modules, a bounded number of rows is rendered, and the filter narrows them at once', async () => {
  const { page, available, rows } = await opened(MANY)
  await available.getByText('50 modules sur 1000').waitFor({ timeout: 60_000 })
  expect(await rows.count()).toBe(50)
  const filter = page.getByRole('searchbox', { name: 'Filtrer par nom, description ou dépôt' })
  /** The number of rows before the next picture, and the most at any time, as one types. */
  const typed = (text: string) =>
    filter.evaluate(async (input: HTMLInputElement, value) => {
      const count = () => document.querySelectorAll('main .modules > li').length
      let most = count()
      const observer = new MutationObserver(() => {
        most = Math.max(most, count())
      })
      observer.observe(document.body, { childList: true, subtree: true })
      const before = count()
      input.value = value
      input.dispatchEvent(new InputEvent('input', { bubbles: true }))
      await new Promise((resolve) => requestAnimationFrame(resolve))
      observer.disconnect()
      return { before, after: document.querySelectorAll('section:last-of-type > .modules > li').length, most }
    }, text)
  const bound = await page.locator('main .modules > li').count()
  expect((await typed('module-99')).after).toBe(11)
  expect((await typed('does 999.')).after).toBe(1)
  const wide = await typed('module')
  expect(wide.after).toBe(50)
  expect(wide.most).toBeLessThanOrEqual(bound)
  expect((await typed('')).after).toBe(50)
  expect(await page.locator('main *').count()).toBeLessThan(2_000)
})
