import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkingAs } from './checking.ts'
import { signIn } from './client.ts'
import { type DebianHost, DEBIANS } from './rig.ts'
import { type Service, startService } from './service.ts'

type Place = 'host' | '101'

describe.each(DEBIANS)('on %s', (_, start) => {
  let host: DebianHost
  let service: Service
  let alice: ReturnType<typeof checkingAs>
  beforeAll(async () => {
    host = await start()
    service = await startService({ env: host.env })
    alice = checkingAs(await signIn(service, 'alice'))
    for (const place of ['host', '101']) {
      await host.rig('kept-new', place)
      await host.rig('kept-deps', place)
      await host.rig('phased', place, 'on')
      await host.rig('hold', place, 'on', 'rig-conf')
      await host.rig('publish', place, 'rig-fail', '3.0', 'security', 'source=rig-source')
      await host.rig('in', place, 'sh', '-c', `echo '1 1' >/etc/rig/slow`)
    }
  }, 300_000)
  afterAll(async () => {
    await service?.stop()
    await host?.down?.()
  })

  /** The changes that dpkg has logged since the last call, as `action name from to`. */
  async function done(place: Place): Promise<string[]> {
    const log = await host.rig('in', place, 'sh', '-c', 'cat /var/log/dpkg.log 2>/dev/null; : >/var/log/dpkg.log')
    return log.split('\n').flatMap((line) => {
      const [, , action = '', full = '', from, to] = line.split(' ')
      return /^(install|upgrade|remove)$/.test(action) ? [`${action} ${full.split(':')[0]} ${from} ${to}`] : []
    })
  }

  test.each<[string, Place]>([
    ['host', 'host'],
    ['lxc:101', '101'],
  ])(
    'the planned packages of %s, and those that only a removal lets through, are what the upgrade changes',
    async (target, place) => {
      const { packages } = await alice.check(target)
      await done(place)

      const { exit_code } = await alice.upgrade(target)

      const said = packages.flatMap(({ name, action, from, to, status, reason }) =>
        status === 'planned' || reason === 'kept_back_remove'
          ? [`${action} ${name} ${from ?? '<none>'} ${to ?? '<none>'}`]
          : [],
      )
      expect(exit_code).toBe(0)
      expect(said.length).toBeGreaterThan(5)
      expect((await done(place)).sort()).toEqual(said.sort())
      const after = await alice.check(target)
      expect(after.state).toBe('up_to_date')
      expect(after.packages.map(({ name, status, reason }) => [name, status, reason])).toEqual([
        ['rig-phased', 'phased', 'phased'],
        ['rig-conf', 'held', 'held'],
        ['rig-unmet', 'kept_back', 'kept_back_dependencies'],
      ])
    },
  )
})
