import { expect, test } from 'vitest'
import { focused, follow, openPage, signIn } from '../browser.ts'
import { findingsOf } from './page-findings.ts'
import { started } from './started.ts'

const WAIT = { timeout: 20_000, interval: 50 }

async function opened(name: 'demo' | 'guest' = 'demo') {
  const { service } = await started()
  const page = await openPage(service.url, { reducedMotion: 'reduce' })
  await signIn(page, name)
  return page
}

test('g and a letter open a page; the letters are shown until then', async () => {
  const page = await opened()
  await page.keyboard.press('g')
  await page.locator('.letters').getByText('Audit').waitFor()
  await page.getByText('Aller à… Appuyez sur la lettre').waitFor()
  await page.keyboard.press('a')
  await page.waitForURL('**/audit')
  expect(await page.locator('.letters').count()).toBe(0)

  await page.keyboard.press('g')
  await page.keyboard.press('Escape')
  await page.locator('.letters').waitFor({ state: 'detached' })
  await page.keyboard.press('d')
  expect(new URL(page.url()).pathname).toBe('/audit')
})

test('/ focuses the filter, where letters are typed normally', async () => {
  const page = await opened()
  await page.goto(`${new URL(page.url()).origin}/logs`)
  await page.getByRole('heading', { name: 'Journaux' }).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('gu?')
  expect(await page.getByRole('searchbox').inputValue()).toBe('gu?')
  expect(new URL(page.url()).pathname).toBe('/logs')
  expect(await page.locator('dialog').count()).toBe(0)
})

test('? shows the shortcuts, and closing them returns the focus', async () => {
  const page = await opened()
  await page.getByRole('link', { name: 'Modules' }).focus()
  await page.keyboard.press('?')
  await page.getByRole('heading', { name: 'Raccourcis clavier' }).waitFor()
  expect(await focused(page)).toBe('Fermer')
  await page.keyboard.press('g')
  await page.keyboard.press('u')
  await page.keyboard.press('Escape')
  await page.locator('dialog').waitFor({ state: 'detached' })
  expect(await focused(page)).toBe('Modules')
  expect(new URL(page.url()).pathname).toBe('/')
})

test('a terminal receives every key', async () => {
  const page = await opened()
  await follow(page, '/terminal?target=lxc:101')
  await expect.poll(() => page.locator('.xterm-rows').innerText(), WAIT).toMatch(/[#$]\s*$/)
  await page.keyboard.type('echo gu/f?')
  await page.keyboard.press('Control+k')
  await page.keyboard.press('Enter')
  await expect.poll(() => page.locator('.xterm-rows').innerText(), WAIT).toMatch(/^gu\/f\?$/m)
  expect(new URL(page.url()).pathname).toBe('/terminal')
  expect(await page.locator('dialog, .letters').count()).toBe(0)
})

test('f pauses and resumes following an output', async () => {
  const { demo, service } = await started()
  // The job must outlast a sign-in, on any machine.
  demo.lineMs = 1_000
  const page = await openPage(`${service.url}/updates/${await service.run('host')}`)
  await signIn(page)
  const follow = page.getByRole('button', { name: 'Suivre', pressed: true })
  await follow.waitFor()
  await page.keyboard.press('f')
  await follow.waitFor({ state: 'detached' })
  await page.keyboard.press('f')
  await follow.waitFor()
})

test('single keys can be switched off permanently, and Ctrl K stays', async () => {
  const page = await opened()
  await page.keyboard.press('g')
  await page.keyboard.press('p')
  await page.getByRole('checkbox', { name: 'Raccourcis d’une seule touche' }).uncheck()
  for (const key of ['g', 'd', '?', '/']) await page.keyboard.press(key)
  expect(new URL(page.url()).pathname).toBe('/account')
  await page.reload()
  await page.getByRole('heading', { name: 'Mon compte' }).waitFor()
  for (const key of ['g', 'd', '?', '/']) await page.keyboard.press(key)
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').waitFor()
  expect(new URL(page.url()).pathname).toBe('/account')
  expect(await page.locator('dialog').count()).toBe(1)
})

test.each([320, 1280])('the shortcut list and the letters have no axe violation at %s px', async (width) => {
  const page = await opened()
  await page.setViewportSize({ width, height: 800 })
  await page.keyboard.press('g')
  await page.locator('.letters').waitFor()
  const found = await findingsOf(page)
  await page.keyboard.press('Escape')
  await page.keyboard.press('?')
  await page.locator('dialog').waitFor()
  expect([...found, ...(await findingsOf(page))]).toEqual([])
})

test('letters of forbidden pages do nothing and are not shown', async () => {
  const page = await opened('guest')
  await page.keyboard.press('g')
  await page.locator('.letters').getByText('Conteneurs').waitFor()
  expect(await page.locator('.letters').getByText('Terminal').count()).toBe(0)
  await page.keyboard.press('t')
  await page.locator('.letters').waitFor({ state: 'detached' })
  expect(new URL(page.url()).pathname).toBe('/')
})
