import { beforeAll, describe, expect, test } from 'vitest'
import { checkingAs } from './checking.ts'
import { type Caller, signIn } from './client.ts'
import { narrowAccount } from './narrow.ts'
import { type Account, inside, rig } from './rig.ts'
import { startService } from './service.ts'

interface Case {
  title: string
  action: string
  code: string
  make(place: 'host' | '101'): string[][]
}

const CASES: Case[] = [
  {
    title: 'a failed configuration',
    action: 'repair_dpkg',
    code: 'dpkg_interrupted',
    make: (place) => [
      ['half', place, 'on'],
      ['in', place, 'rm', '/etc/rig/half-fails'],
    ],
  },
  {
    title: 'a broken package',
    action: 'repair_dpkg',
    code: 'dependencies_broken',
    make: (place) => [['broken', place, 'on']],
  },
  {
    title: 'a changed release',
    action: 'allow_release_change',
    code: 'repository_changed',
    make: (place) => [
      ['refresh', place],
      ['repo-name', place, 'oldstable', 'other'],
    ],
  },
  {
    title: 'a hold',
    action: 'lift_hold',
    code: 'held',
    make: (place) => [['hold', place, 'on', 'rig-slow']],
  },
  {
    title: 'a full cache',
    action: 'clean_cache',
    code: 'disk_low',
    make: (place) => [['full-disk', place, '5120']],
  },
  {
    title: 'upgrades beside the panel',
    action: 'disable_auto_upgrades',
    code: 'other_upgrader',
    make: (place) => [['auto-upgrades', place, 'on']],
  },
]

describe.each<[Account]>([['alice'], ['ops'], ['narrow']])('with the service account %s', (account) => {
  let caller: Caller
  let alice: ReturnType<typeof checkingAs>
  beforeAll(async () => {
    await rig('reset')
    if (account === 'narrow') await narrowAccount()
    const service = await startService({ as: account })
    caller = await signIn(service, 'alice')
    alice = checkingAs(caller)
    return () => service.stop()
  })

  describe.each<['host' | '101', string]>([
    ['host', 'host'],
    ['101', 'lxc:101'],
  ])('on %s', (place, target) => {
    test.each(CASES)('$action ends $title', async ({ action, code, make }) => {
      for (const words of make(place)) await rig(...words)
      const found = await alice.check(target)
      expect(found.findings.map((each) => each.code)).toContain(code)

      const job = await alice.remedy(target, action)

      expect(job).toMatchObject({ status: 'success', exit_code: 0 })
      const after = await alice.check(target)
      expect(after.findings.map((each) => each.code)).not.toContain(code)
      expect(['ready', 'up_to_date']).toContain(after.state)
    })

    readsChangelog(() => caller, place, target)
  })

  test('start_container starts a stopped container, and a check of it follows', async () => {
    await inside('host', 'pct stop 102')
    expect(await alice.check('lxc:102')).toMatchObject({ state: 'stopped' })

    expect(await alice.remedy('lxc:102', 'start_container')).toMatchObject({ status: 'success', exit_code: 0 })

    expect(await alice.check('lxc:102')).toMatchObject({ state: 'ready' })
  })

  test('an upgrade with a silent repository installs what the others offer, and ends with warnings', async () => {
    await rig('third', '102', 'unreachable')

    const job = await alice.upgrade('lxc:102')

    expect(job).toMatchObject({ status: 'success', exit_code: 0, warnings: [expect.stringContaining('127.0.0.1:9')] })
    expect(await inside('102', `dpkg-query -W -f '\${Version}' librig2`)).toBe('1:2.0~rc1-1+deb12u3')
    const after = await alice.check('lxc:102')
    expect(after).toMatchObject({ state: 'attention', last_upgrade: { outcome: 'warned' } })
  })
})

describe('with the service account root', () => {
  let caller: Caller
  beforeAll(async () => {
    await rig('reset')
    const service = await startService({ as: 'root' })
    caller = await signIn(service, 'alice')
    return () => service.stop()
  })

  readsChangelog(() => caller, 'host', 'host')
  readsChangelog(() => caller, '101', 'lxc:101')
})

function readsChangelog(caller: () => Caller, place: string, target: string): void {
  test(`the changelog of a version offered to ${target} is read, from the repository or from the package`, async () => {
    await rig('publish', place, 'rig-fail', '3.0', 'security', 'cve=CVE-2026-0001')
    await rig('refresh', place)

    const { status, body } = await caller().get(
      `/api/updates/changelog?target=${target}&package=rig-fail&from=2.0&to=3.0`,
    )

    expect({ status, body }).toMatchObject({
      status: 200,
      body: { package: 'rig-fail', entries: [expect.objectContaining({ version: '3.0', urgency: 'high' })] },
    })
    expect(JSON.stringify(body)).toContain('CVE-2026-0001')
  })
}
