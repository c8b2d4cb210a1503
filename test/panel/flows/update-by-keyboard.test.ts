import { expect, test } from 'vitest'
import { signedIn } from '../../client/signed-in.ts'
import { focused, openPage, signIn, tabTo } from '../browser.ts'
import { checkingByItself } from './update-states.ts'

const LONG = 120_000
const WAIT = { timeout: 20_000 }

test('the keyboard alone leads from sign-in over an upgrade to the history', { timeout: LONG }, async () => {
  const { printed, proxy, panel } = await signedIn()
  await checkingByItself(panel)
  const page = await openPage(`${proxy.url}/updates`)
  await page.locator('input[name=username]').waitFor()
  const press = (key: string) => page.keyboard.press(key)
  await page.keyboard.type('demo')
  await press('Tab')
  await page.keyboard.type('demo')
  await press('Enter')
  await page.getByText('8 paquets', { exact: true }).waitFor(WAIT)

  // A search in the packages of rows that were never opened.
  const rows = () => page.locator('.targets tr.row .opener').allTextContents()
  const all = await rows()
  await press('/')
  await page.keyboard.type('openssh-server')
  await expect.poll(async () => (await rows()).includes('Hôte') && (await rows()).length < all.length, WAIT).toBe(true)
  await press('Control+a')
  await press('Delete')
  await expect.poll(rows, WAIT).toEqual(all)

  // The packages are shown before the upgrade.
  await tabTo(page, 'Hôte')
  await press('Enter')
  await page.getByText('1:9.2p1-2+deb12u6').waitFor(WAIT)
  await tabTo(page, 'Examiner la mise à jour de Hôte')
  await press('Enter')
  // All containers depend on the host, which is said before it starts.
  await page.locator('dialog').getByText('L’hôte lui-même').waitFor(WAIT)
  await expect.poll(() => focused(page), WAIT).toBe('Installer exactement ceci')
  await press('Escape')
  await expect.poll(() => focused(page), WAIT).toBe('Examiner la mise à jour de Hôte')
  expect(await panel.api('GET /api/updates/history')).toBeNull()
  await press('Enter')
  await page.locator('dialog .primary[aria-disabled=false]').waitFor(WAIT)
  await press('Enter')
  await page.getByText('Mise à jour en cours', { exact: true }).waitFor(WAIT)
  // The output takes the focus, and the button that was pressed now leads to it.
  await expect.poll(() => focused(page), WAIT).toBe('Journal')
  await tabTo(page, 'Voir la sortie de Hôte', 'Shift+Tab')
  await press('Enter')
  await expect.poll(() => focused(page), WAIT).toBe('Journal')

  printed.print(Array.from({ length: 200 }, (_, n) => `line ${n + 1}\n`).join(''))
  await page.getByText('line 200', { exact: true }).waitFor(WAIT)
  await press('Home')
  await page.getByText('line 1', { exact: true }).waitFor(WAIT)
  printed.print(Array.from({ length: 128 }, (_, n) => `more ${n + 1}\n`).join(''))
  await page.getByText('128 nouvelles lignes').waitFor(WAIT)
  await press('End')
  await page.getByText('more 128', { exact: true }).waitFor(WAIT)
  expect(await page.getByText(/nouvelles? lignes?/).count()).toBe(0)
  printed.print('more 129\n')
  await page.getByText('more 129', { exact: true }).waitFor(WAIT)

  // One key stops and resumes following.
  const follow = page.getByRole('button', { name: 'Suivre', pressed: true })
  await press('f')
  await expect.poll(() => follow.count(), WAIT).toBe(0)
  await press('f')
  await follow.waitFor(WAIT)

  await press('Control+f')
  await expect.poll(() => focused(page), WAIT).toBe('Rechercher dans la sortie')
  await page.keyboard.type('line 17')
  await page.getByText('1 sur 11').waitFor(WAIT)
  await press('Enter')
  await page.getByText('2 sur 11').waitFor(WAIT)
  expect(await page.locator('.line.found').textContent()).toContain('line 170')
  await press('Shift+Enter')
  await press('Shift+Enter')
  await page.getByText('11 sur 11').waitFor(WAIT)
  await press('Escape')
  await expect.poll(() => focused(page), WAIT).toBe('Journal')

  // A cancelled confirmation changes nothing and returns the focus.
  await tabTo(page, 'Annuler', 'Shift+Tab')
  await press('Enter')
  await page.locator('dialog').waitFor()
  await press('Escape')
  await expect.poll(() => focused(page), WAIT).toBe('Annuler')

  printed.end()
  await page.locator('.output').getByText('Terminé', { exact: true }).waitFor(WAIT)
  // The focused button has disappeared with its job.
  await expect.poll(() => focused(page), WAIT).toBe('Sortie')

  // The history is the next tab of the page, an arrow key away.
  await tabTo(page, 'Cibles 4', 'Shift+Tab')
  await press('ArrowRight')
  await expect.poll(() => focused(page), WAIT).toBe('Exécutions 1')
  await tabTo(page, 'Voir la mise à jour de Hôte')
  await press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Mise à jour' }).waitFor(WAIT)
  await page.waitForURL(/\/updates\/[^/]+$/)
  await page.getByText('more 129', { exact: true }).waitFor(WAIT)
  await page.reload()
  await page.getByText('more 129', { exact: true }).waitFor(WAIT)
})

test('upgrading all targets shows a plan for each first', { timeout: LONG }, async () => {
  const { demo, proxy, panel } = await signedIn()
  await checkingByItself(panel)
  demo.upgradeOutput = undefined
  // Both upgrades must run until the page has shown them.
  demo.lineMs = 1_000
  const page = await openPage(`${proxy.url}/updates`)
  await signIn(page)
  await page.getByRole('heading', { name: '3 cibles peuvent être mises à jour' }).waitFor(WAIT)

  await page.getByRole('button', { name: 'Tout examiner' }).press('Enter')
  await expect.poll(() => focused(page), WAIT).toBe('Installer exactement ceci')
  // The host is the last one.
  expect(await page.locator('dialog .many .named > .cut').allTextContents()).toEqual(['web', 'db', 'Hôte'])
  await page.keyboard.press('Escape')
  await expect.poll(() => focused(page), WAIT).toBe('Tout examiner')
  expect(await panel.api('GET /api/updates/history')).toBeNull()

  await page.keyboard.press('Enter')
  await page.locator('dialog .primary[aria-disabled=false]').waitFor(WAIT)
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/runs\/[0-9a-f]+$/)
  await page.getByText(/^0 sur 3 terminée/).waitFor(WAIT)
  demo.lineMs = 0
  const started = async () => (await panel.api('GET /api/updates/history'))?.map(({ target }) => target).sort()
  await expect.poll(started, WAIT).toEqual(['host', 'lxc:101', 'lxc:102'])
  await expect
    .poll(async () => (await page.locator('.history .status').allTextContents()).sort(), WAIT)
    .toEqual(['Terminé', 'Terminé', 'Terminé'])
  // The history tells them in one row.
  await page.getByRole('link', { name: 'Toutes les mises à jour' }).click()
  await page.getByRole('link', { name: 'Voir les mises à jour de web, db, Hôte' }).waitFor(WAIT)
  expect(await page.locator('.history tbody tr').count()).toBe(1)
})

test('a non-zero exit code shows in the job’s record, on its page and in the history', {
  timeout: LONG,
}, async () => {
  const { demo, proxy, panel } = await signedIn()
  await checkingByItself(panel)
  demo.upgradeOutput = undefined
  demo.override = (words, { stdout }) => {
    if (words[0] !== 'apt-get' || !words.includes('full-upgrade')) return undefined
    return stdout('E: Sub-process /usr/bin/dpkg returned an error code (1)\n').then(() => 100)
  }
  const { job_id: id } = await panel.api('POST /api/updates/run', { body: { target: 'host' } })
  const page = await openPage(`${proxy.url}/updates/${id}`)
  await signIn(page)

  const title = page.locator('.output .status')
  await title.getByText('Échec').waitFor(WAIT)
  expect(await title.getAttribute('class')).toContain('err')
  expect(await panel.api('GET /api/updates/jobs/{id}', { params: { id } })).toMatchObject({
    status: 'success',
    exit_code: 100,
  })
  await page.getByRole('link', { name: 'Toutes les mises à jour' }).click()
  await page.getByRole('tab', { name: 'Exécutions' }).click()
  await expect.poll(() => page.locator('.history .status').allTextContents(), WAIT).toEqual(['Échec'])
  await page.getByRole('tab', { name: 'Cibles' }).click()
  // The row is not green either, and the user can retry from there.
  const row = page.locator('.targets tr.row').filter({ hasText: 'Hôte' })
  await row.getByText(/^La dernière mise à jour a échoué/).waitFor(WAIT)
  demo.override = undefined
  await row.getByRole('button', { name: 'Réessayer la mise à jour de Hôte' }).click()
  await page.locator('dialog .primary[aria-disabled=false]').click(WAIT)
  await row.getByText('À jour', { exact: true }).waitFor(WAIT)
})

test('a skipped container and a cancelled job are shown as such', {
  timeout: LONG,
}, async () => {
  const { demo, printed, proxy, panel } = await signedIn()
  await checkingByItself(panel)
  const page = await openPage(`${proxy.url}/updates?tab=runs`)
  const print = demo.upgradeOutput
  demo.upgradeOutput = undefined
  demo.override = (words, { place, stdout }) => {
    if (words[0] !== 'apt-get' || !words.includes('full-upgrade') || place.id !== '102') return undefined
    return stdout('E: Unable to locate package\n').then(() => 100)
  }
  const { job_id: id } = await panel.api('POST /api/updates/run', { body: { target: 'all' } })
  await signIn(page)
  await expect
    .poll(() => page.locator('.history .status').allTextContents(), WAIT)
    .toEqual(['Terminé avec des erreurs'])
  expect(await panel.api('GET /api/updates/jobs/{id}', { params: { id } })).toMatchObject({ exit_code: 0 })
  // The page names the failed targets, and the stopped ones, which have not failed.
  await page.getByRole('link', { name: 'Voir la mise à jour de Tous les conteneurs' }).click()
  await expect
    .poll(() => page.locator('.job-results li > :last-child').allTextContents(), WAIT)
    .toEqual(['En échec\u00a0: db (code 100)', 'Écartés\u00a0: old-backup (arrêté)'])
  await page.getByRole('link', { name: 'Toutes les mises à jour' }).click()

  demo.upgradeOutput = print
  printed.print('Reading package lists...\n')
  await page.getByRole('button', { name: 'Examiner la mise à jour de Hôte' }).click()
  await page.locator('dialog .primary[aria-disabled=false]').click(WAIT)
  await page.getByText('Reading package lists...').first().waitFor(WAIT)
  await page.locator('.output').getByRole('button', { name: 'Annuler' }).click()
  await page.locator('dialog').getByRole('button', { name: 'Annuler la mise à jour' }).click()
  await page.locator('.output').getByText('Annulé', { exact: true }).waitFor(WAIT)
  await page.getByRole('tab', { name: 'Exécutions' }).click()
  await expect
    .poll(() => page.locator('.history .status').allTextContents(), WAIT)
    .toEqual(['Annulé', 'Terminé avec des erreurs'])
})

test('on a phone, starting a container’s upgrade scrolls to its output', {
  timeout: LONG,
}, async () => {
  const { printed, proxy, panel } = await signedIn()
  await checkingByItself(panel)
  const page = await openPage(`${proxy.url}/updates`, {
    viewport: { width: 390, height: 700 },
    reducedMotion: 'reduce',
  })
  await signIn(page)
  const log = page.getByRole('region', { name: 'Journal' })

  await page.getByRole('button', { name: 'Examiner la mise à jour de web' }).click(WAIT)
  await page.locator('dialog .primary[aria-disabled=false]').click(WAIT)

  await expect.poll(() => log.evaluate((element) => element === document.activeElement), WAIT).toBe(true)
  expect(await page.locator('dialog').count()).toBe(0)
  const seen = () =>
    log.evaluate((element) => {
      const { top, bottom } = element.getBoundingClientRect()
      return top >= 0 && top < innerHeight / 2 && bottom > top
    })
  await expect.poll(seen, WAIT).toBe(true)
  printed.end()
})

test('a target that cannot be checked says so, links to the reason, and can be checked again', {
  timeout: LONG,
}, async () => {
  const { demo, proxy, panel } = await signedIn()
  await checkingByItself(panel)
  demo.override = (words, { place, stderr }) => {
    if (words[0] !== 'sh' || place.id !== '101') return undefined
    return stderr('sh: 0: cannot fork\n').then(() => 2)
  }
  const page = await openPage(`${proxy.url}/updates`)
  await signIn(page)
  const row = page.locator('.targets tr.row').filter({ hasText: 'web' })
  await row.getByText('Pas de réponse à la dernière vérification').waitFor(WAIT)
  await row.getByRole('button', { name: 'web', exact: true }).click()
  const link = page.locator('.targets tr.detail').getByRole('link', { name: 'Voir cette vérification' })
  expect(await link.getAttribute('href')).toMatch(/^\/updates\/\d/)
  // The page shows the packages of the other targets all the same.
  await page.getByRole('heading', { name: '2 cibles peuvent être mises à jour' }).waitFor(WAIT)

  demo.override = undefined
  await row.getByRole('button', { name: 'Revérifier web' }).press('Enter')
  await row.getByText('5 paquets').waitFor(WAIT)
  await expect.poll(() => focused(page), WAIT).toBe('Examiner la mise à jour de web')
})
