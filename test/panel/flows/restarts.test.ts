import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import type { Panel } from '../../../client/index.ts'
import { startDemoHypervisor } from '../../../demo/hypervisor.ts'
import { pause } from '../../../demo/process.ts'
import { container, type Loaded, type Place } from '../../../demo/place.ts'
import { RESTART } from '../../../functions/restarts/restart-script.ts'
import { signedIn } from '../../client/signed-in.ts'
import { focused, follow, openPage, signIn } from '../browser.ts'
import { checkingByItself } from './update-states.ts'

const LONG = 240_000
const WAIT = { timeout: 60_000, interval: 50 }

const loaded = (name: string, rest: Partial<Loaded> = {}): Loaded => {
  return { name, file: '/usr/lib/x86_64-linux-gnu/libssl.so.3', from: 'libssl3', ...rest }
}
/** One container whose services can all be restarted, and one with others; the panel reaches the host by `ssh` of the latter. */
const fleet = () => [
  container('101', 'web', { services: [loaded('nginx'), loaded('php8.2-fpm'), loaded('redis')] }),
  container('102', 'db', {
    services: [loaded('postgresql@15-main'), loaded('dbus'), loaded('alice', { kind: 'session' })],
  }),
  container('103', 'spare', { running: false }),
]

/** The real service, its host with outdated services, checked once; from then on it checks by itself what has changed. */
async function outdated(containers: Place[] = fleet(), host: Partial<Place> = {}) {
  const world = await signedIn({}, {}, { containers, host: { upgradable: [], ...host } })
  await checked(world.panel)
  await checkingByItself(world.panel)
  return { ...world, containers }
}

async function checked(panel: Panel): Promise<void> {
  const { job_id: id } = await panel.api('POST /api/updates/checks', { body: { target: 'all' } })
  const read = () => panel.api('GET /api/updates/jobs/{id}', { params: { id }, query: { output: 'none' } })
  await expect.poll(async () => (await read()).status, WAIT).toBe('success')
}

const services = (page: Page) => page.locator('.outdated .names > li')
const question = (page: Page) => page.locator('dialog.question')
/** The name of the target whose row has the focus. */
const focusedOpener = (page: Page) => page.evaluate(() => document.activeElement?.closest('.opener')?.textContent)
/** The services that the restart jobs were asked to restart, in their order. */
const asked = ({ commands }: { commands: readonly (readonly string[])[] }) =>
  commands.flatMap((words) => {
    const at = words.indexOf(RESTART)
    // `<name of the script> <sudo> <service>…`
    return at < 0 ? [] : [words.slice(at + 3).join(' ')]
  })

test('an administrator restarts one service and then all, and each list is renewed without a click', {
  timeout: LONG,
}, async () => {
  const { demo, service } = await outdated()
  const page = await openPage(`${service.url}/updates?open=lxc:101`)
  await signIn(page)
  await expect.poll(() => services(page).count(), WAIT).toBe(3)
  expect(await services(page).first().innerText()).toMatch(/^nginx\s+ancienne version de libssl3\s+Redémarrer$/)
  await page.getByText('3 services utilisent encore des fichiers remplacés par une mise à jour.').waitFor(WAIT)

  await page.getByRole('button', { name: 'Redémarrer nginx sur web' }).click()
  expect(await question(page).innerText()).toMatch(
    /^Redémarrer nginx sur web\s\?\s+Il s’arrête un moment\s: ses connexions et ce qu’il fait sont coupés\.\s+Les autres services continuent, sauf ceux qui en dépendent\. Gardent leurs anciens fichiers\s: php8\.2-fpm et redis\.\s+Annuler/,
  )
  await page.keyboard.press('Escape')
  await expect.poll(() => question(page).count(), WAIT).toBe(0)
  expect(await focused(page)).toBe('Redémarrer nginx sur web')
  expect(asked(demo)).toEqual([])
  await page.getByRole('button', { name: 'Redémarrer nginx sur web' }).click()
  await question(page).getByRole('button', { name: 'Redémarrer' }).click()
  const output = page.locator('.outputs')
  await output.getByText(/^nginx: main PID 412 -> \d+, active$/).waitFor(WAIT)
  await output.getByText('Redémarrage de services').waitFor(WAIT)
  await output.getByText('Terminé', { exact: true }).waitFor(WAIT)
  await expect.poll(() => services(page).locator('.pn').allTextContents(), WAIT).toEqual(['php8.2-fpm', 'redis'])

  await page.getByRole('button', { name: 'Redémarrer 2 services sur web' }).click(WAIT)
  const words = await question(page).innerText()
  expect(words).toMatch(/^Redémarrer 2 services sur web\s\?\s+php8\.2-fpm\s+redis\s+L’un après l’autre/)
  expect(words).toMatch(/Les autres services continuent, sauf ceux qui en dépendent\.\s+Annuler/)
  await question(page).getByRole('button', { name: 'Redémarrer' }).click()

  await expect.poll(() => page.locator('.outdated').count(), WAIT).toBe(0)
  await page.getByText('Rien à signaler.').waitFor(WAIT)
  expect(asked(demo)).toEqual(['nginx', 'php8.2-fpm redis'])
})

test('a restart is told by its name while it runs, blocks the others of its target, and can be cancelled', {
  timeout: LONG,
}, async () => {
  const { demo, service } = await outdated()
  demo.override = (words, { stdout, signal }) => {
    if (words[0] !== 'sh' || words[2] !== RESTART) return undefined
    return stdout('nginx: main PID 412 -> 4711, active\n').then(() => pause(LONG, signal).then(() => 0))
  }
  const page = await openPage(`${service.url}/updates?open=lxc:101`)
  await signIn(page)
  await page.getByRole('button', { name: 'Redémarrer nginx sur web' }).click(WAIT)
  await question(page).getByRole('button', { name: 'Redémarrer' }).click()

  const row = page.locator('tr.row').filter({ hasText: 'web' })
  await row.getByText('Redémarrage de services').waitFor(WAIT)
  expect(await row.innerText()).not.toContain('Mise à jour')
  const other = page.getByRole('button', { name: 'Redémarrer redis sur web' })
  await expect.poll(() => other.getAttribute('aria-disabled'), WAIT).toBe('true')
  expect(await other.getAttribute('title')).toBe('Redémarrage de services')
  await other.click({ force: true })
  expect(await question(page).count()).toBe(0)

  await follow(page, '/containers')
  const link = page.getByRole('link', { name: 'Redémarrage de services' })
  await link.waitFor(WAIT)
  await page.keyboard.press('Control+k')
  await page.keyboard.type('redémarrage de services')
  await page
    .getByRole('option')
    .getByText(/Redémarrage de services · web/)
    .waitFor(WAIT)
  await page.keyboard.press('Escape')
  await link.click()
  await page.getByRole('heading', { level: 1, name: 'Redémarrage de services' }).waitFor(WAIT)
  await page.getByText('nginx: main PID 412 -> 4711, active').waitFor(WAIT)
  await page.getByRole('button', { name: 'Annuler', exact: true }).click()
  expect(await question(page).innerText()).toContain('Les services déjà redémarrés le restent')
  await question(page).getByRole('button', { name: 'Annuler le redémarrage' }).click()
  await page.getByText('Annulé', { exact: true }).first().waitFor(WAIT)
})

test('a job says what its exit code means, and which line the sudo rule lacks', { timeout: LONG }, async () => {
  const { demo, service, panel } = await outdated([], { services: [loaded('nginx')] })
  let code = 1
  demo.override = (words, { stdout }) => {
    if (words[0] !== 'sh' || words[2] !== RESTART) return undefined
    return stdout('nginx: main PID 412 -> none, it did not come back (failed)\n').then(() => code)
  }
  const page = await openPage(service.url)
  await signIn(page)
  const ended = async (exit: number, sentence: string) => {
    code = exit
    const body = { target: 'host', services: ['nginx'] }
    const { job_id } = await panel.api('POST /api/updates/restarts', { body })
    await follow(page, `/updates/${job_id}`)
    await page.locator('.problem').getByText(sentence).waitFor(WAIT)
    await page.getByText('Échec', { exact: true }).first().waitFor(WAIT)
    await follow(page, '/account')
  }

  await ended(1, 'Au moins un service n’a pas redémarré. La sortie dit lequel.')
  await ended(65, 'n’est jamais redémarré seul : rien n’a été fait.')
  await ended(77, 'La règle sudo du compte de service ne permet pas systemctl.')
})

test('services that no button restarts say why, and the container restarts as a whole after its question', {
  timeout: LONG,
}, async () => {
  const { demo, panel, service, containers } = await outdated()
  const hypervisor = await startDemoHypervisor(containers)
  onTestFinished(() => hypervisor.close())
  const { url: hypervisor_url, token: hypervisor_token } = hypervisor
  await panel.api('PATCH /api/settings', { body: { hypervisor_url, hypervisor_token } })
  const page = await openPage(`${service.url}/containers`)
  await signIn(page)
  const link = page.getByRole('link', { name: '3 services à redémarrer' })
  await expect.poll(() => link.count(), WAIT).toBe(2)

  await page.getByRole('row').filter({ hasText: 'db' }).getByRole('link', { name: '3 services à redémarrer' }).click()
  await expect.poll(() => services(page).count(), WAIT).toBe(4)
  await expect.poll(() => focusedOpener(page), WAIT).toBe('db')
  const lines = (await services(page).allInnerTexts()).map((line) => line.replace(/\s+/g, ' '))
  expect(lines).toEqual([
    'postgresql@15-main ancienne version de libssl3 Redémarrer',
    'Session de alice ancienne version de libssl3 L’ancien code s’arrête à la fin de cette session.',
    'dbus ancienne version de libssl3 Ce service n’est jamais redémarré seul : tout le système communique par D-Bus, et perdrait ses connexions.',
    '1 service ne redémarre qu’avec le conteneur. Redémarrer le conteneur',
  ])
  expect(await page.getByRole('button', { name: /Redémarrer \d services/ }).count()).toBe(0)
  await page.getByRole('button', { name: 'Redémarrer postgresql@15-main sur db' }).click()
  expect(await question(page).innerText()).toMatch(/Gardent leurs anciens fichiers\s: dbus et la session de alice\./)
  await page.keyboard.press('Escape')

  await page.getByRole('button', { name: 'Redémarrer le conteneur db' }).click()
  expect(await question(page).innerText()).toMatch(/^Redémarrer db\s\?\s+Ses services seront coupés/)
  await question(page).getByRole('button', { name: 'Redémarrer' }).click()
  await page.waitForURL('**/containers')
  await page.getByText('Redémarré', { exact: true }).waitFor(WAIT)
  // The container is checked again by itself.
  await expect.poll(() => link.count(), WAIT).toBe(1)
  expect(asked(demo)).toEqual([])
})

test('the dashboard restarts the services of the only target, and otherwise leads to the rows', {
  timeout: LONG,
}, async () => {
  const { service, panel, containers } = await outdated()
  const page = await openPage(service.url)
  await signIn(page)
  const entry = page.locator('.attention li').filter({ hasText: 'anciens fichiers' })
  await entry.getByRole('link', { name: 'Voir' }).click(WAIT)
  await expect.poll(() => page.locator('.outdated').count(), WAIT).toBe(2)
  await expect.poll(() => focusedOpener(page), WAIT).toBe('web')
  // An opened row is no part of the address any more once another one is opened or closed.
  await page.getByRole('button', { name: 'db', exact: true }).click()
  await expect.poll(() => page.locator('.outdated').count(), WAIT).toBe(1)
  expect(new URL(page.url()).search).toBe('')

  for (const place of containers) if (place.id === '102') delete place.services
  await checked(panel)
  await follow(page, '/')
  await entry.getByRole('button', { name: 'Redémarrer' }).click(WAIT)
  expect(await question(page).innerText()).toMatch(/^Redémarrer 3 services sur web\s\?\s+nginx\s+php8\.2-fpm\s+redis/)
  await question(page).getByRole('button', { name: 'Redémarrer' }).click()
  await page.waitForURL(/\/updates\/\w+/)
  await page.getByText(/^redis: main PID 412 -> \d+, active$/).waitFor(WAIT)
  await follow(page, '/')
  await expect.poll(() => entry.count(), WAIT).toBe(0)
})

test('the host says which restart cuts the way to it, and which services need its reboot', {
  timeout: LONG,
}, async () => {
  const { demo, service } = await outdated([], { services: [loaded('pvedaemon'), loaded('ssh')] })
  const page = await openPage(`${service.url}/updates?open=host`, { locale: 'en-GB' })
  await signIn(page)
  await page.getByText('1 service restarts only with the host: the host needs a reboot.').waitFor(WAIT)
  expect(await services(page).first().innerText()).toContain('cuts the way to the host for a moment')
  await page.getByText('This service is never restarted alone: the guests').waitFor(WAIT)
  expect(await page.locator('.outdated').getByRole('button').allTextContents()).toEqual(['Restart', 'Reboot the host'])

  await page.getByRole('button', { name: 'Restart ssh on the host' }).click()
  expect(await question(page).innerText()).toMatch(
    /^Restart ssh on the host\?\s+ssh cuts the way to the host for a moment\s+It stops for a moment: its connections and the work that it does are cut off\.\s+The restart goes on without this page, which comes back by itself\.\s+All other services go on, except those that require it\. Still with their former files: pvedaemon\.\s+Cancel/,
  )
  await question(page).getByRole('button', { name: 'Restart' }).click()
  await expect.poll(() => services(page).locator('.pn').allTextContents(), WAIT).toEqual(['pvedaemon'])
  expect(asked(demo)).toEqual(['ssh'])
})

test('another user sees the services without buttons, and the dashboard shows the way to them', {
  timeout: LONG,
}, async () => {
  const [web] = fleet()
  const { service } = await outdated(web ? [web] : [])
  const page = await openPage(service.url)
  await signIn(page, 'guest')
  const entry = page.locator('.attention li').filter({ hasText: 'anciens fichiers' })
  await entry.getByRole('link', { name: 'Voir' }).click(WAIT)

  await expect.poll(() => services(page).count(), WAIT).toBe(3)
  expect(await services(page).first().innerText()).toMatch(/^nginx\s+ancienne version de libssl3$/)
  expect(await page.locator('.outdated button').count()).toBe(0)
})

test('with the host away no service can be restarted, and the buttons say so', { timeout: LONG }, async () => {
  const { service } = await outdated()
  const page = await openPage(service.url, { expected: /status of 502/ })
  await signIn(page)
  await page.route('**/api/hypervisor/host', (route) =>
    route.fulfill({ status: 502, json: { code: 'ssh_failed', error: 'Connexion refusée.' } }),
  )
  await follow(page, '/updates?open=lxc:101')

  const button = page.getByRole('button', { name: 'Redémarrer nginx sur web' })
  await expect.poll(() => button.getAttribute('aria-disabled'), WAIT).toBe('true')
  expect(await button.getAttribute('title')).toContain('tant que l’hôte ne répond pas')
  await button.click({ force: true })
  expect(await question(page).count()).toBe(0)
})
