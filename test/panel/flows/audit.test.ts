import { expect, test } from 'vitest'
import { createPanel } from '../../../client/index.ts'
import { follow, openPage, signIn } from '../browser.ts'
import { started } from './started.ts'

async function opened(busy?: (panel: ReturnType<typeof createPanel>) => Promise<unknown>) {
  const { service } = await started()
  const other = createPanel({ url: service.url })
  await other.signIn('guest', 'guest')
  await busy?.(other)
  const page = await openPage(`${service.url}/audit`)
  await signIn(page)
  await page.getByText('demo s’est connecté').waitFor()
  return page
}

const sentences = '.audit-entries li .grow > p'

test('entries are sentences with container names, newest first', async () => {
  const page = await opened((panel) => panel.api('POST /api/updates/run', { body: { target: 'lxc:101' } }))
  await page.getByText('guest a lancé une mise à jour sur le conteneur web').waitFor()
  const told = await page.locator(sentences).allInnerTexts()
  // It ends sooner or later.
  expect(told.filter((sentence) => !sentence.startsWith('La mise à jour sur le conteneur web'))).toEqual([
    'demo s’est connecté',
    'guest a lancé une mise à jour sur le conteneur web',
    'guest s’est connecté',
  ])
})

test('the end of an upgrade is told with its outcome', async () => {
  const page = await opened(async (panel) => {
    const { job_id: id } = await panel.api('POST /api/updates/run', { body: { target: 'lxc:101' } })
    const status = async () => (await panel.api('GET /api/updates/jobs/{id}', { params: { id } })).status
    await expect.poll(status, { interval: 20, timeout: 10_000 }).not.toBe('running')
  })
  await page.getByText(/^La mise à jour sur le conteneur web (a réussi|n’avait rien à faire)$/).waitFor()
})

test('the mark of an entry says how an upgrade ended, and nothing that failed has a green one', async () => {
  const { service } = await started()
  const page = await openPage(`${service.url}/audit`)
  const ends = ['upgraded', 'nothing_to_do', 'plan_changed', 'cancelled', 'rolled_back', 'regressed', 'rollback_failed']
  // Names that every object has are no outcomes.
  const hostile = ['constructor', '__proto__', 'toString', 'hasOwnProperty']
  const entries = [...ends, 'failed', 'an outcome of a later version', ...hostile, undefined].map((outcome, at) => ({
    id: 100 - at,
    at: '2026-03-01T12:00:00.000Z',
    user_id: 1,
    username: 'demo',
    action: 'update_end',
    target: 'host',
    ip: '',
    details: { job_id: String(at), kind: 'upgrade', regressions: 0, ...(outcome !== undefined && { outcome }) },
  }))
  const details = Object.fromEntries([
    ['constructor', 'valueOf'],
    ['role', 'toString'],
  ])
  const all = [...entries, { ...entries[0], id: 1, action: 'constructor', details }]
  await page.route('**/api/audit?*', (route) => route.fulfill({ json: { entries: all, next: null } }))
  await signIn(page)
  const marks = page.locator('.audit-entries li > .status')
  await expect.poll(() => marks.count()).toBe(all.length)
  const kinds = await marks.evaluateAll((all) => all.map((mark) => mark.className.replace('status ', '')))
  expect(kinds).toEqual(['ok', 'ok', 'warn', 'warn', 'warn', 'err', 'err', 'err', ...Array(6).fill('warn'), 'ok'])
})

test('a refusal names its error and its number, and a new proof that was asked for is no refusal', async () => {
  const { service } = await started()
  const page = await openPage(`${service.url}/audit`, { viewport: { width: 390, height: 800 } })
  const given = { at: '2026-03-01T12:00:00.000Z', username: 'demo', ip: '127.0.0.1' }
  const refusal = (code: string) => ({ code, function: 'POST /api/settings/ssh-key/rotate', refused: 2 })
  const fingerprint = `SHA256:${'A'.repeat(43)}`
  const entries = [
    { id: 3, action: 'access_refused', target: null, details: refusal('forbidden'), ...given },
    {
      id: 2,
      action: 'access_refused',
      target: null,
      details: { code: 'step_up_required', function: 'PATCH /api/settings' },
      ...given,
    },
    { id: 4, action: 'access_refused', target: null, details: refusal('step_up_required'), ...given },
    {
      id: 1,
      action: 'ssh_key_rotated',
      target: null,
      details: { fingerprint_before: fingerprint, fingerprint_after: fingerprint, password: 'forgotten' },
      ...given,
    },
  ]
  await page.route('**/api/audit?*', (route) => route.fulfill({ json: { entries, next: null } }))
  await signIn(page)
  const rows = page.locator('.audit-entries > li')
  await expect.poll(() => rows.count()).toBe(4)
  expect(await page.locator(sentences).allInnerTexts()).toEqual([
    'demo a essuyé un refus',
    'demo a dû confirmer son identité',
    // Repeated ones may be a stolen token that tries operations.
    'demo a essuyé un refus',
    'demo a changé la clé SSH du compte de service',
  ])
  const marks = await rows.locator('.status').evaluateAll((all) => all.map((mark) => mark.className))
  expect(marks).toEqual(['status warn', 'status ok', 'status warn', 'status ok'])

  for (const row of await rows.all()) await row.getByText('Détails').click()
  expect(await rows.nth(0).locator('dt').allInnerTexts()).toEqual(['Code d’erreur', 'Opération', 'Nombre'])
  expect(await rows.nth(3).locator('dd').allInnerTexts()).toEqual([fingerprint, fingerprint, 'oublié'])
  // A long value breaks, and the page does not scroll sideways.
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
})

test('details have names in the language of the reader, and leave out what is empty', async () => {
  const { service } = await started()
  const panel = createPanel({ url: service.url })
  await panel.signIn('demo', 'demo')
  const shortcuts = [{ label: 'Wiki', href: 'https://wiki.example' }]
  await panel.api('PATCH /api/settings', { body: { dashboard_shortcuts: JSON.stringify(shortcuts) } })
  await panel.api('PATCH /api/settings', { body: { dashboard_shortcuts: '[]' } })
  const page = await openPage(`${service.url}/audit`)
  await signIn(page)
  const rows = page.locator('.audit-entries li', { hasText: 'demo a modifié les réglages' })
  await rows.first().waitFor()
  for (const row of await rows.all()) await row.getByText('Détails').click()
  expect(await rows.nth(1).locator('dt').allInnerTexts()).toEqual(['Réglages', 'Raccourcis (après)'])
  expect(await rows.nth(0).locator('dt').allInnerTexts()).toEqual([
    'Réglages',
    'Raccourcis (avant)',
    'Raccourcis (après)',
  ])
  expect(await rows.nth(1).locator('dd').first().innerText()).toBe('Raccourcis')
})

test('filters narrow the list and can be cleared', async () => {
  const page = await opened()
  await page.getByRole('combobox', { name: 'Utilisateur' }).fill('guest')
  await page.getByRole('button', { name: 'Filtrer' }).click()
  await page.getByText('demo s’est connecté').waitFor({ state: 'detached' })
  expect(await page.locator(sentences).allInnerTexts()).toEqual(['guest s’est connecté'])
  await page.getByRole('combobox', { name: 'Action' }).selectOption({ label: 'Déconnexion' })
  await page.getByRole('button', { name: 'Filtrer' }).click()
  await page.getByText('Aucune entrée ne correspond à ces filtres.').waitFor()
  await page.getByRole('button', { name: 'Tout afficher' }).click()
  await page.getByText('demo s’est connecté').waitFor()
})

test('older entries load on demand, each once', async () => {
  const page = await opened(async (panel) => {
    for (let n = 0; n < 28; n += 1) {
      const { job_id: id } = await panel.api('POST /api/updates/run', { body: { target: `lxc:${1_000 + n}` } })
      // The service limits the waiting jobs of a user, so each job ends before the next one starts.
      const status = async () => (await panel.api('GET /api/updates/jobs/{id}', { params: { id } })).status
      await expect.poll(status, { interval: 20, timeout: 10_000 }).not.toBe('running')
    }
  })
  const first = await page.locator(sentences).count()
  await page.getByRole('button', { name: 'Afficher les plus anciennes' }).click()
  await page.getByText('guest s’est connecté').waitFor()
  const all = await page.locator(sentences).allInnerTexts()
  expect(first).toBe(50)
  expect(new Set(all).size).toBe(all.length)
  await page.getByRole('button', { name: 'Afficher les plus anciennes' }).waitFor({ state: 'detached' })
})

test.each([390, 1440])('the name of a detail is not broken by a long value at %i px', async (width) => {
  const { service } = await started()
  const panel = createPanel({ url: service.url })
  await panel.signIn('demo', 'demo')
  const shortcut = (n: number) => ({ label: `Raccourci ${n}`, href: `https://shortcut-${n}.example` })
  for (const numbers of [
    [1, 2, 3, 4, 5],
    [1, 2, 3, 4],
  ])
    await panel.api('PATCH /api/settings', { body: { dashboard_shortcuts: JSON.stringify(numbers.map(shortcut)) } })
  const page = await openPage(`${service.url}/audit`)
  await signIn(page)
  await page.setViewportSize({ width, height: 900 })
  await page
    .locator('.audit-entries li', { hasText: 'demo a modifié les réglages' })
    .first()
    .getByText('Détails')
    .click()
  const heights = await page
    .locator('.audit-entries details[open] dt')
    .evaluateAll((names) => names.map((name) => name.getBoundingClientRect().height))
  expect(heights).toHaveLength(3)
  expect(new Set(heights).size).toBe(1)
})

/** Fills a field of the filters and submits them. */
async function filterBy(page: Awaited<ReturnType<typeof opened>>, fields: Readonly<Record<string, string>>) {
  for (const [label, text] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(text)
  await page.getByRole('button', { name: 'Filtrer' }).click()
}

const upgradesWeb = (panel: ReturnType<typeof createPanel>) =>
  panel.api('POST /api/updates/run', { body: { target: 'lxc:101' } })

test.each(['web', 'WEB', '101', 'lxc:101'])('the target %s is the container of this name or number', async (text) => {
  const page = await opened(upgradesWeb)
  await filterBy(page, { Cible: text })
  await page.getByText('demo s’est connecté').waitFor({ state: 'detached' })

  await page.getByText('guest a lancé une mise à jour sur le conteneur web').waitFor()
  const asked = await page.evaluate(() => new URLSearchParams(location.search).get('target'))
  expect(asked).toBe('lxc:101')
})

test('a name that no container has is told, and users are suggested as they are written', async () => {
  const page = await opened()
  await filterBy(page, { Cible: 'wbe' })
  await page.getByText('aucun conteneur connu ne s’appelle «\u00a0wbe\u00a0»').waitFor()

  const names = await page
    .locator('#audit-people option')
    .evaluateAll((all) => all.map((one) => one.getAttribute('value')))
  expect(names).toEqual(expect.arrayContaining(['demo', 'guest']))
  await filterBy(page, { Cible: '', Utilisateur: 'Guest' })
  await page.getByText('Les noms d’utilisateurs distinguent les majuscules\u00a0: «\u00a0guest\u00a0»').waitFor()
})

test('an end before the beginning is told at its field, and asks nothing', async () => {
  const page = await opened()
  const before = page.url()
  await filterBy(page, { 'Depuis le': '2026-03-02', 'Jusqu’au': '2026-03-01' })
  const until = page.getByLabel('Jusqu’au', { exact: true })

  await page.getByText('La fin («\u00a0Jusqu’au\u00a0») est avant le début').waitFor()
  await expect.poll(() => until.evaluate((field) => field === document.activeElement)).toBe(true)
  expect(await until.getAttribute('aria-invalid')).toBe('true')
  expect(page.url()).toBe(before)
  expect(await page.locator(sentences).count()).toBeGreaterThan(0)
  // The same day is a range.
  await filterBy(page, { 'Jusqu’au': '2026-03-02' })
  await page.getByText('Aucune entrée ne correspond à ces filtres.').waitFor()
  expect(await until.getAttribute('aria-invalid')).toBe('false')
})

test('the filters survive the way back and a reload, and a bad address is no filter', async () => {
  const page = await opened(upgradesWeb)
  await page.getByRole('combobox', { name: 'Action' }).selectOption({ label: 'Mise à jour lancée' })
  await filterBy(page, { Utilisateur: 'guest', Cible: 'web', 'Depuis le': '2020-01-01' })
  const only = async () => {
    await expect
      .poll(() => page.locator(sentences).allInnerTexts())
      .toEqual(['guest a lancé une mise à jour sur le conteneur web'])
    expect(await page.getByRole('combobox', { name: 'Action' }).inputValue()).toBe('update_start')
    expect(await page.getByLabel('Utilisateur', { exact: true }).inputValue()).toBe('guest')
    expect(await page.getByLabel('Depuis le', { exact: true }).inputValue()).toBe('2020-01-01')
  }
  await only()
  await follow(page, '/logs')
  await page.getByRole('heading', { name: 'Journaux' }).waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: 'Audit' }).waitFor()
  await only()
  expect(await page.getByLabel('Cible', { exact: true }).inputValue()).toBe('web')
  await page.reload()
  await only()
  await page.getByRole('button', { name: 'Tout afficher' }).click()
  await page.getByText('demo s’est connecté').first().waitFor()
  expect(new URL(page.url()).search).toBe('')

  await page.goto(new URL('/audit?action=constructor&from=2026-99-99&until=never', page.url()).href)
  await page.getByText('demo s’est connecté').first().waitFor()
})

test('the waves of a schedule are told by the names of their targets', async () => {
  const { service } = await started()
  const panel = createPanel({ url: service.url })
  await panel.signIn('demo', 'demo')
  await panel.api('POST /api/schedules', {
    body: {
      name: 'Every night',
      cron: '30 2 * * *',
      timezone: 'Asia/Tokyo',
      action: 'check',
      waves: [
        { targets: ['lxc:101', 'host'], pause_minutes: 10 },
        { targets: 'rest', pause_minutes: 0 },
      ],
    },
  })
  const many = Array.from({ length: 60 }, (_, n) => `lxc:${2000 + n}`)
  await panel.api('POST /api/schedules', {
    body: {
      name: 'Many',
      cron: '30 3 * * *',
      timezone: 'Asia/Tokyo',
      action: 'check',
      waves: [{ targets: many, pause_minutes: 0 }],
    },
  })
  const page = await openPage(`${service.url}/audit`)
  await signIn(page)
  const waves = async (name: string) => {
    const row = page.locator('.audit-entries > li', { hasText: `demo a créé la planification «\u00a0${name}` })
    await row.getByText('Détails').click()
    return row.locator('dl > div', { hasText: 'Vagues' }).locator('dd').innerText()
  }
  expect(await waves('Every night')).toBe(
    'vague 1\u00a0: web, Hôte (puis 10\u00a0min d’attente) · vague 2\u00a0: Le reste',
  )
  expect(await waves('Many')).toMatch(/^vague 1\u00a0: Conteneur 2000, .*\d…$/)
})
