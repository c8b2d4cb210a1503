import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { createPanel } from '../../../client/index.ts'
import { startDemo } from '../../runtime/demo.ts'
import { startService } from '../../serve/service.ts'
import { openPage, signIn } from '../browser.ts'
import { started } from './started.ts'

const ENGLISH = { locale: 'en-GB', colorScheme: 'light' } as const
const FRENCH = { locale: 'fr-FR', colorScheme: 'dark' } as const

function shown(page: Page) {
  return page.evaluate(() => {
    const { lang } = document.documentElement
    return `${lang} ${getComputedStyle(document.documentElement).getPropertyValue('color-scheme')} ${document.querySelector('.side a[href="/"] .long')?.textContent}`
  })
}

test('a first sign-in takes language and theme from the browser, and stores them for other browsers', async () => {
  const { service } = await started()
  const page = await openPage(service.url, ENGLISH)
  await page.getByLabel('Password', { exact: true }).waitFor()
  await signIn(page)
  await expect.poll(() => shown(page)).toBe('en light Dashboard')
  const panel = createPanel({ url: service.url, WebSocket: false })
  await panel.signIn('demo', 'demo')
  await expect
    .poll(() => panel.api('GET /api/auth/preferences'))
    .toMatchObject({ lang: 'en', theme: 'light', chosen: true })

  const elsewhere = await openPage(service.url, FRENCH)
  await elsewhere.getByLabel('Mot de passe', { exact: true }).waitFor()
  await signIn(elsewhere)
  await expect.poll(() => shown(elsewhere)).toBe('en light Dashboard')
})

test('a user who has chosen preferences keeps them; a program’s sign-in chooses nothing', async () => {
  const { service } = await started()
  const panel = createPanel({ url: service.url, WebSocket: false })
  await panel.signIn('guest', 'guest')
  expect(await panel.api('GET /api/auth/preferences')).toMatchObject({ lang: 'fr', theme: 'dark', chosen: false })
  await panel.signIn('demo', 'demo')
  await panel.api('PATCH /api/auth/preferences', { body: { theme: 'dark' } })

  const chosen = await openPage(service.url, ENGLISH)
  await signIn(chosen)
  await expect.poll(() => shown(chosen)).toBe('fr dark Tableau de bord')
  const unchosen = await openPage(service.url, ENGLISH)
  await signIn(unchosen, 'guest')
  await expect.poll(() => shown(unchosen)).toBe('en light Dashboard')
})

test('the first supported language of the browser is used', async () => {
  const { service } = await started()
  const page = await openPage(service.url, { locale: 'de-DE' })
  await page.getByLabel('Password', { exact: true }).waitFor()
  await page.addInitScript(() => {
    Object.defineProperty(navigator, 'languages', { value: ['de-DE', 'fr-CH', 'en'] })
  })
  await page.evaluate(() => localStorage.clear())
  await page.reload()
  await page.getByLabel('Mot de passe', { exact: true }).waitFor()
})

test('the English setup page contains no French sentence', async () => {
  const demo = await startDemo()
  const service = await startService(demo, { PANEL_SSH_HOST: '', PANEL_SSH_USERNAME: '', PANEL_SSH_PASSWORD: '' })
  const token = (await readFile(join(service.folder, 'setup-token'), 'utf8')).trim()
  const page = await openPage(`${service.url}/#token=${token}`, { ...ENGLISH, expected: /status of 400/ })
  const check = async (username: string, password: string) => {
    await page.locator('input[name=ssh_host]').fill(`127.0.0.1:${demo.port}`)
    await page.locator('input[name=ssh_username]').fill(username)
    await page.locator('input[name=ssh_password]').fill(password)
    await page.keyboard.press('Enter')
    await page.locator('.setup .list > li').last().waitFor()
    const text = await page.locator('main').innerText()
    await page.getByRole('button', { name: 'Back' }).click()
    return text
  }
  const found = [await check('root', 'wrong'), await check('demo', 'demo'), await check('guest', 'guest')]
  const { username, password } = demo.service
  found.push(await check(username, password))

  expect(found.join('\n')).toContain('The host rejects root with this password; sshd must allow root')
  expect(found.join('\n')).toContain('pct answers: 3 containers.')
  const french = /\b(le|la|les|de|du|des|est|pas|avec|mot)\b|[éèêàùô]/i
  expect(found.flatMap((text) => text.split('\n').filter((line) => french.test(line) && line !== 'Français'))).toEqual(
    [],
  )
})

test('an unknown address shows a page with a link home, before and after sign-in', async () => {
  const { service } = await started()
  const page = await openPage(`${service.url}/nothing/here`, { ...ENGLISH, expected: /status of 404/ })
  await page.getByRole('heading', { name: 'This page does not exist' }).waitFor()
  expect(await page.locator('form').count()).toBe(0)
  await page.getByRole('link', { name: 'Go to the panel' }).click()
  await signIn(page)
  const answer = await page.goto(`${service.url}/nothing`)
  expect(answer?.status()).toBe(404)
  await page.locator('.shell').getByRole('heading', { name: 'This page does not exist' }).waitFor()
  await page.getByRole('link', { name: 'Go to the dashboard' }).click()
  await page.getByRole('heading', { name: 'Dashboard' }).waitFor()
})
