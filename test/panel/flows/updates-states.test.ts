import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startService } from '../../serve/service.ts'
import { startDemo } from '../../runtime/demo.ts'
import { openPage, signIn } from '../browser.ts'
import { armClipping, clippingAt } from './clipping.ts'
import { answered, change, counted, finding, told } from './update-states.ts'

const LONG = 120_000
const WAIT = { timeout: 20_000, interval: 50 }
/** The job that the answers name does not exist. */
const EXPECTED = { expected: /status of (404|502)/ }
const LONG_NAME = 'customer-portal-staging-environment-with-a-rather-long-name-001'

const REMOVAL = [
  change('openssl', {
    security: true,
    cves: [
      { id: 'CVE-2025-1', urgency: 'low', known_exploited: false },
      { id: 'CVE-2025-9230', urgency: 'high', known_exploited: true },
    ],
  }),
  change('exim4', { status: 'kept_back', reason: 'kept_back_remove' }),
  change('exim4-old', { action: 'remove', to: null, status: 'kept_back', reason: 'kept_back_remove' }),
  change('nginx', { status: 'held', reason: 'held' }),
]

const STATES = [
  told('host', 'Hôte'),
  told('lxc:101', 'web', { state: 'ready', ...counted(2, 1), exploited: 1, download_bytes: 2_000_000 }),
  told('lxc:102', 'db', {
    state: 'attention',
    ...counted(1),
    findings: [
      finding('repository_changed', {
        repository: 'http://m/debian stable',
        message: 'Le dépôt http://m/debian stable a changé de nom.',
        remedy: { action: 'allow_release_change', label: 'Accepter le changement' },
      }),
      finding('held', {
        severity: 'info',
        packages: ['nginx', 'curl'],
        remedy: { action: 'lift_hold', label: 'Libérer' },
      }),
      finding('conffile_changed', { remedy: { action: 'review_conffile', label: 'Examiner le fichier' } }),
    ],
  }),
  told('lxc:103', 'old', {
    state: 'stopped',
    findings: [
      finding('container_stopped', { severity: 'info', remedy: { action: 'start_container', label: 'Démarrer' } }),
    ],
  }),
  told('lxc:104', 'mail', {
    state: 'attention',
    findings: [finding('lists_stale', { remedy: { action: 'retry_check', label: 'Revérifier' } })],
  }),
]

/** The updates page with these results instead of those of the host. */
async function updatesPage({ checks = STATES, name = 'demo', locale = 'fr-FR' }: Partial<Options> = {}) {
  const service = await startService(await startDemo())
  const page = await openPage(`${service.url}/updates`, { ...EXPECTED, locale, reducedMotion: 'reduce' })
  const answers = await answered(page, structuredClone(checks), REMOVAL)
  await signIn(page, name)
  await page.locator('.targets tr.row').first().waitFor(WAIT)
  return { page, ...answers }
}

interface Options {
  checks: typeof STATES
  name: 'demo' | 'guest'
  locale: string
}

const row = (page: Page, name: string) =>
  page.locator('.targets tr.row').filter({ has: page.getByRole('button', { name, exact: true }) })
const names = (page: Page) => page.locator('.targets tr.row .opener').allTextContents()

test('the heading answers, and all is green only when every target is', { timeout: LONG }, async () => {
  const { page, state } = await updatesPage()
  const title = (name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor(WAIT)
  await title('2 cibles peuvent être mises à jour')
  const note = page.locator('.head .note')
  expect(await note.textContent()).toContain('1 correctif de sécurité, dont 1 pour une vulnérabilité exploitée.')
  expect(await note.textContent()).toMatch(/Listes actualisées il y a\s4.*, sauf sur 2 cibles\./)
  expect(await note.textContent()).toContain('Aucune source de CVE n’est réglée.')

  const reload = async (checks: typeof STATES) => {
    state.checks = checks
    await page.reload()
    await page.locator('.targets tr.row').first().waitFor(WAIT)
  }
  await reload([
    told('host', 'Hôte'),
    told('lxc:101', 'web', { state: 'attention', findings: [finding('lists_stale')] }),
  ])
  await title('1 cible demande votre attention')
  await reload([told('host', 'Hôte'), told('lxc:101', 'web', { state: 'unknown' })])
  await title('1 cible demande votre attention')
  expect(await page.locator('.targets .status.ok').count()).toBe(1)
  await reload([told('host', 'Hôte'), told('lxc:101', 'web', { state: 'stopped' })])
  await title('Tout est à jour')
})

test('the sentence says why fewer targets are ready than have updates', { timeout: LONG }, async () => {
  const { page } = await updatesPage({
    checks: [
      told('host', 'Hôte', { state: 'ready', ...counted(3) }),
      told('lxc:101', 'web', { state: 'ready', ...counted(2) }),
      told('lxc:102', 'db', { state: 'attention', ...counted(1), findings: [finding('conffile_changed')] }),
      told('lxc:103', 'mail', { state: 'blocked', ...counted(4), findings: [finding('disk_low')] }),
    ],
  })
  await page.getByRole('heading', { level: 1, name: '3 cibles peuvent être mises à jour' }).waitFor(WAIT)
  expect((await page.locator('.head .note').textContent())?.replaceAll('\u00a0', ' ')).toContain(
    '10 paquets en attente sur 4 cibles : 2 prêtes, 1 avec un avertissement, 1 à réparer d’abord.',
  )
})

test('in a narrow window the output stands above the targets, for the keyboard too', { timeout: LONG }, async () => {
  const { page } = await updatesPage()
  await page.setViewportSize({ width: 320, height: 700 })
  await row(page, 'web')
    .getByRole('button', { name: /Examiner/ })
    .click()
  const order = () =>
    page.locator('.updates > section').evaluateAll((all) => all.map(({ className }) => className.split(' ')[0]))
  await page.locator('dialog.drawer .primary[aria-disabled=false]').click(WAIT)
  await page.locator('.outputs').waitFor(WAIT)
  expect(await order()).toEqual(['outputs', 'target-list'])
  const [output, list] = await Promise.all(
    ['.outputs', '.target-list'].map((place) => page.locator(place).boundingBox()),
  )
  expect(output?.y).toBeLessThan(list?.y ?? 0)
  await page.setViewportSize({ width: 1280, height: 800 })
  await expect.poll(order, WAIT).toEqual(['target-list', 'outputs'])
})

test('an open row has findings, packages by what happens to them, and changelogs', { timeout: LONG }, async () => {
  const { page } = await updatesPage()
  await page.getByRole('button', { name: 'web', exact: true }).click()
  const detail = page.locator('tr.detail')
  const groups = () => detail.locator('.packages h3').allTextContents()
  await expect.poll(groups, WAIT).toEqual(['Seront mis à jour 1', 'Seulement avec une suppression 2', 'Figés 1'])
  // The exploited one comes first.
  expect(await detail.locator('.cves li').allTextContents()).toEqual([
    'CVE-2025-9230 · haute · Exploitée',
    'CVE-2025-1 · faible',
  ])

  // The panel repeats by itself what failed, so only the click lets the answer through.
  await page.evaluate(() => {
    const note = ({ target }: Event) => {
      if (target instanceof Element && target.closest('.changelog .problem button'))
        document.documentElement.dataset.retried = ''
    }
    document.addEventListener('click', note, { capture: true })
  })
  const asked: string[] = []
  await page.route('**/api/updates/changelog?*', async (route) => {
    if (!(await page.evaluate(() => 'retried' in document.documentElement.dataset)))
      return route.fulfill({ status: 502, json: { error: 'x', code: 'changelog_unavailable' } })
    asked.push(new URL(route.request().url()).search)
    const entries = [
      { version: '1.0-2', urgency: 'high', date: '2025-09-22T10:00:00.000Z', text: '  * Out-of-bounds read' },
    ]
    return route.fulfill({ json: { package: 'openssl', source: 'repository', entries } })
  })
  await detail.getByRole('button', { name: 'Modifications de openssl' }).click()
  await detail.locator('.changelog .problem').waitFor(WAIT)
  await detail.getByRole('button', { name: 'Réessayer' }).click()
  await detail.getByText('Out-of-bounds read').waitFor(WAIT)
  expect(await detail.locator('.changelog article p').textContent()).toBe('1.0-2 haute · 22 septembre 2025')
  // Everything that failed is loaded again once an answer arrives.
  expect([...new Set(asked)]).toEqual(['?target=lxc%3A101&package=openssl&from=1.0-1&to=1.0-2'])
})

test('a remedy names its target, and the change of a repository is confirmed first', { timeout: LONG }, async () => {
  const { page, asked } = await updatesPage()
  await page.getByRole('button', { name: 'db', exact: true }).click()
  const detail = page.locator('tr.detail')
  expect(await detail.getByRole('link', { name: /^Examiner le fichier/ }).getAttribute('href')).toBe(
    '/terminal?target=lxc:102',
  )

  await detail.getByRole('button', { name: /^Accepter le changement/ }).click()
  await page.locator('dialog').getByText('http://m/debian stable', { exact: true }).waitFor(WAIT)
  expect(asked).toEqual([])
  await page.locator('dialog').getByRole('button', { name: 'Accepter le changement' }).click()
  const remedy = (body: object) => ({ method: 'POST', path: '/api/updates/remedies', body })
  const allowed = remedy({ target: 'lxc:102', action: 'allow_release_change', repository: 'http://m/debian stable' })
  await expect.poll(() => asked, WAIT).toEqual([allowed])

  await page.getByRole('tab', { name: 'Paquets figés 2' }).click()
  await page.getByRole('button', { name: 'Libérer curl de db' }).click()
  const lifted = {
    method: 'PUT',
    path: '/api/updates/holds',
    body: { target: 'lxc:102', packages: ['curl'], held: false },
  }
  await expect.poll(() => asked.at(-1), WAIT).toEqual(lifted)
  await page.getByRole('button', { name: 'web', exact: true }).click()
  await page.getByRole('button', { name: 'Figer openssl' }).click()
  const held = { ...lifted, body: { target: 'lxc:101', packages: ['openssl'], held: true } }
  await expect.poll(() => asked.at(-1), WAIT).toEqual(held)
  await page.getByRole('button', { name: 'Démarrer old' }).click()
  await expect.poll(() => asked.at(-1), WAIT).toEqual(remedy({ target: 'lxc:103', action: 'start_container' }))
  await page.getByRole('button', { name: 'Revérifier mail' }).click()
  await expect
    .poll(() => asked.at(-1), WAIT)
    .toEqual({ method: 'POST', path: '/api/updates/checks', body: { target: 'lxc:104' } })
})

test('whoever chooses another tab while a job is asked for stays there', { timeout: LONG }, async () => {
  const { page } = await updatesPage()
  let answer = () => {}
  const mayAnswer = new Promise<void>((resolve) => {
    answer = resolve
  })
  await page.route('**/api/updates/remedies', async (route) => {
    await mayAnswer
    return route.fallback()
  })
  const asked = page.waitForRequest('**/api/updates/remedies')
  await page.getByRole('button', { name: 'Démarrer old' }).click()
  await asked

  await page.getByRole('tab', { name: 'Paquets figés 2' }).click()
  await page.getByRole('button', { name: 'Libérer curl de db' }).waitFor(WAIT)
  const answered = page.waitForResponse('**/api/updates/remedies')
  answer()
  await (await answered).finished()

  await expect.poll(() => page.locator('.updates-page [aria-busy=true]').count(), WAIT).toBe(0)
  expect(await page.getByRole('tab', { selected: true }).textContent()).toContain('Paquets figés')
  await page.getByRole('tab', { name: /^Cibles/ }).click()
  await page.locator('.outputs').waitFor(WAIT)
})

test('other users check again, but get no remedy', { timeout: LONG }, async () => {
  const { page } = await updatesPage({ name: 'guest' })
  await page.getByRole('button', { name: 'db', exact: true }).click()
  await page.locator('tr.detail .findings').waitFor(WAIT)

  expect(await page.locator('tr.detail .findings .button').count()).toBe(0)
  await page.getByRole('button', { name: 'web', exact: true }).click()
  await page.locator('.names > li').first().waitFor(WAIT)
  expect(await page.getByRole('button', { name: /^(Figer|Libérer) / }).count()).toBe(0)
  expect(await page.getByRole('button', { name: 'Démarrer old' }).count()).toBe(0)
  expect(await page.getByRole('button', { name: 'Revérifier mail' }).count()).toBe(1)
})

test('search, filter and order change the rows, and nothing moves under the pointer', { timeout: LONG }, async () => {
  const { page, state } = await updatesPage()
  expect(await names(page)).toEqual(['web', 'db', 'mail', 'Hôte', 'old'])
  const filter = page.getByRole('group', { name: 'Afficher' })
  await filter.getByRole('button', { name: 'Sécurité 1' }).click()
  expect(await names(page)).toEqual(['web'])
  await filter.getByRole('button', { name: 'Toutes 5' }).click()
  const search = page.getByRole('searchbox', { name: 'Nom, numéro, paquet ou CVE' })
  await search.fill('104')
  await expect.poll(() => names(page), WAIT).toEqual(['mail'])
  await search.fill('')
  await expect.poll(() => names(page), WAIT).toHaveLength(5)

  await row(page, 'web').hover()
  state.checks = state.checks.map((check) =>
    check.target === 'host'
      ? { ...check, state: 'blocked', findings: [finding('root_read_only', { severity: 'blocking' })] }
      : check,
  )
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
  await row(page, 'Hôte').getByText('Bloqué').waitFor(WAIT)
  expect(await names(page)).toEqual(['web', 'db', 'mail', 'Hôte', 'old'])
  await page.getByRole('combobox', { name: 'Trier' }).selectOption('number')
  await expect.poll(() => names(page), WAIT).toEqual(['Hôte', 'web', 'db', 'old', 'mail'])
  await page.getByRole('combobox', { name: 'Trier' }).selectOption('urgency')
  await expect.poll(async () => (await names(page))[0], WAIT).toBe('Hôte')
})

test('a search finds packages and CVEs of targets that were never opened, and says nothing before the answer', {
  timeout: LONG,
}, async () => {
  const { page } = await updatesPage()
  let answer: 'wait' | 'fail' | 'pass' = 'wait'
  const asked: (string | null)[] = []
  const held: (() => Promise<void>)[] = []
  await page.route('**/api/updates/search?*', (route) => {
    asked.push(new URL(route.request().url()).searchParams.get('q'))
    if (answer === 'fail') return route.fulfill({ status: 502, json: { error: 'x', code: 'storage_failed' } })
    if (answer === 'pass') return route.fallback()
    held.push(() => route.fallback())
    return undefined
  })
  const none = page.getByText('Aucune cible ne correspond.')
  await page.keyboard.press('/')
  await page.keyboard.type('cve-2025-9230')
  await page.getByText('Recherche dans les paquets…').waitFor(WAIT)
  await expect.poll(() => held.length, WAIT).toBe(1)
  // The typed word is one request, and until its answer nothing is missing.
  expect(asked).toEqual(['cve-2025-9230'])
  expect(await none.count()).toBe(0)
  for (const release of held) await release()
  await expect.poll(() => names(page), WAIT).toEqual(['web'])

  const search = page.getByRole('searchbox', { name: 'Nom, numéro, paquet ou CVE' })
  answer = 'fail'
  await search.fill('db')
  await page.getByText('Les paquets n’ont pas pu être cherchés').waitFor(WAIT)
  // Rows that match by name stay.
  expect(await names(page)).toEqual(['db'])
  await search.fill('zzz')
  await expect.poll(() => asked.at(-1), WAIT).toBe('zzz')
  expect(await none.count()).toBe(0)
  answer = 'pass'
  await page.getByRole('button', { name: 'Réessayer' }).click()
  await none.waitFor(WAIT)
  await search.fill('z')
  await page.getByText('Il faut deux caractères').waitFor(WAIT)
})

test('the heading says when no check starts by itself', { timeout: LONG }, async () => {
  const { page, state } = await updatesPage()
  const said = page.getByText('Les vérifications automatiques sont désactivées.')
  expect(await said.count()).toBe(0)

  state.automatic = false
  await page.reload()
  await said.waitFor(WAIT)
})

test.each([
  ['fr', 'fr-FR'],
  ['en', 'en-GB'],
])('%s: 200 targets with long names are not clipped at any width', { timeout: LONG }, async (_, locale) => {
  const many = Array.from({ length: 200 }, (_, n) =>
    told(`lxc:${900_000_000 + n}`, LONG_NAME, {
      state: 'ready',
      ...counted(999, 99),
      exploited: 12,
      download_bytes: 2e9,
    }),
  )
  const { page } = await updatesPage({ checks: [...STATES, ...many], locale })
  await armClipping(page)
  const found: string[] = []
  const look = async (name: string, widths: number[]) => {
    for (const fault of await clippingAt(page, widths)) found.push(`${name}: ${fault}`)
  }
  await look('many', [320, 720, 1024, 1440, 1920])
  await page.getByRole('searchbox').first().fill('b')
  await page
    .locator('.opener', { hasText: /^(web|db)$/ })
    .first()
    .click()
  await page
    .locator('.opener', { hasText: /^(web|db)$/ })
    .last()
    .click()
  await page.locator('.names > li').first().waitFor(WAIT)
  await look(
    'open rows',
    Array.from({ length: 41 }, (_, n) => 320 + n * 40),
  )
  await page.getByRole('tab').nth(2).click()
  await look('held packages', [320, 480, 768, 1440])

  expect(found).toEqual([])
})
