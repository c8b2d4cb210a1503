import { expect, test } from 'vitest'
import { cancelInDpkg, expectNextUpgradeRepairs, expectNothingLeft, UPGRADED } from './cancelling.ts'
import { type Caller, signIn } from './client.ts'
import { resetNarrow } from './narrow.ts'
import { replacePostinst } from './postinst.ts'
import { type Account, inside, rig } from './rig.ts'
import { startService } from './service.ts'

test.each<Account>(['root', 'alice', 'ops'])(
  'with the service account %s, a cancelled postinst that ignores TERM is killed after ten seconds, on the host and in a container',
  async (account) => {
    await rig('reset')
    const service = await startService({ as: account })
    await expectDeafPostinstKilled(await signIn(service, 'bob'))
    await service.stop()
  },
)

test('with the account narrow, the host helper kills a postinst that ignores TERM', async () => {
  await resetNarrow()
  const service = await startService({ as: 'narrow' })
  await expectDeafPostinstKilled(await signIn(service, 'bob'))
  await service.stop()
})

/** Prints two lines; if /etc/rig/deaf exists, ignores TERM and prints 2,000 lines. */
const DEAF_POSTINST = `#!/bin/sh
[ "$1" = configure ] && [ -n "$2" ] || exit 0
lines=2
if [ -e /etc/rig/deaf ]; then
  trap '' TERM
  lines=2000
fi
for line in $(seq "$lines"); do
  echo "rig-slow: step $line of $lines"
  sleep 0.05
done
`

/** Cancels upgrades of the host and of a container, both inside a postinst that only KILL ends. */
async function expectDeafPostinstKilled(caller: Caller): Promise<void> {
  for (const [, place] of UPGRADED) {
    await replacePostinst(place, DEAF_POSTINST)
    await inside(place, 'touch /etc/rig/deaf')
  }

  const ends = await Promise.all(UPGRADED.map((upgraded) => cancelInDpkg(caller, upgraded)))

  for (const { tookMs } of ends) {
    expect(tookMs).toBeGreaterThan(10_000)
    expect(tookMs).toBeLessThan(60_000)
  }
  await expectNothingLeft()
  for (const [, place] of UPGRADED) await inside(place, 'rm /etc/rig/deaf')
  await Promise.all(UPGRADED.map((upgraded) => expectNextUpgradeRepairs(caller, upgraded)))
}
