import { expect, test } from 'vitest'
import { startDemo } from '../../runtime/demo.ts'
import { startService } from '../../serve/service.ts'
import { openPage, signIn } from '../browser.ts'

const LONG = 120_000
const WAIT = { timeout: 60_000, interval: 100 }
/** The receiver of the channel does not answer. */
const EXPECTED = { expected: /status of (400|502)/ }

test('a schedule is made, run and deleted with the service itself', { timeout: LONG }, async () => {
  const service = await startService(await startDemo())
  const page = await openPage(`${service.url}/schedules`, { ...EXPECTED, locale: 'en-GB' })
  await signIn(page)
  await page.getByRole('link', { name: 'Make the first one' }).click()
  await page.locator('.preview .times li').nth(4).waitFor(WAIT)
  await page.getByRole('button', { name: 'Create' }).click()
  // The service says what is wrong with it.
  await page.getByText('From 1 to 100 characters.').waitFor(WAIT)
  await page.getByLabel('Name').fill('Every night')
  await page.locator('label').filter({ hasText: 'Checks only' }).click()
  await page.getByRole('button', { name: 'Take The rest out of wave 1' }).click()
  await page.getByLabel('Add a target to wave 1').selectOption('host')
  await page.getByRole('button', { name: 'Create' }).click()
  await expect
    .poll(() => page.locator('h1').textContent(), WAIT)
    .toMatch(/^1 schedule, next (tonight|today|tomorrow) 02:30$/)

  await page.getByRole('button', { name: 'Run now: Every night' }).click()
  await expect.poll(() => page.locator('h1').textContent(), WAIT).toBe('Every night: done')
  await page.locator('.wave-targets').getByText('Checked').waitFor(WAIT)
  await page.getByRole('link', { name: 'All schedules' }).click()
  await page
    .locator('.schedule')
    .getByText(/: done, 1 checked$/)
    .waitFor(WAIT)

  await page.getByRole('button', { name: 'Pause all' }).click()
  await page.locator('dialog .danger').click()
  await page.getByText('Schedules paused by demo').waitFor(WAIT)
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.getByText('Schedules paused by demo').waitFor({ state: 'detached', ...WAIT })
  await page.getByRole('button', { name: 'Actions of Every night' }).click()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.locator('dialog .danger').click()
  await page.getByText('The panel does nothing by itself at night yet.').waitFor(WAIT)
})

test('a channel is made, tried and changed with the service itself', { timeout: LONG }, async () => {
  const service = await startService(await startDemo())
  const page = await openPage(`${service.url}/notifications`, { ...EXPECTED, locale: 'en-GB' })
  await signIn(page)
  await page.getByRole('button', { name: 'Make the first channel' }).click()
  await page.locator('.kinds').getByRole('button', { name: 'Gotify' }).click()
  await page.getByLabel('Name').fill('Phone')
  // Nothing listens there.
  await page.getByLabel('Address of the server').fill('http://127.0.0.1:9')
  await page.getByLabel('Token').fill('a-secret-token')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('button', { name: 'Send a test: Phone' }).click()
  await page.locator('.result.refused').waitFor(WAIT)
  await page.locator('.channels .last').getByText('Refused', { exact: true }).waitFor(WAIT)
  await page.getByRole('button', { name: 'Actions of Phone' }).click()
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.getByLabel('Address of the server').fill('http://127.0.0.1:10')
  await page.getByRole('button', { name: 'Save' }).click()
  // The secret goes to no other place than the one for which somebody typed it.
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('name')), WAIT).toBe('token')
  await page.getByLabel('Token').fill('a-secret-token')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.locator('dialog').waitFor({ state: 'detached', ...WAIT })
  expect(await page.content()).not.toContain('a-secret-token')
})
