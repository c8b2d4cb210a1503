import { beforeAll, describe, expect, test } from 'vitest'
import { jobFolder } from './begun.ts'
import { type Caller, packages, signIn } from './client.ts'
import { jobDetail, steps, upTo } from './copies.ts'
import { startFollowed } from './job.ts'
import { resetNarrow } from './narrow.ts'
import { replacePostinst } from './postinst.ts'
import { jobFolders, jobProcesses } from './remains.ts'
import { type Account, dpkgStatus, inside, type Place, rig } from './rig.ts'
import { type Service, startService } from './service.ts'

/** A target, where it is, and what the service calls that. */
type Upgraded = readonly [target: string, place: Place, name: string]
const UPGRADED: Upgraded[] = [
  ['host', 'host', 'hôte'],
  ['lxc:101', '101', 'LXC 101'],
]

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
    'an upgrade of %s is cancelled in the middle of dpkg, and the next one repairs',
    async (...one) => {
      await rig('slow', '400', '50', one[1])

      const { output } = await cancelInDpkg(bob, one)

      expect(steps(output).length).toBeLessThan(400)
      await nothingIsLeft()
      await rig('slow', '2', '1', one[1])
      await nextOneRepairs(bob, one)
    },
  )

  test('all is cancelled in its first container: the next one is left alone', async () => {
    await rig('reset')
    await rig('slow', '400', '50', '101')

    const { output } = await cancelInDpkg(bob, ['all', '101', 'LXC 101'])

    expect(output).not.toMatch(/=== LXC 102 ===|SKIP LXC/)
    await nothingIsLeft()
    expect(await dpkgStatus('102', 'rig-web')).toBe('install ok installed 1.0')
    await rig('slow', '2', '1')
    await nextOneRepairs(bob, ['lxc:101', '101', 'LXC 101'])
  })

  test('a postinst that ignores TERM is killed after ten seconds, on the host and in a container', async () => {
    await rig('reset')
    await killsTheDeaf(bob)
  })
})

test('with the service account narrow, what ignores TERM is killed and the next one repairs, by the helper alone', async () => {
  await resetNarrow()
  const service = await startService({ as: 'narrow' })
  await killsTheDeaf(await signIn(service, 'bob'))
  await service.stop()
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

  test('somebody else’s job is not cancelled, except by an administrator, who is named', async () => {
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

  test('a job that waits for its turn is cancelled without having touched the host; the one before it goes on', async () => {
    await rig('slow', '100', '50', '101')
    const first = await startFollowed(bob, 'lxc:101')
    await first.until(({ output }) => output().includes('rig-slow: step 5 '))
    const waiting = await startFollowed(bob, 'lxc:101')
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
    await nothingIsLeft()
  })
})

/** Prints two lines, and where there is /etc/rig/deaf very many, with TERM ignored. */
const DEAF = `#!/bin/sh
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

/** Cancels upgrades of the host and of a container, each in a postinst that only KILL ends. */
async function killsTheDeaf(caller: Caller): Promise<void> {
  for (const [, place] of UPGRADED) {
    await replacePostinst(place, DEAF)
    await inside(place, 'touch /etc/rig/deaf')
  }

  const ends = await Promise.all(UPGRADED.map((one) => cancelInDpkg(caller, one)))

  for (const { tookMs } of ends) {
    expect(tookMs).toBeGreaterThan(10_000)
    expect(tookMs).toBeLessThan(60_000)
  }
  await nothingIsLeft()
  for (const [, place] of UPGRADED) await inside(place, 'rm /etc/rig/deaf')
  await Promise.all(UPGRADED.map((one) => nextOneRepairs(caller, one)))
}

/** Starts an upgrade and cancels it in the middle of rig-slow's postinst; what came of it. */
async function cancelInDpkg(caller: Caller, [target, place, name]: Upgraded) {
  const job = await startFollowed(caller, target)
  await job.until(({ output }) => output().includes('rig-slow: step 5 '))
  expect((await jobProcesses()).join('\n')).toContain('rig-slow.postinst')

  const asked = performance.now()
  const answer = await caller.post(`/api/updates/jobs/${job.id}/cancel`, {})

  expect(answer.status).toBe(202)
  expect(await job.closed).toBe(1000)
  const tookMs = performance.now() - asked
  const output = job.output()
  expect(output).toMatch(
    new RegExp(
      `\\ndpkg a été interrompu \\(${name}\\) : [^\\n]*rig-slow[^\\n]* La prochaine mise à jour répare d’abord\\.\\nAnnulé par bob$`,
    ),
  )
  expect(job.frames.at(-1)).toMatchObject({
    type: 'update_error',
    topic: `update:${job.id}`,
    seq: Buffer.byteLength(output),
    data: { error: 'Annulé par bob' },
  })
  expect(await jobDetail(caller, job.id)).toMatchObject({ status: 'error', output, finished_at: expect.any(String) })
  expect(await inside(place, 'dpkg --audit')).toContain('rig-slow')
  return { output, tookMs }
}

/** Neither a folder nor a process, on the host or in a container. */
async function nothingIsLeft(): Promise<void> {
  await expect.poll(jobFolders, { timeout: 10_000 }).toBe('')
  await expect.poll(jobProcesses, { timeout: 10_000 }).toEqual([])
}

/** Upgrades what a cancelled upgrade left behind. */
async function nextOneRepairs(caller: Caller, [target, place]: Upgraded): Promise<void> {
  const job = await startFollowed(caller, target)
  expect(await job.closed).toBe(1000)
  const output = job.output()
  expect(await jobDetail(caller, job.id)).toMatchObject({ status: 'success', exit_code: 0, output })
  expect(output).toContain('Setting up rig-slow (2.0)')
  expect(output.indexOf('Setting up rig-slow (2.0)')).toBeLessThan(output.indexOf('Reading package lists'))
  expect(await inside(place, 'dpkg --audit')).toBe('')
  expect(await dpkgStatus(place, 'rig-slow')).toBe('install ok installed 2.0')
  expect(await packages(caller, target)).toEqual([])
}
