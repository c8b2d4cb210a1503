import { beforeAll, describe, expect, test } from 'vitest'
import { jobFolder } from './begun.ts'
import { cancelInDpkg, expectNextUpgradeRepairs, expectNothingLeft, UPGRADED } from './cancelling.ts'
import { type Caller, signIn } from './client.ts'
import { jobDetail, steps, upTo } from './copies.ts'
import { makePlan, startFollowed } from './job.ts'
import { jobFolders } from './remains.ts'
import { type Account, dpkgStatus, rig } from './rig.ts'
import { type Service, startService } from './service.ts'

describe.each<Account>(['root', 'alice', 'ops'])('with the service account %s', (account) => {
  let service: Service
  let bob: Caller
  beforeAll(async () => {
    await rig('reset')
    service = await startService({ as: account })
    bob = await signIn(service, 'bob')
    return () => service.stop()
  })

  test.each(UPGRADED)(
    'an upgrade of %s can be cancelled while dpkg runs, and the next upgrade repairs dpkg first',
    async (...upgraded) => {
      await rig('slow', '400', '50', upgraded[1])

      const { output } = await cancelInDpkg(bob, upgraded)

      expect(steps(output).length).toBeLessThan(400)
      await expectNothingLeft()
      await rig('slow', '2', '1', upgraded[1])
      await expectNextUpgradeRepairs(bob, upgraded)
    },
  )

  test('cancelling an upgrade of all in its first container leaves the next container untouched', async () => {
    await rig('reset')
    await rig('slow', '400', '50', '101')

    const { output } = await cancelInDpkg(bob, ['all', '101', 'LXC 101'])

    expect(output).not.toMatch(/=== LXC 102 ===|SKIP LXC/)
    await expectNothingLeft()
    expect(await dpkgStatus('102', 'rig-web')).toBe('install ok installed 1.0')
    await rig('slow', '2', '1')
    await expectNextUpgradeRepairs(bob, ['lxc:101', '101', 'LXC 101'])
  })
})

describe('with the service account root', () => {
  let service: Service
  let bob: Caller
  beforeAll(async () => {
    await rig('reset')
    service = await startService()
    bob = await signIn(service, 'bob')
    return () => service.stop()
  })

  test('only an administrator can cancel another user’s job, and the output names the administrator', async () => {
    const [zoe, alice] = [await signIn(service, 'zoe'), await signIn(service, 'alice')]
    await rig('slow', '400', '50', '102')
    const job = await startFollowed(zoe, 'lxc:102')
    await job.until(({ output }) => output().includes('rig-slow: step 5 '))

    const refused = await bob.post(`/api/updates/jobs/${job.id}/cancel`, {})

    expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden' } })
    const come = steps(job.output()).length
    await job.until(({ output }) => steps(output()).length > come + 20)
    expect(await jobDetail(bob, job.id)).toMatchObject({ status: 'running' })

    expect((await alice.post(`/api/updates/jobs/${job.id}/cancel`, {})).status).toBe(202)

    expect(await job.closed).toBe(1000)
    expect(job.frames.at(-1)).toMatchObject({ type: 'update_error', data: { error: 'Annulé par alice' } })
    expect(job.output()).toMatch(/\nAnnulé par alice$/)
  })

  test('cancelling a queued job leaves the host untouched, and the running job continues', async () => {
    await rig('slow', '100', '50', '101')
    const plan = await makePlan(bob, 'lxc:101')
    const first = await startFollowed(bob, 'lxc:101')
    await first.until(({ output }) => output().includes('rig-slow: step 5 '))
    const waiting = await startFollowed(bob, 'lxc:101', plan)
    const all = await startFollowed(bob, 'all')
    for (const job of [waiting, all]) await job.until(({ output }) => output().includes('En attente'))

    for (const { id } of [waiting, all]) expect((await bob.post(`/api/updates/jobs/${id}/cancel`, {})).status).toBe(202)

    expect(await Promise.all([waiting.closed, all.closed])).toEqual([1000, 1000])
    expect(await jobDetail(bob, first.id)).toMatchObject({ status: 'running' })
    expect(await jobFolders()).toBe(await jobFolder(first.id, service.database))
    expect(waiting.output()).toBe(`En attente de la fin de la tâche ${first.id} (lxc:101)…\nAnnulé par bob`)
    expect(all.output()).toBe(`En attente de la fin de la tâche ${first.id} (lxc:101) et de 1 autre…\nAnnulé par bob`)
    for (const job of [waiting, all]) {
      expect(job.frames.at(-1)).toMatchObject({ type: 'update_error', data: { error: 'Annulé par bob' } })
      expect(await jobDetail(bob, job.id)).toMatchObject({ status: 'error', exit_code: null, output: job.output() })
    }
    expect(await first.closed).toBe(1000)
    expect(await jobDetail(bob, first.id)).toMatchObject({ status: 'success', exit_code: 0 })
    expect(steps(first.output())).toEqual(upTo(100))
    await expectNothingLeft()
  })
})
