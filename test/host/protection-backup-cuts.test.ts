import { beforeAll, describe, expect, test } from 'vitest'
import { allow, archives, BACKUP, calm, during, files, isLocked, startBacking } from './backing.ts'
import { dpkgOf, versionOf } from './protecting.ts'
import { jobNotes } from './remains.ts'
import { type Account, inside, rig } from './rig.ts'

type Started = Awaited<ReturnType<typeof startBacking>>
let { alice, caller }: Pick<Started, 'alice' | 'caller'> = {} as Started
const start = async (account: Account) => {
  const { service, ...started } = await startBacking(account)
  ;({ alice, caller } = started)
  return () => service.stop()
}

describe.each<[Account, ...string[]]>([['root'], ['ops', '/usr/bin/vzdump']])(
  'under the service account %s',
  (account, ...programs) => {
    beforeAll(async () => {
      const stop = await start(account)
      if (programs.length > 0) await allow(...programs)
      return stop
    })

    test('a backup that is cancelled leaves no archive, and its run says so', async () => {
      await calm()
      await during('vzdump-delay', 20_000)
      const state = await dpkgOf()
      const id = await alice.begin('rig-calm', BACKUP)
      await expect.poll(files, { timeout: 30_000, interval: 100 }).toContain('.tar.dat')

      expect((await caller.post(`/api/updates/jobs/${id}/cancel`, {})).status).toBe(202)
      const job = await alice.ended(id)

      expect(job).toMatchObject({ outcome: 'cancelled', error_code: 'cancelled', snapshot: null })
      expect(job.output).toContain('Backup of VM 101 failed - interrupted by signal')
      expect(job.output).toContain('La sauvegarde a été interrompue : aucune archive n’est restée.')
      expect(await files()).toBe('')
      expect(await isLocked()).toBe(false)
      expect(await dpkgOf()).toBe(state)
    })

    test.each([
      ['the run', '', 'failed'],
      ['its whole job', '-s $(ps -o sid= -p $program)', 'job_killed'],
    ])('vzdump goes on when %s is killed, and the archive is recorded', async (_title, session, end) => {
      await calm()
      await during('vzdump-delay', 4_000)
      const id = await alice.begin('rig-calm', BACKUP)
      // The run reads what vzdump says a few times a second: its first file may be there before.
      await expect.poll(jobNotes, { timeout: 30_000, interval: 100 }).toContain('"archive"')
      expect(await files()).toContain('.tar.dat')

      const find = `program=$(pgrep -f '^perl .*/program upgrade [a-z]* 101')`
      await inside('host', `${find}; ${session === '' ? 'kill -KILL $program' : `pkill -KILL ${session}`}`)
      const job = await alice.ended(id)

      expect(job).toMatchObject({ outcome: 'failed', snapshot: { kind: 'backup', present: true } })
      if (end === 'job_killed') {
        expect(job.error_code).toBe(end)
        const { body } = await caller.get(`/api/updates/jobs/${id}/output`)
        expect(JSON.stringify(body)).toContain(`La sauvegarde ${job.snapshot?.name} n’est pas finie`)
      }
      await expect.poll(archives, { timeout: 20_000 }).toEqual([`nas:backup/${job.snapshot?.name}`])
      await expect.poll(isLocked, { timeout: 10_000 }).toBe(false)
      expect(await versionOf('rig-calm')).toBe('1.0')
    })
  },
)

describe('under the service account root', () => {
  beforeAll(() => start('root'))

  test.each([
    ['one that fails', ['ct-fault', '101', 'backup-fail'], BACKUP, 'No space left on device'],
    ['a locked container', ['ct-lock', '101', 'migrate'], BACKUP, 'CT is locked (migrate)'],
    ['a storage that takes none', [], { ...BACKUP, backup_storage: 'local-lvm' }, 'wrong content type'],
    ['a storage that does not exist', [], { ...BACKUP, backup_storage: 'tape' }, "storage 'tape' does not exist"],
  ] as const)('without a backup (%s), nothing is upgraded', async (_title, words, policy, reason) => {
    await calm()
    if (words.length > 0) await rig(...words)
    const state = await dpkgOf()

    const job = await alice.upgrade('rig-calm', policy)

    expect(job).toMatchObject({ status: 'error', error_code: 'protection_unavailable', snapshot: null })
    expect(job.reason).toContain(reason)
    expect(await dpkgOf()).toBe(state)
    expect(await files()).toBe('')
  })

  test('a backup waits for another one of the host', async () => {
    await calm()
    await rig('vzdump-running', '4')

    const job = await alice.upgrade('rig-calm', BACKUP)

    expect(job).toMatchObject({ outcome: 'upgraded', snapshot: { kind: 'backup', present: true } })
    expect(job.output).toMatch(/trying to get global lock - waiting\.\.\.\n(.*\n)*INFO: got global lock\n/)
  })
})
