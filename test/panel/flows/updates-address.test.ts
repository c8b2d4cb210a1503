import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startDemo } from '../../runtime/demo.ts'
import { startService } from '../../serve/service.ts'
import { follow, openPage, signIn } from '../browser.ts'
import { answered, counted, told } from './update-states.ts'

const LONG = 120_000
const WAIT = { timeout: 20_000, interval: 50 }
const STATES = [
  told('host', 'Hôte', { state: 'ready', ...counted(1, 1) }),
  told('lxc:101', 'web', { state: 'ready', ...counted(2, 1) }),
  told('lxc:102', 'db', { state: 'ready', ...counted(1) }),
]

async function updatesAt(query = '') {
  const service = await startService(await startDemo())
  const page = await openPage(`${service.url}/updates${query}`)
  await answered(page, structuredClone(STATES))
  await signIn(page)
  await page.locator('.targets tr.row').first().waitFor(WAIT)
  return page
}

const names = (page: Page) => page.locator('.targets .opener').allTextContents()
const queryOf = (page: Page) => decodeURIComponent(new URL(page.url()).search)
const search = (page: Page) => page.getByRole('searchbox', { name: 'Nom, numéro, paquet ou CVE' })

test('filter, order and search are in the address: a reload and the way back keep them', {
  timeout: LONG,
}, async () => {
  const page = await updatesAt()
  const entries = await page.evaluate(() => history.length)
  await page.getByRole('button', { name: 'Sécurité 2' }).click()
  await page.getByRole('combobox', { name: 'Trier' }).selectOption('number')
  await search(page).fill('we')
  await expect.poll(() => queryOf(page), WAIT).toBe('?show=security&sort=number&q=we')
  expect(await names(page)).toEqual(['web'])
  // None of it is a step of the way back.
  expect(await page.evaluate(() => history.length)).toBe(entries)

  await page.reload()
  await expect.poll(() => names(page), WAIT).toEqual(['web'])
  expect(await search(page).inputValue()).toBe('we')
  await follow(page, '/containers')
  await page.waitForURL('**/containers')
  await page.goBack()
  await expect.poll(() => names(page), WAIT).toEqual(['web'])
  expect(await page.getByRole('combobox', { name: 'Trier' }).inputValue()).toBe('number')

  // Another tab of the page keeps them too.
  await page.getByRole('tab', { name: /^Exécutions/ }).click()
  expect(queryOf(page)).toContain('tab=runs')
  await page.getByRole('tab', { name: 'Cibles 3' }).click()
  await expect.poll(() => names(page), WAIT).toEqual(['web'])
  await search(page).fill('')
  await page.getByRole('combobox', { name: 'Trier' }).selectOption('urgency')
  await page.getByRole('button', { name: 'Toutes 3' }).click()
  await expect.poll(() => queryOf(page), WAIT).toBe('')
  expect(await names(page)).toHaveLength(3)
})

test('the menu leads to the whole list, and unknown values are ignored', { timeout: LONG }, async () => {
  const page = await updatesAt('?show=security&sort=nothing')
  expect(await names(page)).toEqual(['Hôte', 'web'])
  expect(await page.getByRole('combobox', { name: 'Trier' }).inputValue()).toBe('urgency')
  await page
    .getByRole('navigation')
    .getByRole('link', { name: /^Mises à jour/ })
    .click()
  await expect.poll(() => names(page), WAIT).toHaveLength(3)
  await page.goBack()
  await expect.poll(() => names(page), WAIT).toEqual(['Hôte', 'web'])
})
