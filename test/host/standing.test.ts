import { beforeAll, expect, test } from 'vitest'
import { checkingAs, endAutomaticChecks } from './checking.ts'
import { signIn } from './client.ts'
import { installPanel, makePackage, standInForSystemd } from './installed-panel.ts'
import { narrowAccount } from './narrow.ts'
import { type Account, inside, rig } from './rig.ts'
import { startService } from './service.ts'

let deb: string

beforeAll(async () => {
  await rig('reset')
  await narrowAccount()
  await rig('net', '101', 'host')
  await standInForSystemd('101')
  deb = await makePackage('101', '0.2.9')
})

test.each<Account>(['root', 'alice', 'ops', 'narrow'])(
  'the container in which the panel runs is found under the service account %s',
  async (account) => {
    const panel = await installPanel('101', deb, { as: account })
    await endAutomaticChecks(await signIn(panel, 'alice'))
    const bob = checkingAs(await signIn(panel, 'bob'))
    const messages = async (target: string) =>
      (await bob.target(target)).findings.flatMap(({ code, message }) => (code === 'self_impact' ? [message] : []))

    for (const target of ['host', 'lxc:101', 'lxc:102']) await bob.check(target)

    // The tests sign in through a proxy on the loopback.
    expect(await messages('lxc:101')).toEqual([
      expect.stringContaining('Le panneau et le mandataire du panneau fonctionnent dans ce conteneur'),
    ])
    expect(await messages('lxc:102')).toEqual([])
    expect(await messages('host')).toEqual(['Le panneau fonctionne dans le conteneur 101 de cet hôte.'])
  },
)

test('a panel that runs elsewhere finds none of its ground here', async () => {
  await inside('101', 'systemctl stop ops-panel')
  const service = await startService()
  const bob = checkingAs(await signIn(service, 'bob'))

  expect((await bob.check('host')).findings.map(({ code }) => code)).not.toContain('self_impact')
  expect((await bob.check('lxc:101')).findings.map(({ code }) => code)).not.toContain('self_impact')
  await service.stop()
})
