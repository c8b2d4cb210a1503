import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startDemo } from '../../runtime/demo.ts'
import { startService } from '../../serve/service.ts'
import { focused, openPage, signIn } from '../browser.ts'
import { channelOf, everyChannel, noticeOf, notifying } from './notification-states.ts'
import { answered, told } from './update-states.ts'

const LONG = 120_000
const WAIT = { timeout: 20_000, interval: 50 }
/** Chromium's own messages about refused requests. */
const EXPECTED = { expected: /status of (400|403|404|409|422|502)|WebSocket/ }

/** The page with these channels. */
async function notificationsOf(channels = everyChannel(), name: 'demo' | 'guest' = 'demo') {
  const service = await startService(await startDemo())
  const page = await openPage(`${service.url}/notifications`, { ...EXPECTED, locale: 'en-GB', timezoneId: 'UTC' })
  await answered(page, [told('host', 'pve'), told('lxc:101', 'web'), told('lxc:102', 'db')])
  const answers = await notifying(page, channels)
  await signIn(page, name)
  return { page, service, ...answers }
}

const row = (page: Page, name: string) => page.locator('.channels > li').filter({ hasText: name })
const dialog = (page: Page) => page.locator('dialog.edit-channel')

test('each channel says what it gets, and how its last message went in the words of the receiver', {
  timeout: LONG,
}, async () => {
  const { page } = await notificationsOf()
  await expect.poll(() => page.locator('h1').textContent(), WAIT).toBe('4 channels')
  await page.getByText(/^One channel does not get through: Home Assistant/).waitFor(WAIT)
  await row(page, 'Phone').getByText('ntfy · all targets · what is critical').waitFor(WAIT)
  await row(page, 'admin@example.org')
    .getByText('Email · web, db · what is critical · quiet 22:00 to 07:00')
    .waitFor(WAIT)
  await row(page, 'Home Assistant').getByText('401 Unauthorized').waitFor(WAIT)
  await row(page, 'Family room').getByText('Matrix · all targets · 2 events').waitFor(WAIT)
  // The one that does not get through comes first.
  const states = () => page.locator('.channels .last .word').allTextContents()
  await expect.poll(states, WAIT).toEqual(['Refused', 'Delivered', 'Delivered', 'Paused'])
  await row(page, 'Home Assistant').getByText('messages wait · next try in 5 min').waitFor(WAIT)
})

test('a table tells which event goes to which channel, and what nobody gets', { timeout: LONG }, async () => {
  const { page, state } = await notificationsOf()
  const table = page.locator('.recipients table')
  await table.waitFor(WAIT)
  const cells = async (event: string) =>
    (await table.locator('tr').filter({ hasText: event }).locator('td').allTextContents()).map((text) => text.trim())
  expect(await table.locator('thead th').allTextContents()).toEqual([
    'Event',
    'Phone',
    'admin@example.org2 targets',
    'Home Assistant with the longest name that a channel may have, 64',
    'Family roompaused',
  ])
  expect(await cells('Something does not work any more')).toEqual([
    'Phone',
    'admin@example.org (2 targets)',
    'Home Assistant with the longest name that a channel may have, 64',
    'Family room (paused)',
  ])
  expect(await cells('An upgrade is done')).toEqual(['–no', '–no', '–no', 'Family room (paused)'])
  const warned = table.locator('tr').filter({ has: page.locator('.status.warn') })
  expect(await warned.locator('th').allTextContents()).toContain('A check failedNobody')
  expect(await table.locator('tr').filter({ hasText: 'The host cannot be reached' }).getByText('Nobody').count()).toBe(
    0,
  )
  // With more channels than columns, each event has a line with names.
  state.channels = Array.from({ length: 9 }, (_, n) => channelOf(`n${n}`, `Phone ${n}`))
  await expect.poll(() => table.getAttribute('class'), WAIT).toBe('as-list')
  expect(await cells('A rollback failed')).toHaveLength(9)
})

test('a message that was given up is no “everything gets through”', { timeout: LONG }, async () => {
  const { page, state } = await notificationsOf([channelOf('c1', 'Phone')])
  await page.getByText('Everything gets through.').waitFor(WAIT)
  const lost = {
    channel_id: 'c1',
    state: 'given_up',
    attempts: 30,
    last_error: null,
    delivered_at: null,
    next_at: null,
  } as const
  state.notices = [noticeOf(40, 'lost', { deliveries: [lost] }), ...state.notices]
  await row(page, 'Phone').getByText('messages were given up').waitFor(WAIT)
  expect(await page.getByText('Everything gets through.').count()).toBe(0)
  expect(await row(page, 'Phone').locator('.word').textContent()).toBe('Not everything')
})

test('a test shows the answer of the receiver, or why it was refused', { timeout: LONG }, async () => {
  const { page, state } = await notificationsOf([channelOf('c1', 'Phone')])
  const send = page.getByRole('button', { name: 'Send a test: Phone' })
  await send.click()
  await page.locator('.result').getByText('Answer 200: {"id":"xE4f0q"}').waitFor(WAIT)
  state.refusal = {
    status: 502,
    json: { error: 'Le message n’a pas été pris : 401 Unauthorized', code: 'channel_refused' },
  }
  await send.click()
  await page.locator('.result.refused').getByText('401 Unauthorized').waitFor(WAIT)
  await page.getByRole('button', { name: 'Hide the result' }).click()
  expect(await page.locator('.result').count()).toBe(0)
})

test('a channel is made with only the fields of its kind', { timeout: LONG }, async () => {
  const { page, asked } = await notificationsOf([])
  await page.getByText('The panel tells nobody yet.').waitFor(WAIT)
  await page.getByRole('button', { name: 'Make the first channel' }).click()
  await expect.poll(() => focused(page), WAIT).toContain('ntfy')
  await dialog(page).getByRole('button', { name: 'Email' }).click()
  const labels = await dialog(page).locator('.field > label').allTextContents()
  expect(labels).toEqual(['Name', 'Mail server', 'Port', 'User name (optional)', 'Password', 'Sender', 'Recipients'])
  await page.keyboard.type('Mail')
  await page.getByLabel('Mail server').fill('mail.example')
  await dialog(page).locator('label').filter({ hasText: /^TLS$/ }).click()
  expect(await page.getByLabel('Port').inputValue()).toBe('465')
  await page.getByLabel('Sender').fill('panel@example.org')
  await page.getByLabel('Recipients').fill('a@example.org, b@example.org')
  await page.getByLabel('Warning: all').uncheck()
  await page.getByLabel('A check failed').check()
  await page.getByLabel('Quiet hours').check()
  await dialog(page).getByLabel('To', { exact: true }).fill('06:30')
  await dialog(page)
    .locator('label')
    .filter({ hasText: /^Some$/ })
    .click()
  await page.getByLabel('web').check()
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await dialog(page).waitFor({ state: 'detached', ...WAIT })
  expect(asked).toEqual([
    {
      method: 'POST',
      path: '/channels',
      body: {
        name: 'Mail',
        kind: 'email',
        enabled: true,
        settings: {
          allow_self_signed: false,
          host: 'mail.example',
          port: 465,
          security: 'tls',
          username: null,
          password: null,
          from: 'panel@example.org',
          to: ['a@example.org', 'b@example.org'],
        },
        events: ['regressed', 'rollback_failed', 'schedule_stopped', 'host_unreachable', 'check_failed'],
        targets: ['lxc:101'],
        minimum: 'warning',
        quiet: { from: '22:00', to: '06:30', timezone: 'UTC' },
        language: 'en',
        output: false,
      },
    },
  ])
})

test('a secret is never read back: it stays where its field is empty, and a new address asks for it', {
  timeout: LONG,
}, async () => {
  const { page, asked, state } = await notificationsOf([channelOf('c1', 'Phone')])
  const edit = async () => {
    await page.getByRole('button', { name: 'Actions of Phone' }).click()
    await page.getByRole('button', { name: 'Edit' }).click()
  }
  await edit()
  const token = page.getByLabel('Token (optional)')
  expect([await token.inputValue(), await token.getAttribute('type')]).toEqual(['', 'password'])
  await page.getByText('Stored. Leave it empty to keep it.').waitFor(WAIT)
  await page.getByLabel('Topic').fill('other')
  await page.getByRole('button', { name: 'Save' }).click()
  await dialog(page).waitFor({ state: 'detached', ...WAIT })
  expect(asked).toEqual([{ method: 'PATCH', path: '/channels/c1', body: { settings: { topic: 'other' } } }])
  state.channels = [channelOf('c1', 'Phone')]
  state.refusal = {
    status: 400,
    json: {
      error: 'x',
      code: 'channel_secret_required',
      details: [{ field: 'settings.token', message: 'Ce réglage est nécessaire.' }],
    },
  }
  await edit()
  await page.getByLabel('Address of the server').fill('https://other.example')
  await page.getByRole('button', { name: 'Save' }).click()
  await dialog(page).locator('.field .wrong').waitFor(WAIT)
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('name')), WAIT).toBe('token')
})

test('the hidden parts of an address are told, and an address that nobody changes is not sent', {
  timeout: LONG,
}, async () => {
  const settings = { url: 'https://chat.example/api/webhooks/…', allow_self_signed: false, secret_set: false }
  const { page, asked } = await notificationsOf([channelOf('c1', 'Chat', { kind: 'webhook', settings })])
  await page.getByRole('button', { name: 'Actions of Chat' }).click()
  await page.getByRole('button', { name: 'Edit' }).click()
  await dialog(page).getByText('The parts that may be secret are hidden.').waitFor(WAIT)
  await page.getByLabel('Name').fill('Chat room')
  await page.getByRole('button', { name: 'Save' }).click()
  await dialog(page).waitFor({ state: 'detached', ...WAIT })
  expect(asked).toEqual([{ method: 'PATCH', path: '/channels/c1', body: { name: 'Chat room' } }])
})

test('notices tell what became of them at each channel, and older ones load on demand', { timeout: LONG }, async () => {
  const { page, state } = await notificationsOf()
  const notices = page.locator('.notices .list > li')
  await expect.poll(() => notices.count(), WAIT).toBe(30)
  await notices.first().locator('.disclose').click()
  const states = notices.first().locator('.deliveries .word')
  expect(await states.allTextContents()).toEqual(['Delivered', 'Waiting', 'Given up', 'Quiet hours'])
  await notices.first().getByText('a deleted channel · 30 attempts').waitFor(WAIT)
  await notices.first().getByText('4 attempts · next try in 5 min').waitFor(WAIT)
  await notices.first().getByText('0 attempts · sent in 8 hr').waitFor(WAIT)
  expect(await notices.first().getByRole('link', { name: 'See' }).getAttribute('href')).toBe(
    '/updates/1772366400-k3x9q2pa',
  )
  await page.getByRole('button', { name: 'Show older ones' }).click()
  await expect.poll(() => notices.count(), WAIT).toBe(34)
  expect(await page.getByRole('button', { name: 'Show older ones' }).count()).toBe(0)
  // A newer one pushes the last of the first page down, and no notice is lost or shown twice.
  state.notices = [noticeOf(35, 'newest'), ...state.notices]
  await expect.poll(() => notices.count(), WAIT).toBe(35)
  expect(await notices.first().locator('.disclose').textContent()).toBe('newest')
})

test('a channel is paused and deleted after a question; only administrators see the page', {
  timeout: LONG,
}, async () => {
  const { page, asked } = await notificationsOf([channelOf('c1', 'Phone')])
  const act = async (name: string) => {
    await page.getByRole('button', { name: 'Actions of Phone' }).click()
    await page.getByRole('button', { name, exact: true }).click()
  }
  await act('Pause')
  await page.locator('dialog .primary').click()
  await row(page, 'Phone').getByText('Paused').waitFor(WAIT)
  await act('Resume')
  await row(page, 'Phone').getByText('Delivered').waitFor(WAIT)
  await act('Delete')
  await page.locator('dialog .danger').click()
  await page.getByText('The panel tells nobody yet.').waitFor(WAIT)
  expect(asked.map(({ method, body }) => [method, body])).toEqual([
    ['PATCH', { enabled: false }],
    ['PATCH', { enabled: true }],
    ['DELETE', null],
  ])
  const { page: other } = await notificationsOf([channelOf('c1', 'Phone')], 'guest')
  await expect.poll(() => other.locator('main p').first().textContent(), WAIT).toMatch(/administrators/)
  expect(await other.locator('.channels').count()).toBe(0)
})
