import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { openDatabase } from '../../../db/libsql/client.ts'
import { randomFrom } from '../../client/cutting-proxy.ts'
import { outputOf, signedIn, upgrade } from '../../client/signed-in.ts'
import { freePort } from '../../free-port.ts'
import { rounds, seedOf } from '../../rounds.ts'
import { issue, startService } from '../../serve/service.ts'
import { openPage, signIn } from '../browser.ts'
import { rowCount, shownLines } from './shown-output.ts'
import { checkingByItself } from './update-states.ts'

/** Reconnecting takes its time, up to fifteen seconds a turn. */
const LONG = 120_000
const WAIT = { timeout: 40_000, interval: 50 }
const SOCKET = 'GET /ws/'
/** Chromium's own messages about lost connections. */
const CUT = /net::ERR_|WebSocket connection to .* failed|status of (401|500|502)/

const line = (n: number) => `Unpacking paquet-${n} (1.${n}) … ✓ 🐧\r\n`

/** A job whose output the test controls, shown on its page. */
async function shownJob(env: Record<string, string> = {}) {
  const world = await signedIn({}, env)
  const id = await upgrade(world.panel)
  const page = await openPage(`${world.proxy.url}/updates/${id}`, { expected: CUT })
  return { ...world, id, page }
}

/** Expects the page to show the output of the service, line by line. */
async function expectWhole({ panel, id, page }: Pick<Awaited<ReturnType<typeof shownJob>>, 'panel' | 'id' | 'page'>) {
  await page.getByText('Terminé', { exact: true }).waitFor(WAIT)
  const whole = await outputOf(panel, id)
  expect(await shownLines(page)).toEqual(whole.replaceAll('\r\n', '\n').replace(/\n$/, '').split('\n'))
}

test('with cuts at random bytes, the shown output matches the service’s', { timeout: LONG }, async () => {
  const random = randomFrom(seedOf('test/panel/flows/updates.test.ts', 'panel'))
  const job = await shownJob()
  const { proxy, printed, page } = job
  // The first bytes are the handshake's.
  proxy.cut = (asked) => (asked.startsWith(SOCKET) && proxy.cuts < 4 ? 140 + Math.floor(random() * 4_000) : undefined)
  await signIn(page)

  for (let n = 0; proxy.cuts < 4; n += 1) {
    printed.print(line(n))
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  printed.end()

  await expectWhole(job)
})

test('the comparison finds a missing, repeated or different line', { timeout: LONG }, async () => {
  const job = await shownJob()
  const { printed, page } = job
  await signIn(page)
  printed.print([1, 2, 3].map(line).join(''))
  printed.end()
  await expectWhole(job)
  const rows = page.locator('.output .line')

  await rows.nth(1).evaluate((row) => row.replaceWith(row.nextElementSibling?.cloneNode(true) ?? ''))
  await expect(expectWhole(job)).rejects.toThrow('to deeply equal')
  await page.reload()
  await rows.nth(2).waitFor(WAIT)
  await expectWhole(job)
  await rows.nth(1).evaluate((row) => row.querySelector(':scope > span')?.append('.'))
  await expect(expectWhole(job)).rejects.toThrow('to deeply equal')
})

test('a token that expires mid-job costs one refresh, no sign-in and no byte', { timeout: LONG }, async () => {
  const job = await shownJob()
  const { printed, service, page } = job
  const { token: expiring } = await issue(service.folder, 12)
  const refreshes: string[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/api/auth/refresh')) refreshes.push(request.url())
  })
  await page.route('**/api/auth/login', async (route) => {
    const response = await route.fetch()
    // The token expires earlier than the page expects.
    await route.fulfill({ response, json: { access_token: expiring, expires_in: 900 } })
  })
  await signIn(page)
  printed.print(line(1))
  await page.getByText('paquet-1').waitFor(WAIT)
  await expect.poll(() => refreshes.length, WAIT).toBe(1)
  printed.print(line(2))
  printed.end()

  await expectWhole(job)
  expect(refreshes).toHaveLength(1)
  expect(await page.locator('input[name=password]').count()).toBe(0)
})

test('following continues across a restart of the service, and a notice says so', {
  timeout: LONG,
}, async () => {
  const port = await freePort()
  const job = await shownJob({ PANEL_PORT: String(port) })
  const { demo, printed, service, page } = job
  await signIn(page)
  printed.print(line(1))
  await page.getByText('paquet-1').waitFor(WAIT)

  await service.stop()
  await page.getByText('Reconnexion… rien n’est perdu.').first().waitFor(WAIT)
  await startService(demo, { PANEL_PORT: String(port), PANEL_DATA_DIR: service.folder })
  printed.print(line(2))
  await page.getByText('paquet-2').waitFor(WAIT)
  await page
    .getByText(/^Reconnecté/)
    .first()
    .waitFor(WAIT)
  printed.end()

  await expectWhole(job)
})

/** Seconds without a network: past the first turns of reconnecting, and in the long run past the longest one. */
const AWAY = rounds(5, 30)

test(`${AWAY} seconds without a network lose nothing, and a notice says so`, { timeout: LONG }, async () => {
  const job = await shownJob()
  const { printed, proxy, page } = job
  await signIn(page)
  printed.print(line(1))
  await page.getByText('paquet-1').waitFor(WAIT)

  await page.context().setOffline(true)
  proxy.cutNow('')
  await page.getByText('Reconnexion… rien n’est perdu.').first().waitFor(WAIT)
  for (let n = 2; n < AWAY + 2; n += 1) {
    printed.print(line(n))
    await new Promise((resolve) => setTimeout(resolve, 1_000))
  }
  const last = `paquet-${AWAY + 1}`
  expect(await page.getByText(last).count()).toBe(0)
  await page.context().setOffline(false)
  await page
    .getByText(/^Reconnecté/)
    .first()
    .waitFor(WAIT)
  await page.getByText(last).waitFor(WAIT)
  printed.end()

  await expectWhole(job)
})

test('50,000 lines render only the visible rows', { timeout: LONG }, async () => {
  const job = await shownJob()
  const { printed, page } = job
  await signIn(page)
  for (let from = 0; from < 50_000; from += 500)
    printed.print(Array.from({ length: 500 }, (_, n) => `line ${from + n + 1}\n`).join(''))
  printed.end()

  await page.getByText('Terminé', { exact: true }).waitFor(WAIT)
  await page.getByText('line 50000', { exact: true }).waitFor(WAIT)
  expect(await rowCount(page)).toBeLessThan(150)
  await page.locator('.output .log').press('Home')
  await page.getByText('line 1', { exact: true }).waitFor(WAIT)
  expect(await rowCount(page)).toBeLessThan(150)
})

test('the download is the output byte for byte, and the copy is the text as shown', {
  timeout: LONG,
}, async () => {
  const { panel, id, page, printed } = await shownJob()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await signIn(page)
  printed.print('\u001b[31mred\u001b[0m é 🐧\r\n10%\r100%\r\n<script>\n')
  printed.print(Array.from({ length: 30_000 }, (_, n) => line(n)).join(''))
  printed.end()
  await page.getByText('Terminé', { exact: true }).waitFor(WAIT)

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Télécharger' }).click(),
  ])
  expect(download.suggestedFilename()).toBe(`host-${id}.log`)
  const saved = await readFile(await download.path(), 'utf8')
  expect(saved.length).toBeGreaterThan(1024 * 1024)
  expect(saved).toBe(await outputOf(panel, id))
  await page.getByRole('button', { name: 'Copier' }).click()
  await page.getByText('La sortie est copiée.').waitFor(WAIT)
  const copied = await page.evaluate(() => navigator.clipboard.readText())
  expect(copied.split('\n').slice(0, 4)).toEqual(['red é 🐧', '100%', '<script>', line(0).trimEnd()])
  expect(copied.split('\n')).toHaveLength(30_003)
})

test('a very long output shows its end, and a notice says so', { timeout: LONG }, async () => {
  const { panel, printed, proxy } = await signedIn()
  const id = await upgrade(panel)
  const piece = Array.from({ length: 10_000 }, (_, n) => `${n} ${'x'.repeat(90)}\n`).join('')
  for (let n = 0; n < 20; n += 1) printed.print(piece)
  printed.print('the last\n')
  printed.end()
  await expect
    .poll(async () => (await panel.api('GET /api/updates/jobs/{id}', { params: { id } })).status, WAIT)
    .toBe('success')
  const page = await openPage(`${proxy.url}/updates/${id}`)
  await signIn(page)

  await page.getByText('the last', { exact: true }).waitFor(WAIT)
  await page
    .locator('.notice')
    .getByText(/^Le début \(.*M.*\) n’est pas affiché/)
    .waitFor(WAIT)
  await page.locator('.output .log').press('Home')
  // The first line is complete.
  await expect.poll(() => page.locator('.output .line').first().textContent(), WAIT).toMatch(/^1\d+ x{90}$/)
})

test('selecting text stops following', { timeout: LONG }, async () => {
  const { page, printed } = await shownJob()
  await signIn(page)
  printed.print(Array.from({ length: 100 }, (_, n) => line(n)).join(''))
  await page.getByText('paquet-99 ').dblclick({ timeout: WAIT.timeout })
  printed.print(Array.from({ length: 100 }, (_, n) => line(100 + n)).join(''))

  await page.getByText('100 nouvelles lignes').waitFor(WAIT)
  expect(await page.evaluate(() => getSelection()?.toString())).toMatch(/\S/)
  await page.getByText('100 nouvelles lignes').click()
  await page.getByText('paquet-199 ').waitFor(WAIT)
  printed.end()
})

test('an upgrade of all shows its position, whatever a container prints', {
  timeout: LONG,
}, async () => {
  const { demo, proxy, panel } = await signedIn()
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  demo.upgradeOutput = async function* (place) {
    yield '1 upgraded, 0 newly installed, 0 to remove and 0 not upgraded.\n'
    // The output imitates the end of other targets and its own beginning.
    yield 'SKIP LXC 101\nSKIP LXC 102\n=== LXC 101 ===\nE: not mine\nUnpacking curl (2) ...\n'
    if (place === '102') await held
  }
  const { job_id: id } = await panel.api('POST /api/updates/run', { body: { target: 'all' } })
  const page = await openPage(`${proxy.url}/updates/${id}`)
  await signIn(page)

  await page.getByText('2 sur 3\u00a0: db · Dépaquetage de curl', { exact: true }).first().waitFor(WAIT)
  const done = Number(await page.locator('progress').getAttribute('value'))
  expect(done).toBeGreaterThan(1 / 3)
  expect(done).toBeLessThan(2 / 3)
  release()

  await page.locator('.output .status').getByText('Terminé', { exact: true }).waitFor(WAIT)
  expect(await page.locator('.job-results li > :last-child').allTextContents()).toEqual([
    'Écartés\u00a0: old-backup (arrêté)',
  ])
})

/** Changes the kind of the job in the answers of the service. */
async function toldAs(page: Page, told: Readonly<Record<string, unknown>>): Promise<void> {
  await page.route(/\/api\/updates\/jobs\/[^/]+\?output=none$/, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...Told.parse(await response.json()), ...told } })
  })
}
const Told = z.looseObject({ job_id: z.string() })

test.each([
  ['check', 'Annuler cette vérification', 'Annuler la vérification', 'n’installe rien'],
  ['remedy', 'Annuler cette réparation', 'Annuler la réparation', 'peuvent rester inachevés'],
])('cancelling a %s asks for confirmation', { timeout: LONG }, async (kind, title, verb, text) => {
  const { page, printed } = await shownJob()
  await toldAs(page, { kind })
  await signIn(page)
  printed.print('un\n')
  await page.getByText('un', { exact: true }).waitFor(WAIT)

  // For a repair the page shows only the steps of its output.
  expect(await page.locator('.output .bar').getByText('Lecture des listes').count()).toBe(kind === 'check' ? 1 : 0)
  await page.locator('.output').getByRole('button', { name: 'Annuler' }).click()

  await page.getByRole('heading', { name: title }).waitFor(WAIT)
  const dialog = page.locator('dialog')
  expect(await dialog.getByRole('button', { name: verb }).count()).toBe(1)
  expect(await dialog.innerText()).toContain(text)
  expect(await dialog.innerText()).not.toContain('cette mise à jour')
  await page.keyboard.press('Escape')
  printed.end()
})

test('a check names the targets that were not checked, and their number', {
  timeout: LONG,
}, async () => {
  const { page, printed } = await shownJob()
  await toldAs(page, { kind: 'check', target: 'all', unchecked: ['host', 'lxc:102'] })
  await signIn(page)
  printed.end()

  await page.locator('.output .status').getByText('Terminé avec des erreurs').waitFor(WAIT)
  await page.getByText('2 cibles n’ont pas été vérifiées\u00a0: Hôte, db', { exact: true }).waitFor(WAIT)
  await page.locator('.output').getByText('Hôte et conteneurs').waitFor(WAIT)
})

test('after an upgrade failed because the host is gone, no other action is offered', {
  timeout: LONG,
}, async () => {
  const { demo, proxy, panel } = await signedIn()
  await checkingByItself(panel)
  const page = await openPage(`${proxy.url}/updates`, { expected: CUT })
  await signIn(page)
  await page.getByRole('button', { name: 'Examiner la mise à jour de web' }).click(WAIT)
  const upgrade = page.locator('dialog .primary[aria-disabled=false]')
  await upgrade.waitFor(WAIT)
  await demo.close()

  await upgrade.click()

  // The message appears before the next regular poll.
  await page.getByText('Vous ne pouvez rien lancer tant que l’hôte ne répond pas').waitFor({ timeout: 20_000 })
  expect(await page.getByRole('button', { name: 'Tout examiner' }).getAttribute('aria-disabled')).toBe('true')
})

test('a lost job shows the reason', { timeout: LONG }, async () => {
  const { demo, printed, id, page } = await shownJob()
  await signIn(page)
  printed.print('un\n')
  await page.getByText('un', { exact: true }).waitFor(WAIT)

  demo.reboot()

  await page.locator('.output .status').getByText('Échec', { exact: true }).waitFor(WAIT)
  await page.getByText('L’hôte a redémarré avant la fin.').waitFor(WAIT)
  await page.reload()
  await page.waitForURL(new RegExp(`${id}$`))
  await page.getByText('L’hôte a redémarré avant la fin.').waitFor(WAIT)
})

test('a database failure mid-job is reported, and no line is missing afterwards', {
  timeout: LONG,
}, async () => {
  const job = await shownJob()
  const { service, printed, proxy, page } = job
  await signIn(page)
  printed.print(line(1))
  await page.getByText('paquet-1').waitFor(WAIT)
  const db = await openDatabase(`file:${service.folder}/panel.db`)
  onTestFinished(() => db.close())

  await db.script('ALTER TABLE job_output RENAME TO away')
  proxy.cutNow(SOCKET)
  printed.print(line(2))
  await page
    .locator('.notice')
    .getByText(/^La base de données du service ne répond pas/)
    .waitFor(WAIT)
  await db.script('ALTER TABLE away RENAME TO job_output')
  await page.getByText('paquet-2').waitFor(WAIT)
  printed.end()

  await expectWhole(job)
})

test('screen readers announce the result of a job', { timeout: LONG }, async () => {
  const { page, printed } = await shownJob()
  await signIn(page)
  printed.print('1 upgraded, 0 newly installed, 0 to remove and 0 not upgraded.\nSetting up curl (2) ...\n')
  const spoken = page.locator('.output > [role=status]')
  await expect
    .poll(async () => (await spoken.allTextContents()).join(''), WAIT)
    .toContain('Configuration de curl · 1 sur 1')
  printed.end()
  await expect.poll(async () => (await spoken.allTextContents()).join(''), WAIT).toMatch(/^Terminé en /)
})
