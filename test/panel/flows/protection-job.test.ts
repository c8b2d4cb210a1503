import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startDemo } from '../../runtime/demo.ts'
import { startService } from '../../serve/service.ts'
import { focused, focusedAtOnce, openPage, signIn } from '../browser.ts'
import { CHANGES, planOf } from './plan-states.ts'
import { brokenJob, guarding, JOB, protectedJob, REMOVAL, ROLLBACK } from './protection-states.ts'
import { answered, told } from './update-states.ts'

const LONG = 120_000
const WAIT = { timeout: 20_000, interval: 50 }
/** The jobs that the answers name do not exist. */
const EXPECTED = { expected: /status of (404|409|422)|WebSocket/ }

/** The page of a job with this record. */
async function jobPage({
  record = brokenJob(),
  name = 'demo',
  locale = 'fr-FR',
}: Partial<{ record: ReturnType<typeof brokenJob>; name: 'demo' | 'guest'; locale: string }> = {}) {
  const service = await startService(await startDemo())
  const page = await openPage(`${service.url}/updates/${JOB}`, { ...EXPECTED, locale })
  await answered(page, [told('lxc:101', 'web')])
  await page.route('**/api/updates/plans/*', (route) => route.fulfill({ json: planOf(1, 'lxc:101', CHANGES) }))
  const guard = await guarding(page, record)
  await signIn(page, name)
  return { page, ...guard }
}

const stations = (page: Page) => page.locator('.steps li').evaluateAll((all) => all.map(({ className }) => className))
const heading = (page: Page) => page.locator('h1')

test('an upgrade that broke something shows both choices, what is lost, and what changed', {
  timeout: LONG,
}, async () => {
  const { page } = await jobPage()
  await expect.poll(() => heading(page).textContent(), WAIT).toBe('web est en panne depuis sa mise à jour')
  await expect.poll(() => stations(page), WAIT).toEqual(['done', 'done', 'fail', 'ask'])
  await page
    .getByText('4 choses marchaient avant et ne marchent plus. Le gestionnaire de paquets, lui, a bien fini à')
    .waitFor(WAIT)
  await page
    .getByText(/Tout ce qui a été écrit dans web depuis .* est perdu, .*\s5\sh\s4[67]\smin de travail/)
    .waitFor(WAIT)
  const rows = page.getByRole('table', { name: 'Avant et après' }).locator('tr.row')
  expect(await rows.count()).toBe(4)
  await page.getByRole('button', { name: 'Tout 9' }).click()
  await expect.poll(() => rows.count(), WAIT).toBe(9)
  await page.getByText('À l’écoute (sshd)').first().waitFor(WAIT)
  await page.getByText('Terminé, code 139').waitFor(WAIT)
  await page.locator('.changed-packages').getByText('openssl').waitFor(WAIT)
})

test('a rollback is asked twice in the page, and its own page follows', { timeout: LONG }, async () => {
  const { page, asked } = await jobPage()
  const start = page.getByRole('button', { name: 'Revenir en arrière sur web' })
  await start.press('Enter')
  await expect.poll(() => focused(page), WAIT).toBe('Pas maintenant')
  await page.keyboard.press('Enter')
  await expect.poll(() => focused(page), WAIT).toBe('Revenir en arrière sur web')
  expect(asked).toEqual([])
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Revenir en arrière maintenant' }).click()
  await expect.poll(() => new URL(page.url()).pathname, WAIT).toBe(`/updates/${ROLLBACK}`)
  expect(asked).toEqual([{ method: 'POST', path: `/jobs/${JOB}/rollback`, body: {} }])
  await expect.poll(() => heading(page).textContent(), WAIT).toBe('Retour en arrière')
})

test('both questions before a rollback have the focus before the next key', { timeout: LONG }, async () => {
  const { page } = await jobPage()
  expect(await focusedAtOnce(page.getByRole('button', { name: 'Revenir en arrière sur web' }))).toBe('Pas maintenant')
  expect(await focusedAtOnce(page.getByRole('button', { name: 'Pas maintenant' }))).toBe('Revenir en arrière sur web')
})

test('a refused rollback says why, and can be tried again', { timeout: LONG }, async () => {
  const { page, state } = await jobPage()
  state.refusal = {
    status: 409,
    json: { error: 'Le retour en arrière n’est pas possible : x', code: 'rollback_impossible' },
  }
  await page.getByRole('button', { name: 'Revenir en arrière sur web' }).click()
  await page.getByRole('button', { name: 'Revenir en arrière maintenant' }).click()
  await page.getByText('Ce retour en arrière n’est pas possible.').waitFor(WAIT)
  await page.getByText('Le retour en arrière n’est pas possible : x').waitFor(WAIT)
})

test('a backup is restored after its losses are read', { timeout: LONG }, async () => {
  const { snapshot } = brokenJob()
  const { page, state, asked } = await jobPage({
    record: brokenJob({ snapshot: snapshot && { ...snapshot, kind: 'backup' } }),
  })
  const destroys = ['mp0 (/srv/<b>volume</b>)']
  state.refusal = { status: 409, json: { error: 'x', code: 'rollback_impossible', destroys } }
  await page.getByRole('button', { name: 'Revenir en arrière sur web' }).click()
  await page.locator('.sure').getByText('mp0 (/srv/<b>volume</b>)').waitFor(WAIT)
  expect(await page.locator('.choice-card.undo .problem').count()).toBe(0)
  state.refusal = undefined
  await page.getByRole('button', { name: 'Revenir en arrière maintenant' }).click()
  await expect.poll(() => new URL(page.url()).pathname, WAIT).toBe(`/updates/${ROLLBACK}`)
  expect(asked.map(({ body }) => body)).toEqual([{}, { restore: true }])
})

test('a kept upgrade says who keeps it, and the way back stays open', { timeout: LONG }, async () => {
  const { page, state, asked } = await jobPage()
  const decided = { by: 'demo', at: new Date().toISOString(), choice: 'keep' as const, job_id: null }
  const keep = page.getByRole('button', { name: 'Garder', exact: true })
  await keep.waitFor(WAIT)
  state.record = brokenJob({ decided })
  await keep.click()
  await page.getByText('Gardée par demo à l’instant.').waitFor(WAIT)
  expect(asked).toEqual([{ method: 'POST', path: `/jobs/${JOB}/keep`, body: null }])
  await expect.poll(() => stations(page), WAIT).toEqual(['done', 'done', 'fail', 'done'])
  await page.getByRole('button', { name: 'Revenir en arrière sur web' }).waitFor(WAIT)
})

test('who is no administrator reads everything, and decides nothing', { timeout: LONG }, async () => {
  const { page } = await jobPage({ name: 'guest' })
  await page.getByText('Seul un administrateur peut revenir en arrière.').waitFor(WAIT)
  await page.getByText('Seul un administrateur peut décider.').waitFor(WAIT)
  expect(await page.locator('.choices button').count()).toBe(0)
})

test('a snapshot that is gone takes the way back with it', { timeout: LONG }, async () => {
  const { page, state } = await jobPage()
  await page.getByRole('button', { name: 'Revenir en arrière sur web' }).waitFor(WAIT)
  const { snapshot } = state.record
  // Somebody else removes it while the page is open.
  state.record = brokenJob({ snapshot: snapshot && { ...snapshot, present: false } })
  await page.reload()
  await page.getByText('L’instantané n’existe plus : aucun retour en arrière n’est possible.').waitFor(WAIT)
  expect(await page.locator('.button.undo').count()).toBe(0)
})

test('a rollback that the policy made says its outage', { timeout: LONG }, async () => {
  const { page } = await jobPage({ record: brokenJob({ outcome: 'rolled_back', outage_seconds: 38 }) })
  await expect.poll(() => heading(page).textContent(), WAIT).toBe('web est revenu en arrière')
  await expect.poll(() => stations(page), WAIT).toEqual(['done', 'done', 'fail', 'back'])
  await page.getByText('Il n’a pas répondu pendant 38 s.').waitFor(WAIT)
  expect(await page.locator('.choices').count()).toBe(0)
})

test('a failed rollback says the state of the container, and what to do on the host', { timeout: LONG }, async () => {
  const reason = "can't rollback, 'x' is not most recent snapshot on 'y'"
  const { page } = await jobPage({ record: brokenJob({ outcome: 'rollback_failed', reason }) })
  await expect.poll(() => heading(page).textContent(), WAIT).toMatch(/^web\s: le retour en arrière a échoué$/)
  await page.getByText(reason).waitFor(WAIT)
  expect(await page.locator('.todo').textContent()).toBe(`pct unlock 101\npct rollback 101 panel-${JOB}\npct start 101`)
})

test('a good upgrade keeps its snapshot, which an administrator removes', { timeout: LONG }, async () => {
  const { page, state, asked } = await jobPage({ record: protectedJob() })
  state.started = protectedJob({ job_id: REMOVAL, kind: 'snapshot', protection: null, snapshot: null })
  await expect.poll(() => stations(page), WAIT).toEqual(['done', 'done', 'done', 'done'])
  expect(await page.locator('.button.undo').count()).toBe(0)
  await page.getByRole('button', { name: /^Revenir à / }).click()
  await page.getByRole('button', { name: 'Revenir en arrière sur web' }).waitFor(WAIT)
  await page.getByRole('button', { name: 'Supprimer' }).click()
  await page.locator('dialog .button.danger').click()
  await expect.poll(() => new URL(page.url()).pathname, WAIT).toBe(`/updates/${REMOVAL}`)
  expect(asked).toEqual([{ method: 'DELETE', path: `/jobs/${JOB}/snapshot`, body: null }])
})

test('while it runs the stations follow the phases, and it says what follows when it breaks', {
  timeout: LONG,
}, async () => {
  const running = (phase: 'protecting' | 'upgrading' | 'settling') =>
    protectedJob({ status: 'running', outcome: null, phase, phases: [], comparison: null, snapshot: null })
  const { page, state } = await jobPage({ record: running('protecting'), locale: 'en-GB' })
  await expect.poll(() => stations(page), WAIT).toEqual(['now', 'ahead', 'ahead', 'ahead'])
  await page.getByText('you decide: go back to the snapshot, or keep').waitFor(WAIT)
  state.record = running('upgrading')
  await expect.poll(() => stations(page), WAIT).toEqual(['done', 'now', 'ahead', 'ahead'])
  state.record = running('settling')
  await expect.poll(() => stations(page), WAIT).toEqual(['done', 'done', 'now', 'ahead'])
})

test('a page that opens while it runs has the times of what is done, and counts the pause', {
  timeout: LONG,
}, async () => {
  const at = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()
  const phases = [
    { phase: 'protecting', at: at(-100) },
    { phase: 'measuring', at: at(-96) },
    { phase: 'upgrading', at: at(-90) },
    { phase: 'settling', at: at(-20) },
  ]
  const running = { status: 'running' as const, outcome: null, comparison: null, snapshot: null }
  const record = protectedJob({ ...running, phase: 'settling', phases })
  const { page } = await jobPage({ record, locale: 'en-GB' })
  await expect.poll(() => stations(page), WAIT).toEqual(['done', 'done', 'now', 'ahead'])
  const notes = () => page.locator('.steps small').allTextContents()
  expect((await notes()).slice(0, 2)).toEqual(['4\u00a0s', '1\u00a0min 10\u00a0s'])
  const counted = async () => Number(/^(\d+)\u00a0s \/ 60\u00a0s$/.exec((await notes())[2] ?? '')?.[1])
  const first = await counted()
  expect(first).toBeGreaterThanOrEqual(20)
  await expect.poll(counted, WAIT).toBeGreaterThan(first)
  // The head of the output says the same.
  expect(await page.locator('.output').textContent()).toContain('Settling')
})

test('while it runs without a snapshot, it says so as far as the last check knows', { timeout: LONG }, async () => {
  const running = { status: 'running' as const, outcome: null, comparison: null, snapshot: null, phases: [] }
  const record = protectedJob({ ...running, target: 'lxc:102', phase: 'upgrading' })
  const { page } = await jobPage({ record, locale: 'en-GB' })
  await expect.poll(() => stations(page), WAIT).toEqual(['none', 'now', 'ahead', 'ahead'])
  await page.getByText('No snapshot: storage local (dir) cannot take snapshots').waitFor(WAIT)
  await page.getByText('Rolling back is not possible.').waitFor(WAIT)
})

test('a rollback that runs reads no package lists, and one that waits says so', { timeout: LONG }, async () => {
  const running = { status: 'running' as const, outcome: null, comparison: null, snapshot: null, phases: [] }
  const rollback = protectedJob({ ...running, kind: 'rollback', protection: null, phase: 'rolling_back' })
  const { page } = await jobPage({ record: rollback, locale: 'en-GB' })
  const head = page.locator('.output')
  await head.getByText('Rolling back').waitFor(WAIT)
  expect(await head.textContent()).not.toContain('Reading package lists')
  const waiting = await jobPage({ record: protectedJob({ ...running, phase: 'waiting' }), locale: 'en-GB' })
  await waiting.page.locator('.output').getByText('Waiting').waitFor(WAIT)
})

test('an upgrade without protection has no stations, and says so', { timeout: LONG }, async () => {
  const { page } = await jobPage({
    record: protectedJob({ protection: null, snapshot: null, phases: [], comparison: null }),
  })
  await page.getByText('Sans protection : pas d’instantané avant, pas de comparaison après.').waitFor(WAIT)
  expect(await page.locator('.steps').count()).toBe(0)
})
