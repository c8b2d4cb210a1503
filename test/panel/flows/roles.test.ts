import type { Page, Request, Response } from 'playwright-core'
import { expect, test } from 'vitest'
import { createPanel } from '../../../client/index.ts'
import { PEOPLE } from '../../../demo/account.ts'
import { BASE } from '../../../demo/packages.ts'
import { container, newContainers } from '../../../demo/place.ts'
import { startDemo } from '../../runtime/demo.ts'
import { startService } from '../../serve/service.ts'
import { focused, follow, openPage } from '../browser.ts'

const WAIT = { timeout: 30_000 }
const LONG = 240_000
/** An action may be refused because of the state of a target, and never because of rights. */
const EXPECTED = /status of (4\d\d|502)|net::ERR_ABORTED/
const GROUPS = { PANEL_VIEWER_GROUPS: 'viewers', PANEL_OPERATOR_GROUPS: 'operators;web:lxc/101,lxc/103,lxc/104' }

type Person = 'demo' | 'operator' | 'web' | 'viewer'

/** A service whose groups give roles, with checked targets, a job, a run and a schedule to look at. */
async function world() {
  const mail = container('104', 'mail', { lockedFor: 'backup' })
  const git = container('105', 'git', { unfinished: ['git-lfs'], upgradable: [BASE] })
  const demo = await startDemo({ users: PEOPLE, containers: [...newContainers(), mail, git] })
  const service = await startService(demo, GROUPS)
  const { api, signIn } = createPanel({ url: service.url, WebSocket: false })
  await signIn('demo', 'demo')
  const ended = (id: string) =>
    expect
      .poll(async () => (await api('GET /api/updates/jobs/{id}', { params: { id } })).status, WAIT)
      .not.toBe('running')
  await api('GET /api/updates/targets')
  const { id: plan } = await api('POST /api/updates/plans', { body: { target: 'host' } })
  const { run_id: run, jobs } = await api('POST /api/updates/runs', { body: { plans: [plan] } })
  const job = jobs[0]?.job_id ?? ''
  await ended(job)
  await ended((await api('POST /api/updates/checks', { body: { target: 'all' } })).job_id)
  const { id: schedule } = await api('POST /api/schedules', {
    body: {
      name: 'Every night',
      cron: '30 2 * * *',
      timezone: 'Asia/Tokyo',
      action: 'check',
      waves: [{ targets: ['lxc:102'], pause_minutes: 0 }],
    },
  })
  const { run_id: scheduleRun } = await api('POST /api/schedules/{id}/run', { params: { id: schedule } })
  const pages = [
    ...['/', '/updates', '/updates?tab=runs', '/updates?tab=held', '/updates?tab=protection', '/containers'],
    ...['/schedules', `/schedules/${schedule}`, `/schedules/runs/${scheduleRun}`, '/modules'],
    ...[`/updates/${job}`, `/runs/${run}`],
  ]
  return { url: service.url, pages }
}

/** The container mail is locked. The host says so, therefore 502. */
const isOfState = ({ code }: { code: string }) => code === 'container_locked'

/** Opens an address, signs in, and notes every answer that refuses something because of rights, or fails. */
async function signedIn(url: string, name: Person, path = '/') {
  const page = await openPage(`${url}${path}`, {
    expected: EXPECTED,
    reducedMotion: 'reduce',
    timezoneId: 'Europe/Paris',
  })
  const asked = new Set<Request | Promise<void>>()
  page.on('request', (request) => asked.add(request))
  page.on('requestfinished', (request) => asked.delete(request))
  page.on('requestfailed', (request) => asked.delete(request))
  /** Waits until everything that was asked is answered and shown, with what these answers have asked in turn. */
  const settled = async () => {
    do {
      await expect.poll(() => asked.size, WAIT).toBe(0)
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
    } while (asked.size > 0)
  }
  const refused: string[] = []
  const note = async (answer: Response) => {
    const said = await answer.json()
    if (answer.status() === 502 && isOfState(said)) return
    refused.push(`${answer.request().method()} ${new URL(answer.url()).pathname}: ${answer.status()} ${said.code}`)
  }
  page.on('response', (answer) => {
    if (answer.status() !== 403 && answer.status() < 500) return
    const noted = note(answer).finally(() => asked.delete(noted))
    asked.add(noted)
  })
  await page.locator('input[name=username]').fill(name)
  await page.locator('input[name=password]').fill(name)
  await page.keyboard.press('Enter')
  await page.locator('.shell').waitFor(WAIT)
  return { page, refused, settled }
}

type SignedIn = Awaited<ReturnType<typeof signedIn>>

/** Goes to a page, and opens all of its rows once everything is loaded. */
async function goTo(page: Page, path: string): Promise<void> {
  await page.locator('main h1').evaluate((heading) => heading.setAttribute('data-before', ''))
  await follow(page, path)
  await page.locator('main h1:not([data-before])').waitFor(WAIT)
  if (path === '/updates') await page.locator('.targets tr.row').nth(4).waitFor(WAIT)
  await expect.poll(() => page.locator('.placeholder').count(), WAIT).toBe(0)
  const closed = page.locator('main .opener[aria-expanded=false]')
  while ((await closed.count()) > 0) await closed.first().click(WAIT)
  await expect.poll(() => page.locator('.placeholder').count(), WAIT).toBe(0)
}

/** Presses the first thing on the page that is offered and was not pressed yet, an open menu first, and returns its name. */
function pressNext(page: Page, pressed: readonly string[]): Promise<string | undefined> {
  return page.locator('main').evaluate((main, before) => {
    const inMenu = main.querySelectorAll<HTMLElement>('[popover]:popover-open button')
    for (const one of [
      ...inMenu,
      ...main.querySelectorAll<HTMLElement>('button:not([role], .opener, [aria-expanded=true])'),
    ]) {
      const name = (one.getAttribute('aria-label') ?? one.textContent ?? '').trim()
      const isOffered =
        one.checkVisibility() && one.getAttribute('aria-disabled') !== 'true' && !one.matches(':disabled')
      if (!isOffered || before.includes(name)) continue
      one.click()
      return name
    }
    return undefined
  }, pressed)
}

/** Answers what a press has asked: a plan is looked at, every other question gets a yes. */
async function answer({ page, settled }: SignedIn): Promise<void> {
  const plan = page.locator('dialog.drawer')
  const question = page.locator('dialog:modal:not(.drawer) :is(.primary, .danger)').last()
  await settled()
  if ((await plan.count()) > 0) {
    await plan.locator('.primary[aria-disabled=false], .problem, .empty').first().waitFor(WAIT)
    await page.keyboard.press('Escape')
    await plan.waitFor({ state: 'detached', ...WAIT })
  } else if ((await question.count()) > 0) {
    await question.click()
    await page.locator('dialog:modal').waitFor({ state: 'detached', ...WAIT })
    await settled()
  }
}

/** Presses everything that is offered on the pages, each name once on each page, and returns all names. */
async function pressAll(person: SignedIn, pages: readonly string[]): Promise<string[]> {
  const { page } = person
  const all: string[] = []
  for (const path of pages) {
    const pressed: string[] = []
    await goTo(page, path)
    for (let name = await pressNext(page, pressed); name !== undefined; name = await pressNext(page, pressed)) {
      pressed.push(name)
      await answer(person)
      const { pathname, search } = new URL(page.url())
      if (pathname + search !== path) await goTo(page, path)
    }
    all.push(...pressed)
  }
  return all
}

/** The number in the menu of the targets that need somebody; zero without one. */
async function badge(page: Page): Promise<number> {
  const shown = page.locator('nav .count.need [aria-hidden]').first()
  return (await shown.count()) === 0 ? 0 : Number.parseInt((await shown.textContent()) ?? '', 10)
}

const heading = (page: Page) => page.locator('main h1').innerText()

test('a viewer sees every page, and is offered nothing that is refused', { timeout: LONG }, async () => {
  const { url, pages } = await world()
  const person = await signedIn(url, 'viewer', '/updates')
  const { page, refused } = person
  await page.getByText('Votre rôle permet de tout consulter ici, sans rien lancer.').waitFor(WAIT)
  const names = await pressAll(person, pages)

  expect(refused).toEqual([])
  expect(
    names.filter((name) => /^(Examiner|Tout |Vérif|Démarrer|Arrêter|Redémarrer|Réparer|Annuler)/.test(name)),
  ).toEqual([])
})

test('an operator of three containers works on these alone, and the numbers count them', {
  timeout: LONG,
}, async () => {
  const { url, pages } = await world()
  const person = await signedIn(url, 'web', '/updates')
  const { page, refused } = person
  await page.getByText('Le titre et le menu ne comptent que vos cibles.').waitFor(WAIT)
  await page.locator('.targets tr.row').nth(4).waitFor(WAIT)
  expect([await heading(page), await badge(page)]).toEqual(['1 cible peut être mise à jour', 1])
  expect(await page.locator('nav .count.need').first().getAttribute('title')).toMatch(/^1 cible/)
  expect(await page.locator('.head .note').textContent()).toContain('1 cible demande votre attention.')
  await goTo(page, '/')
  await expect.poll(() => heading(page), WAIT).toBe('1 point à traiter')
  const names = await pressAll(person, pages)

  expect(refused).toEqual([])
  expect(names).toEqual(
    expect.arrayContaining(['Examiner la mise à jour de web', 'Arrêter web', 'Démarrer old-backup']),
  )
  expect(names.filter((name) => /\b(db|git)$/.test(name) && !/^(Voir|Changements)/.test(name))).toEqual([])
})

test('an operator of everything is refused nothing either', { timeout: LONG }, async () => {
  const { url, pages } = await world()
  const person = await signedIn(url, 'operator')
  const { page, refused } = person
  const names = await pressAll(person, pages)

  expect(refused).toEqual([])
  expect(names).toEqual(expect.arrayContaining(['Tout vérifier', 'Tout examiner', 'Arrêter db', 'Démarrer old-backup']))
  expect(await page.locator('.reach').count()).toBe(0)
})

test('an administrator opens every page, with the numbers of all targets', { timeout: LONG }, async () => {
  const { url, pages } = await world()
  const { page, refused, settled } = await signedIn(url, 'demo', '/updates')
  await page.locator('.targets tr.row').nth(4).waitFor(WAIT)
  await expect.poll(() => heading(page), WAIT).toBe('2 cibles peuvent être mises à jour')
  expect(await badge(page)).toBe(2)
  expect(await page.locator('.head .note').textContent()).toContain('2 cibles demandent votre attention.')
  for (const path of [...pages, '/terminal', '/notifications', '/settings', '/access', '/logs', '/audit', '/account'])
    await goTo(page, path)
  await settled()

  expect(refused).toEqual([])
  expect(await page.locator('.reach').count()).toBe(0)
})

test('a viewer finds a container in the palette, and what may be read about it', async () => {
  const { url } = await world()
  const { page, refused, settled } = await signedIn(url, 'viewer')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('db')
  await page.getByRole('option', { name: 'Voir db' }).waitFor(WAIT)
  await page.keyboard.press('Enter')

  await page.waitForURL('**/updates?open=lxc:102')
  await page.locator('tr.row', { hasText: 'db' }).locator('.opener[aria-expanded=true]').waitFor(WAIT)
  await settled()
  expect(refused).toEqual([])
})

test('after a sign-in at an address, its heading has the focus', async () => {
  const { url } = await world()
  const { page } = await signedIn(url, 'web', '/containers')

  await expect.poll(() => focused(page), WAIT).toMatch(/Conteneurs$/)
  expect(new URL(page.url()).pathname).toBe('/containers')
})

test('pages with times of schedules tell in which time zone they are', async () => {
  const { url, pages } = await world()
  const { page } = await signedIn(url, 'viewer')
  const told: (string | null)[] = []
  for (const path of pages.filter((each) => each.startsWith('/schedules'))) {
    await goTo(page, path)
    await page.locator('.zone-note').waitFor(WAIT)
    told.push(await page.locator('.zone-note').textContent())
  }

  expect(told).toEqual(Array(3).fill('Les heures de cette page sont celles du fuseau Europe/Paris.'))
})
