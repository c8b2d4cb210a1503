import { expect, test } from 'vitest'
import { createPanel } from '../../../client/index.ts'
import { PEOPLE } from '../../../demo/account.ts'
import { container, newContainers } from '../../../demo/place.ts'
import { startDemo } from '../../runtime/demo.ts'
import { startService } from '../../serve/service.ts'
import { openPage } from '../browser.ts'

const WAIT = { timeout: 30_000 }
const LONG = { timeout: 120_000 }
/** This operator works on one container, which needs nobody; another one does. */
const GROUPS = { PANEL_VIEWER_GROUPS: 'viewers', PANEL_OPERATOR_GROUPS: 'operators;web:lxc/103' }

/** A checked service, opened by this person. */
async function openedAs(name: 'demo' | 'web' | 'viewer', path = '/', lang: 'fr' | 'en' = 'fr') {
  const git = container('105', 'git', { unfinished: ['git-lfs'] })
  const demo = await startDemo({ users: PEOPLE, containers: [...newContainers(), git] })
  const service = await startService(demo, GROUPS)
  const { api, signIn } = createPanel({ url: service.url, WebSocket: false })
  await signIn('demo', 'demo')
  const { job_id: id } = await api('POST /api/updates/checks', { body: { target: 'all' } })
  const status = async () => (await api('GET /api/updates/jobs/{id}', { params: { id } })).status
  await expect.poll(status, WAIT).not.toBe('running')
  const own = createPanel({ url: service.url, WebSocket: false })
  await own.signIn(name, name)
  await own.api('PATCH /api/auth/preferences', { body: { lang } })
  const page = await openPage(`${service.url}${path}`)
  await page.locator('input[name=username]').fill(name)
  await page.locator('input[name=password]').fill(name)
  await page.keyboard.press('Enter')
  await page.locator('.shell').waitFor(WAIT)
  return page
}

test('above what other targets need, the heading does not say that all is well', LONG, async () => {
  const page = await openedAs('web')
  await page.locator('.attention').getByText('Des paquets sont inachevés (git).').waitFor(WAIT)

  await expect
    .poll(() => page.locator('main h1').innerText(), WAIT)
    .toBe('Rien pour vous, mais d’autres cibles sont à traiter')
})

test('somebody who works on every target is told how many of them need somebody', LONG, async () => {
  const page = await openedAs('demo')
  await page.locator('.attention').getByText('Des paquets sont inachevés (git).').waitFor(WAIT)

  await expect.poll(() => page.locator('main h1').innerText(), WAIT).toMatch(/^\d+ points? à traiter$/)
})

test.each(['web', 'viewer'] as const)(
  'the list of targets does not tell %s that all of them need them',
  LONG,
  async (name) => {
    const page = await openedAs(name, '/updates', 'en')
    const group = page.locator('.targets tr.group').first()
    await group.waitFor(WAIT)

    expect(await group.innerText()).toMatch(/^\s*Needs attention \d+$/)
    await page.getByRole('button', { name: /^Needs attention \d+$/ }).waitFor(WAIT)
  },
)

test('the list of targets tells an administrator what needs them', LONG, async () => {
  const page = await openedAs('demo', '/updates', 'en')
  const group = page.locator('.targets tr.group').first()
  await group.waitFor(WAIT)

  expect(await group.innerText()).toMatch(/^\s*Needs you \d+$/)
})

test('the dashboard tells viewers why it offers them less', LONG, async () => {
  const page = await openedAs('viewer')

  await page.getByText('Votre rôle permet de tout consulter ici, sans rien lancer.').waitFor(WAIT)
})
