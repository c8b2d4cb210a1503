import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { createPanel } from '../../../client/index.ts'
import { openDatabase } from '../../../db/libsql/client.ts'
import { openPage, signIn } from '../browser.ts'
import { expireTokens } from './proofs.ts'
import { started } from './started.ts'

const WAIT = { timeout: 30_000 }
const REFUSED = /status of (401|403)|net::ERR_ABORTED/

test('an administrator ends the sessions of somebody, bars them, and admits them again', async () => {
  const { service } = await started()
  const program = createPanel({ url: service.url })
  await program.signIn('guest', 'guest')
  await program.api('POST /api/auth/tokens', { body: { name: 'Sauvegarde', role: 'viewer', targets: 'all' } })
  await program.signOut()
  const guest = await openPage(service.url, { expected: REFUSED })
  await signIn(guest, 'guest')
  const page = await openPage(`${service.url}/access`)
  await signIn(page)
  const row = page.locator('.people > li').filter({ hasText: 'guest' })
  await row.getByRole('button', { name: '1 session de guest' }).click(WAIT)
  await row.getByText('Chrome sur Linux').waitFor(WAIT)

  await row.getByRole('button', { name: 'Autres actions sur guest' }).click()
  await page.getByRole('button', { name: 'Mettre fin à ses sessions' }).click()
  await page.locator('dialog').getByRole('button', { name: 'Mettre fin à ses sessions' }).click()
  await guest.locator('input[name=username]').waitFor(WAIT)

  await row.getByRole('button', { name: 'Autres actions sur guest' }).click()
  await page.getByRole('button', { name: 'Exclure', exact: true }).click()
  await page.locator('dialog').getByRole('button', { name: 'Exclure' }).click()
  const barred = row.getByText(/^Exclu par demo/)
  await barred.waitFor(WAIT)
  const isOfRow = (element: Element) => {
    const mark = element.closest('.status')?.getBoundingClientRect()
    const name = element.closest('li')?.querySelector('strong')?.getBoundingClientRect()
    return mark && name && [mark.x - name.x, mark.y >= name.bottom]
  }
  expect(await barred.evaluate(isOfRow)).toEqual([0, true])
  // The list of tokens below tells it too, without a reload of the page.
  const token = page.getByRole('listitem').filter({ hasText: 'Sauvegarde' })
  await token.getByText('Refusé à présent').waitFor(WAIT)
  await guest.locator('input[name=username]').fill('guest')
  await guest.locator('input[name=password]').fill('guest')
  await guest.keyboard.press('Enter')
  await guest.getByText('Un administrateur a exclu votre compte de ce panneau.').waitFor(WAIT)

  await row.getByRole('button', { name: 'Autres actions sur guest' }).click()
  await page.getByRole('button', { name: 'Admettre de nouveau' }).click()
  await row.getByText(/^Exclu par demo/).waitFor({ state: 'detached', ...WAIT })
  await token.getByText('Refusé à présent').waitFor({ state: 'detached', ...WAIT })
  await signIn(guest, 'guest')
})

test('the number of the API tokens of somebody is that of the list below, and expired ones are told apart', async () => {
  const { service } = await started()
  const program = createPanel({ url: service.url })
  await program.signIn('guest', 'guest')
  for (const name of ['Sauvegarde', 'Supervision'])
    await program.api('POST /api/auth/tokens', { body: { name, role: 'viewer', targets: 'all' } })
  await expireTokens(service.folder, 'Supervision')
  const page = await openPage(`${service.url}/access`)
  await signIn(page)
  const tokens = page.getByRole('region', { name: 'Jetons d’API de tous' })
  await tokens.getByText('1 jeton, et 1 expiré').waitFor(WAIT)

  expect(await page.locator('.people > li').filter({ hasText: 'guest' }).innerText()).toContain('1 jeton d’API.')
  const names = await tokens.locator('li .cut-two').allInnerTexts()
  expect(names).toEqual(['Sauvegarde', 'Supervision'])
})

test('more than a hundred accounts come page by page, and stay after a change of one', async () => {
  const { service } = await started()
  const db = await openDatabase(`file:${service.folder}/panel.db`)
  const names = Array.from({ length: 130 }, (_, n) => `person${1000 + n}`)
  await db.batch(
    names.map((name) => ({
      sql: `INSERT INTO users (username, is_admin, created_at) VALUES (?, 0, '2026-01-01T00:00:00.000Z')`,
      args: [name],
    })),
  )
  const page = await openPage(`${service.url}/access`)
  await signIn(page)
  const [all] = await db.query(z.object({ n: z.number() }), 'SELECT count(*) AS n FROM users WHERE id > 0')
  await db.close()
  const rows = page.locator('.people > li')
  await rows.nth(99).waitFor(WAIT)
  expect(await rows.count()).toBe(100)

  await page.getByRole('button', { name: 'Afficher d’autres comptes' }).click()
  await rows.filter({ hasText: 'person1129' }).waitFor(WAIT)
  expect(await rows.count()).toBe(all?.n)
  expect(await page.getByRole('button', { name: 'Afficher d’autres comptes' }).count()).toBe(0)

  await page.getByRole('button', { name: 'Autres actions sur person1129' }).click()
  await page.getByRole('button', { name: 'Exclure', exact: true }).click()
  await page.locator('dialog').getByRole('button', { name: 'Exclure' }).click()
  await rows
    .filter({ hasText: 'person1129' })
    .getByText(/^Exclu par demo/)
    .waitFor(WAIT)
  expect(await rows.count()).toBe(all?.n)
})

test('on a phone, the buttons of a person are side by side at the end of the row', async () => {
  const { service } = await started()
  const page = await openPage(`${service.url}/access`, { viewport: { width: 390, height: 800 } })
  await signIn(page)
  const sessions = page.getByRole('button', { name: '1 session de demo' })
  await sessions.waitFor(WAIT)
  const [button, menu] = [
    await sessions.boundingBox(),
    await page.getByRole('button', { name: 'Autres actions sur demo' }).boundingBox(),
  ]

  expect(
    Math.abs((menu?.y ?? 0) + (menu?.height ?? 0) / 2 - (button?.y ?? 0) - (button?.height ?? 0) / 2),
  ).toBeLessThan(2)
  expect((menu?.x ?? 0) - (button?.x ?? 0) - (button?.width ?? 0)).toBeLessThanOrEqual(12)
})

test('administrators end their own sessions, and do not bar themselves', async () => {
  const { service } = await started()
  const page = await openPage(`${service.url}/access`, { expected: REFUSED })
  await signIn(page)
  await page.getByRole('button', { name: 'Autres actions sur demo' }).click(WAIT)
  const bar = page.getByRole('button', { name: 'Exclure', exact: true })

  expect(await bar.getAttribute('title')).toBe('Vous ne pouvez pas exclure votre propre compte.')
  await bar.click({ force: true })
  expect(await page.locator('dialog').count()).toBe(0)

  await page.getByRole('button', { name: 'Autres actions sur demo' }).click()
  await page.getByRole('button', { name: 'Mettre fin à vos sessions' }).click()
  const dialog = page.getByRole('dialog', { name: 'Mettre fin à vos sessions\u202f?' })
  await dialog.getByText('cette session-ci comprise').waitFor()
  await dialog.getByRole('button', { name: 'Mettre fin à vos sessions' }).click()
  await page.locator('input[name=username]').waitFor(WAIT)
})

test('an API token is shown once, works, and is revoked', async () => {
  const { service } = await started()
  const page = await openPage(`${service.url}/account`)
  await signIn(page)
  await page.getByRole('button', { name: 'Nouveau jeton' }).click(WAIT)
  await page.getByLabel('Nom', { exact: true }).fill('Supervision')
  await page.getByText('Certaines', { exact: true }).click()
  const pick = page.getByRole('group', { name: 'Certaines' })
  expect(await pick.getAttribute('aria-describedby')).toBeNull()
  await page.setViewportSize({ width: 390, height: 700 })
  await page.getByRole('button', { name: 'Créer le jeton' }).click()
  const missing = page.getByText('Choisissez au moins une cible.')
  await missing.waitFor(WAIT)
  expect(await pick.getAttribute('aria-describedby')).toBe(await missing.getAttribute('id'))
  // In sight, above the list that scrolls.
  const isSeen = (element: Element) => {
    const { x, y, height } = element.getBoundingClientRect()
    return document.elementFromPoint(x + 4, y + height / 2) === element
  }
  await expect.poll(() => missing.evaluate(isSeen), WAIT).toBe(true)
  await page.locator('.pick').getByRole('checkbox').first().check()
  await page.getByRole('button', { name: 'Créer le jeton' }).click()
  const token = await page.locator('dialog .secret').innerText(WAIT)
  const asked = () => fetch(`${service.url}/api/auth/me`, { headers: { authorization: `Bearer ${token}` } })
  expect((await asked()).status).toBe(200)
  await page.getByRole('button', { name: 'Terminer' }).click()
  expect(await page.content()).not.toContain(token)

  await page.getByRole('button', { name: 'Révoquer le jeton Supervision' }).click(WAIT)
  await page.locator('dialog').getByRole('button', { name: 'Révoquer' }).click()
  await page.getByText('Aucun jeton.').waitFor(WAIT)
  expect((await asked()).status).toBe(401)
})

test('the audit log says that a new API token never expires', async () => {
  const { service } = await started()
  const program = createPanel({ url: service.url })
  await program.signIn('demo', 'demo')
  const body = { name: 'Sauvegarde', role: 'viewer', targets: 'all', expires_at: null } as const
  await program.api('POST /api/auth/tokens', { body })
  const page = await openPage(`${service.url}/audit`)
  await signIn(page)
  const row = page.locator('.audit-entries > li').filter({ hasText: 'Sauvegarde' })
  await row.getByText('Détails').click(WAIT)

  const expiry = row.locator('dl > div').filter({ hasText: 'Expiration' })
  expect(await expiry.locator('dd').innerText(WAIT)).toBe('jamais')
})

test('the chosen entries of the audit log are saved as a file', async () => {
  const { service } = await started()
  const page = await openPage(`${service.url}/audit`)
  await signIn(page)
  await page.getByLabel('Action').selectOption('login_success')
  await page.getByRole('button', { name: 'Filtrer' }).click()
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Exporter en CSV' }).click(WAIT)
  const file = await saved
  const chunks: Buffer[] = []
  for await (const chunk of await file.createReadStream()) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString()

  expect(file.suggestedFilename()).toBe('audit.csv')
  expect(text).toContain('login_success')
  expect(text).not.toContain('settings_changed')
})

/** The numbers of things on the pages of updates and of containers that only operators may use. */
async function offered(page: Page): Promise<number[]> {
  await page.locator('.targets tr.row').first().waitFor(WAIT)
  const verbs = await page.getByRole('button', { name: /^(Tout vérifier|Tout examiner|Examiner|Vérifier)/ }).count()
  const choices = await page.locator('.targets .c-check input').count()
  await page.getByRole('link', { name: 'Conteneurs' }).first().click()
  await page.getByRole('heading', { name: 'Conteneurs' }).waitFor(WAIT)
  await page.getByText('old-backup').first().waitFor(WAIT)
  return [verbs, choices, await page.locator('.container-actions').count()]
}

test('a viewer reads, and is offered nothing that only others may do', async () => {
  const { service } = await started({ PANEL_VIEWER_GROUPS: 'guest', PANEL_OPERATOR_GROUPS: 'sudo' })
  const other = await openPage(`${service.url}/updates`)
  await signIn(other)
  // Updates can be chosen once a check has found them.
  await other.getByRole('button', { name: 'Tout vérifier' }).click(WAIT)
  await other
    .locator('.targets .c-check input')
    .first()
    .waitFor({ state: 'attached', ...WAIT })
  for (const count of await offered(other)) expect(count).toBeGreaterThan(0)

  const page = await openPage(`${service.url}/updates`)
  await signIn(page, 'guest')
  expect(await offered(page)).toEqual([0, 0, 0])
  await page.getByRole('link', { name: 'guest' }).click()
  await page.getByText('Lecture.').waitFor(WAIT)
})

test('an operator of one container starts and stops that one alone', async () => {
  const { service } = await started({ PANEL_OPERATOR_GROUPS: 'guest:lxc/101' })
  const page = await openPage(`${service.url}/containers`)
  await signIn(page, 'guest')
  await page.getByRole('button', { name: 'Arrêter web' }).waitFor(WAIT)
  expect(await page.locator('.container-actions').count()).toBe(1)

  await page.getByRole('link', { name: 'Mises à jour' }).first().click()
  await page.getByText('Le titre et le menu ne comptent que vos cibles.').waitFor(WAIT)
  await page.locator('.targets tr.row').first().waitFor(WAIT)
  expect(await page.getByRole('button', { name: 'Tout vérifier' }).count()).toBe(0)
})
