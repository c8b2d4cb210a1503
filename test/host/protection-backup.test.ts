import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { allow, archives, BACKUP, calm, during, files, refusedRollback, startBacking, threaten } from './backing.ts'
import { calls, dpkgOf, stateOf, versionOf } from './protecting.ts'
import { type Account, inside } from './rig.ts'
import { commandLine, type Service } from './service.ts'

const NAME = /^vzdump-lxc-101-\d{4}_\d\d_\d\d-\d\d_\d\d_\d\d\.tar\.zst$/

type Started = Awaited<ReturnType<typeof startBacking>>

describe.each<[Account, ...string[]]>([['root'], ['alice'], ['ops', '/usr/bin/vzdump', '/usr/sbin/pvesm']])(
  'under the service account %s',
  (account, ...programs) => {
    let { alice, caller }: Pick<Started, 'alice' | 'caller'> = {} as Started
    beforeAll(async () => {
      const { service, ...started } = await startBacking(account)
      ;({ alice, caller } = started)
      if (programs.length > 0) await allow(...programs)
      return () => service.stop()
    })

    test('a backup is seen while it is made, and is restored and removed once a person asks for it', async () => {
      await threaten()
      await during('vzdump-delay', 1_500)
      const id = await alice.begin('rig-killer', { ...BACKUP, on_failure: 'rollback' })
      const live = async () => {
        const { output, phase, status } = await alice.record(id)
        return { archive: output.includes("INFO: creating vzdump archive '/mnt/pve/nas/dump/"), phase, status }
      }
      await expect
        .poll(live, { timeout: 30_000, interval: 100 })
        .toEqual({ archive: true, phase: 'protecting', status: 'running' })

      const job = await alice.ended(id)

      // No policy restores a backup by itself.
      expect(job).toMatchObject({ outcome: 'regressed', status: 'success', unprotected: null, decided: null })
      expect(job.regressions.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['rig-listener.service', 'tcp/7777']),
      )
      expect(job.snapshot).toMatchObject({ name: expect.stringMatching(NAME), kind: 'backup', present: true })
      expect(await archives()).toEqual([`nas:backup/${job.snapshot?.name}`])
      expect(await inside('host', 'cat /mnt/pve/nas/dump/*.notes')).toContain(`panel-${id}`)

      const refusal = await refusedRollback(caller, id)
      expect(refusal).toMatchObject({ status: 409, code: 'rollback_impossible', destroys: [] })
      expect(refusal.error).toContain('restore: true')
      expect(await versionOf('rig-killer')).toBe('2.0')

      const back = await alice.rollBack(id, { restore: true })

      expect(back).toMatchObject({ outcome: 'rolled_back', status: 'success', phase: 'done' })
      expect(back.outage_seconds).toBeGreaterThanOrEqual(0)
      expect(await versionOf('rig-killer')).toBe('1.0')
      await expect.poll(() => stateOf('rig-listener'), { timeout: 30_000 }).toBe('active')
      expect(await alice.record(id)).toMatchObject({
        decided: { choice: 'rollback', job_id: back.job_id },
        snapshot: { present: true },
      })

      expect(await alice.forget(id)).toMatchObject({ status: 'success' })

      expect(await files()).toBe('')
      expect((await alice.record(id)).snapshot).toMatchObject({ present: false })
      expect(await refusedRollback(caller, id, { restore: true })).toMatchObject({ code: 'rollback_impossible' })
      const done = (await calls()).map((call) => call.split(' ').slice(0, 2).join(' '))
      const changes = done.filter((call) => /^(vzdump|restore|pvesm|snapshot|rollback)/.test(call))
      expect(changes).toEqual(['vzdump 101', 'restore 101', 'pvesm free'])
    })
  },
)

/** The lines of sudo that `doctor` names for protected upgrades. */
async function lacking(service: Service): Promise<string[]> {
  const told = await commandLine(service, 'doctor')
  return [...told.matchAll(/^• .*NOPASSWD: (\S+)$/gm)].map(([, program = '']) => program)
}

test.each<[Account, why: RegExp, ...lines: string[]]>([
  [
    ...(['ops', /ops ALL=\(root\) NOPASSWD: \/usr\/bin\/vzdump$/] as const),
    ...['/usr/sbin/lvs', '/usr/bin/vzdump', '/usr/sbin/pvesm'],
  ],
  ['narrow', /the host helper makes no backups/],
])('under the service account %s, which may not make backups, nothing is upgraded', async (account, why, ...lines) => {
  const { alice, service } = await startBacking(account)
  onTestFinished(() => service.stop())
  await calm()
  expect(await lacking(service)).toEqual(lines)
  const state = await dpkgOf()

  const job = await alice.upgrade('rig-calm', BACKUP)

  expect(job).toMatchObject({ status: 'error', error_code: 'protection_unavailable', snapshot: null })
  expect(job.reason).toMatch(why)
  expect(job.output).toContain(job.reason)
  expect(await dpkgOf()).toBe(state)
  expect(await calls()).toEqual([])
})
