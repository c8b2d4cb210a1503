import { expect, onTestFinished, test } from 'vitest'
import { startDemoHypervisor } from '../../../demo/hypervisor.ts'
import { newContainers } from '../../../demo/place.ts'
import { signedIn } from '../../client/signed-in.ts'
import { follow, openPage, signIn } from '../browser.ts'
import { armClipping } from './clipping.ts'
import { look } from './page-findings.ts'
import { answered, finding, told } from './update-states.ts'

const LONG = 240_000
const WAIT = { timeout: 60_000, interval: 50 }
const LONG_NAME = 'customer-portal-staging-environment-with-a-rather-long-name-001'
const LONG_UNIT = 'systemd-cryptsetup@dev-disk-by\\x2duuid-0f8b1a2c\\x2d77ab\\x2d47ba\\x2d94c8\\x2d2ff0063a49a0'
const one = (name: string, rest: object) => {
  const usual = { reason: '/usr/lib/x86_64-linux-gnu/libcrypto.so.3', package: null, why: null, interrupts: null }
  return { name, restart: 'service' as const, ...usual, ...rest }
}
const WHY =
  'Ce service n’est jamais redémarré seul : c’est une partie de systemd, dont les autres services et les sessions dépendent.'
const KINDS = [
  one(LONG_UNIT, { package: 'libpython3.11-minimal-with-a-very-long-flavour-name', interrupts: 'both' }),
  one('ssh', { interrupts: 'host' }),
  one('cron', { reason: 'needrestart' }),
  one('maximiliane-alexandra.oberhuber-schwarzenberg', { restart: 'session' }),
  one('agetty', { restart: 'none' }),
  one('systemd-logind', { restart: 'container', why: WHY, package: 'libc6' }),
  one('some-program', { restart: 'container' }),
]
const OUTDATED = { findings: [finding('services_outdated', { severity: 'info' })], services_unseen: true }

test.each(['fr-FR', 'en-GB'])(
  '%s: services to restart have no fault at any width',
  { timeout: LONG },
  async (locale) => {
    const containers = newContainers()
    const { service, panel } = await signedIn({}, {}, { containers })
    const hypervisor = await startDemoHypervisor(containers)
    onTestFinished(() => hypervisor.close())
    const { url: hypervisor_url, token: hypervisor_token } = hypervisor
    await panel.api('PATCH /api/settings', { body: { hypervisor_url, hypervisor_token } })
    const page = await openPage(service.url, { locale, reducedMotion: 'reduce' })
    const away = { restart: 'reboot', why: WHY }
    await answered(page, [
      told('host', 'Hôte', { ...OUTDATED, services: [one('pveproxy', { interrupts: 'panel' }), one('dbus', away)] }),
      told('lxc:101', LONG_NAME, { ...OUTDATED, services: KINDS }),
      told('lxc:102', 'db', { services_unseen: true }),
    ])
    await signIn(page)
    await armClipping(page)
    const found: string[] = []
    await page.locator('.attention li').first().waitFor(WAIT)
    await look(page, 'the dashboard', found)
    await follow(page, '/containers')
    await page.locator('.containers-table a.tag').first().waitFor(WAIT)
    await look(page, 'the containers', found)

    await follow(page, '/updates?open=lxc:101,lxc:102,host')
    await expect.poll(() => page.locator('.outdated .names > li').count(), WAIT).toBe(KINDS.length + 1 + 3)
    // Three targets, each with a hint that some services may be missing.
    expect(await page.getByText(/^(Des processus n’ont pas pu être lus|Not every process could be read)/).count()).toBe(
      3,
    )
    await look(page, 'the rows', found)
    await page.locator('.outdated > .button').first().click()
    await page.locator('dialog.question').waitFor(WAIT)
    await look(page, 'the question about all', found)

    expect(found).toEqual([])
  },
)
