import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { signIn } from './client.ts'
import { narrowAccount } from './narrow.ts'
import { linesOf, type Place, planningAs } from './planning.ts'
import { type Account, type DebianHost, DEBIANS, rig } from './rig.ts'
import { type Service, startService } from './service.ts'

/** The selections, one after another, and some packages that each takes or leaves. */
const SELECTIONS: [title: string, selection: object, takes: string[], leaves: string[]][] = [
  ['security alone', { only: 'security' }, ['rig-fail'], ['rig-wants', 'rig-slow']],
  ['one package', { packages: ['rig-wants'] }, ['rig-wants', 'rig-wanted'], ['rig-slow', 'rig-driver']],
  [
    'all but one',
    { exclude: ['rig-slow'] },
    ['rig-extra'],
    ['rig-slow', 'rig-driver', 'rig-driven', 'rig-conf', 'rig-phased'],
  ],
  ['everything without removals', {}, ['rig-slow'], ['rig-driver', 'rig-driven', 'rig-conf', 'rig-phased']],
  ['everything', { allow_remove: true }, ['rig-driver', 'rig-driven'], ['rig-conf', 'rig-phased']],
]

describe.each(DEBIANS)('on %s', (_, start) => {
  let host: DebianHost
  let service: Service
  let alice: ReturnType<typeof planningAs>
  beforeAll(async () => {
    host = await start()
    service = await startService({ env: host.env })
    alice = planningAs(await signIn(service, 'alice'), host.rig)
    for (const place of ['host', '101'] as const) {
      await host.rig('install', place, 'rig-extra', '1.0')
      await host.rig('publish', place, 'rig-extra', '2.0')
      await host.rig('kept-new', place)
      await host.rig('kept-remove', place)
      await host.rig('phased', place, 'on')
      await host.rig('hold', place, 'on', 'rig-conf')
      await host.rig('publish', place, 'rig-fail', '3.0', 'security')
      await alice.inside(place, `echo '1 1' >/etc/rig/slow; apt-get update`)
    }
  }, 300_000)
  afterAll(async () => {
    await service?.stop()
    await host?.down?.()
  })

  describe.each<[string, Place]>([
    ['host', 'host'],
    ['lxc:101', '101'],
  ])('%s', (target, place) => {
    test.each(SELECTIONS)(
      'a plan of %s is what its run does, and the marks stay',
      async (_title, selection, takes, leaves) => {
        const plan = await alice.plan(target, selection)
        const names = plan.actions.map(({ name }) => name)
        expect(names).toEqual(expect.arrayContaining(takes))
        expect(names.filter((name) => leaves.includes(name))).toEqual([])
        await alice.done(place)
        const before = await alice.marks(place)

        const job = await alice.run(target, plan.id)

        expect(job).toMatchObject({ status: 'success', exit_code: 0, plan_difference: null })
        expect(await alice.done(place)).toEqual(linesOf(plan))
        const added = plan.actions.filter(({ action }) => action === 'install').map(({ name }) => name)
        const gone = plan.actions.filter(({ action }) => action === 'remove').map(({ name }) => name)
        expect(await alice.marks(place)).toEqual([...before, ...added].filter((name) => !gone.includes(name)).sort())
      },
    )
  })
})

/** Changes between a plan and its run, and the package that the difference must name. */
const DRIFTS: [title: string, words: (place: Place) => string[][], name: string][] = [
  ['a newer version was published', (place) => [['publish', place, 'rig-fail', '3.1', 'security']], 'rig-fail'],
  ['a version has vanished', (place) => [['withdraw', place, 'rig-slow']], 'rig-slow'],
  ['a dependency has changed', (place) => [['publish', place, 'rig-slow', '2.0', 'depends=rig-new']], 'rig-new'],
  ['a hold was set', (place) => [['hold', place, 'on', 'rig-slow']], 'rig-slow'],
]

describe.each<[Account]>([['alice'], ['ops'], ['narrow'], ['root']])('with the service account %s', (account) => {
  let service: Service
  let alice: ReturnType<typeof planningAs>
  beforeAll(async () => {
    await rig('reset')
    if (account === 'narrow') await narrowAccount()
    service = await startService({ as: account })
    alice = planningAs(await signIn(service, 'alice'), rig)
    for (const place of ['host', '101'] as const)
      await alice.inside(place, `mkdir -p /etc/rig; echo '1 1' >/etc/rig/slow; apt-get update`)
    return () => service.stop()
  })

  test('a container that is stopped, and was never checked, has no plan for that reason', async () => {
    await expect(alice.plan('lxc:103')).rejects.toThrow(/: 422 .*"container_stopped"/)
  })

  describe.each<[string, Place]>([
    ['host', 'host'],
    ['lxc:101', '101'],
  ])('%s', (target, place) => {
    // Every kind of account asks the same hook, so one change of the lists is enough for the others.
    test.each(account === 'alice' ? DRIFTS : DRIFTS.slice(0, 1))(
      'where %s, nothing changes and the difference is told',
      async (_title, words, name) => {
        const { id } = await alice.plan(target)
        for (const each of words(place)) await rig(...each)
        await rig('refresh', place)
        const before = await alice.traces(place)

        const job = await alice.run(target, id)

        expect(job).toMatchObject({ status: 'error', error_code: 'plan_changed' })
        expect(job.plan_difference?.map((each) => each.name.split(':')[0])).toContain(name)
        expect(await alice.traces(place)).toBe(before)
      },
    )

    test('a selection is run as planned, and nothing stays behind', async () => {
      const plan = await alice.plan(target, { exclude: ['rig-web'] })
      const [, ...left] = (await alice.traces(place)).split('\n')
      await alice.done(place)

      expect(await alice.run(target, plan.id)).toMatchObject({ status: 'success', exit_code: 0 })

      expect(await alice.done(place)).toEqual(linesOf(plan))
      expect((await alice.traces(place)).split('\n').slice(1)).toEqual(left)
    })
  })
})
