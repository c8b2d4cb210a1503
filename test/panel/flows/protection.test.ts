import { expect, test } from 'vitest'
import { startDemo } from '../../runtime/demo.ts'
import { startService } from '../../serve/service.ts'
import { focused, focusedAtOnce, openPage, signIn } from '../browser.ts'
import { planning } from './plan-states.ts'
import { brokenJob, guarding, JOB, POLICY, protectedJob, REMOVAL } from './protection-states.ts'
import { answered, ready } from './update-states.ts'

const LONG = 120_000
const WAIT = { timeout: 20_000, interval: 50 }
/** The jobs that the answers name do not exist. */
const EXPECTED = { expected: /status of (404|409|422)|WebSocket/ }

const TARGETS = [ready('host', 'Hôte'), ready('lxc:101', 'web'), ready('lxc:102', 'db'), ready('lxc:103', 'mail')]

/** The page of the updates, at one of its tabs. */
async function updatesPage({ query = '', record = protectedJob(), name = 'demo' as 'demo' | 'guest' } = {}) {
  const service = await startService(await startDemo())
  const page = await openPage(`${service.url}/updates${query}`, EXPECTED)
  await answered(page, TARGETS)
  await planning(page)
  const guard = await guarding(page, record)
  await signIn(page, name)
  return { page, ...guard }
}

test('the tab shows the default, and each container with what it can and its snapshots', {
  timeout: LONG,
}, async () => {
  const { page } = await updatesPage({ query: '?tab=protection' })
  const rows = page.locator('.guarded > li')
  await expect.poll(() => rows.count(), WAIT).toBe(3)
  // The section of the default one has its policy.
  expect(await rows.nth(0).textContent()).toMatch(/^web101Par défautOKInstantanés et sauvegardes possibles/)
  expect(await page.locator('.default-policy').textContent()).toMatch(/Instantané si possible · 3 gardés · 60\ss/)
  await page.getByRole('heading', { name: 'Conteneurs 2 sans la protection voulue' }).waitFor(WAIT)
  expect(await rows.nth(1).textContent()).toContain('le stockage local (dir) ne sait pas faire d’instantané')
  expect(await rows.nth(2).textContent()).toMatch(/^mail103Réglage à lui.* · 2 sondes · revient de lui-même/)
  await rows.nth(0).getByRole('button', { name: '2 instantanés de web' }).press('Enter')
  const snapshots = rows.nth(0).locator('.snapshots > li')
  expect(await snapshots.count()).toBe(2)
  const foreign = snapshots.filter({ hasText: 'before-migration' })
  await foreign.getByText(/n’est pas du panneau\s: il n’y touche jamais/).waitFor(WAIT)
  expect(await foreign.locator('button, a').count()).toBe(0)
})

test('a snapshot that stayed behind is removed after a question', { timeout: LONG }, async () => {
  const { page, state, asked } = await updatesPage({ query: '?tab=protection' })
  state.started = protectedJob({ job_id: REMOVAL, kind: 'snapshot', protection: null, snapshot: null })
  await page.getByRole('button', { name: '2 instantanés de web' }).click()
  await page.getByRole('button', { name: `Supprimer panel-${JOB}` }).click()
  await page.locator('dialog').getByText('Le conteneur ne pourra plus revenir à cet état.').waitFor(WAIT)
  await page.locator('dialog .button.danger').click()
  await expect.poll(() => new URL(page.url()).pathname, WAIT).toBe(`/updates/${REMOVAL}`)
  expect(asked).toEqual([{ method: 'DELETE', path: `/jobs/${JOB}/snapshot`, body: null }])
})

test('a policy is edited by keyboard, with probes of four kinds', { timeout: LONG }, async () => {
  const { page, asked } = await updatesPage({ query: '?tab=protection' })
  await page.getByRole('button', { name: 'Modifier la protection de web' }).press('Enter')
  const dialog = page.locator('dialog.edit-policy')
  await dialog.getByRole('radio', { name: 'Revenir seul' }).check({ force: true })
  await dialog.locator('input[name=keep]').fill('5')
  for (const [kind, text] of [
    ['Adresse', 'https://web.example/'],
    ['Port', '443'],
    ['Service', 'nginx.service'],
    ['Commande', 'nc -z "a b" 25'],
  ] as const) {
    await dialog.locator('.add').getByRole('button', { name: kind }).press('Enter')
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('name')), WAIT).toMatch(/^probes/)
    await page.keyboard.type(text)
  }
  await dialog.getByRole('button', { name: /^Retirer\s: Port 443$/ }).press('Enter')
  await expect.poll(() => focused(page), WAIT).toBe('Adresse')
  await dialog.locator('input[name=keep]').press('Enter')
  await dialog.waitFor({ state: 'detached', ...WAIT })
  expect(asked).toEqual([
    {
      method: 'PUT',
      path: '/protection/lxc:101',
      body: {
        ...POLICY,
        keep: 5,
        on_failure: 'rollback',
        probes: [
          { kind: 'http', url: 'https://web.example/', status: 200 },
          { kind: 'unit', name: 'nginx.service' },
          { kind: 'command', command: ['nc', '-z', 'a b', '25'] },
        ],
      },
    },
  ])
})

test('the focus is in a new probe before the next key, and with the buttons once one is removed', {
  timeout: LONG,
}, async () => {
  const { page } = await updatesPage({ query: '?tab=protection' })
  await page.getByRole('button', { name: 'Modifier la protection de web' }).press('Enter')
  const dialog = page.locator('dialog.edit-policy')
  // A field has no text of its own.
  expect(await focusedAtOnce(dialog.locator('.add').getByRole('button', { name: 'Port' }))).toBe('')
  expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toMatch(/^probes\.\d\.port$/)
  await page.keyboard.type('443')
  expect(await focusedAtOnce(dialog.getByRole('button', { name: /^Retirer\s: Port 443$/ }))).toBe('Adresse')
})

test('refused fields are marked, and the first one has the focus', { timeout: LONG }, async () => {
  const { page, state } = await updatesPage({ query: '?tab=protection' })
  state.refusal = {
    status: 422,
    json: {
      error: 'x',
      code: 'protection_invalid',
      details: [
        { field: 'settle_seconds', message: 'x' },
        { field: 'probes.0.url', message: 'x' },
        { field: 'probes.1.command.0', message: 'x' },
      ],
    },
  }
  await page.getByRole('button', { name: 'Modifier la protection de mail' }).click()
  const dialog = page.locator('dialog.edit-policy')
  await dialog.locator('input[name=settle_seconds]').fill('1')
  await dialog.getByRole('button', { name: 'Enregistrer' }).click()
  await expect
    .poll(
      () => dialog.locator('[aria-invalid=true]').evaluateAll((all) => all.map((each) => each.getAttribute('name'))),
      WAIT,
    )
    .toEqual(['settle_seconds', 'probes.0.url', 'probes.1.command'])
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.getAttribute('name')), WAIT)
    .toBe('settle_seconds')
})

test('a container goes back to the default; one without a policy of its own has no such button', {
  timeout: LONG,
}, async () => {
  const { page, asked } = await updatesPage({ query: '?tab=protection' })
  const back = page.getByRole('button', { name: 'Revenir au réglage par défaut' })
  await page.getByRole('button', { name: 'Modifier la protection de web' }).click()
  expect(await back.count()).toBe(0)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Modifier la protection de mail' }).click()
  await back.click()
  await page.locator('dialog').waitFor({ state: 'detached', ...WAIT })
  expect(asked).toEqual([{ method: 'DELETE', path: '/protection/lxc:103', body: null }])
})

test('who is no administrator reads the policies and the snapshots, and changes nothing', {
  timeout: LONG,
}, async () => {
  const { page } = await updatesPage({ query: '?tab=protection', name: 'guest' })
  await page.getByRole('button', { name: '2 instantanés de web' }).click()
  await page.getByText(`panel-${JOB}`).waitFor(WAIT)
  expect(await page.locator('.protection').getByRole('button').allTextContents()).toEqual(['2 instantanés'])
})

test('the foot of a plan says what protects it, and leads to its change', { timeout: LONG }, async () => {
  const { page } = await updatesPage()
  const guard = page.locator('dialog.drawer .guard li')
  const said = async (name: string) => {
    await page.getByRole('button', { name: `Examiner la mise à jour de ${name}` }).click()
    await guard.first().waitFor(WAIT)
    const all = await guard.allTextContents()
    return all.map((text) => text.replace(/\s/g, ' '))
  }
  const close = async () => {
    await page.keyboard.press('Escape')
    await page.locator('dialog.drawer').waitFor({ state: 'detached', ...WAIT })
  }
  expect(await said('Hôte')).toEqual(['Sans protection : l’hôte n’a pas d’instantané'])
  await close()
  expect(await said('db')).toEqual([
    'Pas d’instantané : le stockage local (dir) ne sait pas faire d’instantané',
    'Mise à jour',
    '60 s de contrôle de santé',
    'signale ce qui ne marche plus',
  ])
  await close()
  expect(await said('mail')).toEqual([
    'Protection impossible, rien ne sera installé : aucun stockage de l’hôte n’accepte de sauvegardes',
  ])
  await close()
  expect(await said('web')).toEqual([
    'Instantané',
    'Mise à jour',
    '60 s de contrôle de santé',
    'demande avant de revenir',
  ])
  await page.getByRole('button', { name: 'Modifier la protection' }).click()
  await page.getByRole('heading', { name: 'Protection de web' }).waitFor(WAIT)
  await page.keyboard.press('Escape')
  await page.locator('dialog.edit-policy').waitFor({ state: 'detached', ...WAIT })
  expect(await focused(page)).toBe('Modifier la protection')
})

test('several plans count what protects them', { timeout: LONG }, async () => {
  const { page } = await updatesPage()
  await page.locator('.head .primary').click()
  await expect
    .poll(() => page.locator('dialog.drawer .guard li').allTextContents(), WAIT)
    .toEqual([
      '1 avec instantané',
      '1 sans instantané',
      '1 impossible',
      'l’hôte sans protection',
      '60\u00a0s de contrôle de santé',
    ])
})

test('a broken target comes first with its comparison, and one that went back says so', { timeout: LONG }, async () => {
  const { page, state } = await updatesPage({ record: brokenJob() })
  const first = page.locator('.targets tr.row').first()
  await expect.poll(() => first.textContent(), WAIT).toMatch(/En panneweb101Port 443 et 3 autres ne marchent plus/)
  const decide = page.getByRole('link', { name: 'Comparer web et décider' })
  expect(await decide.getAttribute('href')).toBe(`/updates/${JOB}`)
  state.record = brokenJob({ outcome: 'rolled_back', outage_seconds: 38 })
  await page.reload()
  await page.getByRole('link', { name: 'Pourquoi web est revenu en arrière' }).waitFor(WAIT)
  const row = page.locator('.targets tr.row').filter({ hasText: 'web' })
  expect(await row.locator('.status.back').textContent()).toBe('Rétabli')
})

test('a run names each target with its phase', { timeout: LONG }, async () => {
  const { page } = await updatesPage()
  const job = (n: number, rest: Parameters<typeof protectedJob>[0]) =>
    protectedJob({ job_id: `177236640${n}-aaaaaaaa`, target: `lxc:10${n}`, run_id: 'a'.repeat(24), ...rest })
  const running = { status: 'running' as const, outcome: null, snapshot: null }
  const jobs = [
    job(1, { ...running, phase: 'waiting' }),
    job(2, { ...running, phase: 'protecting' }),
    job(3, { ...running, phase: 'settling' }),
    job(4, {}),
    job(5, { outcome: 'rolled_back' }),
    job(6, { outcome: 'regressed' }),
  ]
  const run = { id: 'a'.repeat(24), started_at: jobs[0]?.started_at, started_by_name: 'demo', jobs }
  await page.route('**/api/updates/runs/*', (route) => route.fulfill({ json: run }))
  await page.goto(`${new URL(page.url()).origin}/runs/${run.id}`)
  await expect
    .poll(() => page.locator('.history tbody .status').allTextContents(), WAIT)
    .toEqual(['En attente', 'Instantané', 'Stabilisation', 'Terminé', 'Rétabli', 'En panne'])
  await page.getByText(/1 en panne\s: à vous de choisir/).waitFor(WAIT)
})
