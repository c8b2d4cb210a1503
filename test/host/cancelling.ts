import { expect } from 'vitest'
import { type Caller, packages } from './client.ts'
import { jobDetail } from './copies.ts'
import { startFollowed } from './job.ts'
import { jobFolders, jobProcesses } from './remains.ts'
import { dpkgStatus, inside, type Place } from './rig.ts'

/** A target of an upgrade, the place it stands for, and the name that the service shows for it. */
export type Upgraded = readonly [target: string, place: Place, name: string]
export const UPGRADED: Upgraded[] = [
  ['host', 'host', 'hôte'],
  ['lxc:101', '101', 'LXC 101'],
]

/** Starts an upgrade, cancels it inside rig-slow's postinst, and returns its output and how long that took. */
export async function cancelInDpkg(caller: Caller, [target, place, name]: Upgraded) {
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

/** Expects that no folder and no process of a job is left, on the host or in a container. */
export async function expectNothingLeft(): Promise<void> {
  await expect.poll(jobFolders, { timeout: 10_000 }).toBe('')
  await expect.poll(jobProcesses, { timeout: 10_000 }).toEqual([])
}

/** Expects that an upgrade after a cancelled one repairs dpkg and succeeds. */
export async function expectNextUpgradeRepairs(caller: Caller, [target, place]: Upgraded): Promise<void> {
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
