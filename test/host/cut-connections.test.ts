import { isUtf8 } from 'node:buffer'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import * as z from 'zod'
import { signIn } from './client.ts'
import { alike, hashes, jobDetail, keepHostFile, steps, upTo } from './copies.ts'
import { startJob } from './job.ts'
import { NO_TEXT, replacePostinst, slowPostinst } from './postinst.ts'
import { jobFolders, jobProcesses } from './remains.ts'
import { followOn } from './resuming.ts'
import { type Account, inside, rig } from './rig.ts'
import { startService } from './service.ts'

const PLACES = ['host', '101', '102'] as const
const LINES = 40
const CUTS = 5

describe.each<Account>(['root', 'alice', 'ops'])('the service account %s', (account) => {
  test('three upgrades lose and repeat no byte when their ssh sessions are cut five times', async () => {
    await rig('reset')
    for (const place of PLACES) {
      await replacePostinst(place, slowPostinst({ lines: LINES, seconds: 0.2, bytes: place === '102' ? NO_TEXT : '' }))
      await inside(place, 'touch /etc/rig/hold')
    }
    const service = await startService({ as: account })
    onTestFinished(() => service.stop())
    const started = await bootId(service.url)
    const bob = await signIn(service, 'bob')
    const jobs = await Promise.all(
      PLACES.map(async (place) => {
        const id = await startJob(bob, place === 'host' ? place : `lxc:${place}`)
        return { place, id, live: followOn(bob, id), kept: await keepHostFile(id, service.database) }
      }),
    )

    const former = new Set<string>()
    for (const cut of upTo(CUTS)) {
      await vi.waitUntil(() => jobs.every(({ live }) => steps(live.output()).length >= cut * 7), { timeout: 60_000 })
      // Waits until a new process follows each job.
      const followers = await vi.waitUntil(
        async () => {
          const now = await tails()
          return now.length === PLACES.length && !now.some((pid) => former.has(pid)) && now
        },
        { timeout: 60_000, interval: 100 },
      )
      await rig('cut')
      for (const pid of followers) former.add(pid)
    }
    for (const place of PLACES) await inside(place, 'rm /etc/rig/hold')

    for (const { place, id, live, kept } of jobs) {
      expect(await live.ended).toMatchObject({ type: 'update_done', data: { job_id: id } })
      const hostFile = await kept()
      const four = await hashes(bob, id, { hostFile, live: live.output() })
      expect(four).toEqual(alike(four.host))
      expect(isUtf8(hostFile)).toBe(place !== '102')
      expect(steps(live.output())).toEqual(upTo(LINES))
      expect(await jobDetail(bob, id)).toMatchObject({ status: 'success', exit_code: 0 })
      // The subscribers stay connected.
      expect(live.connections()).toBe(1)
    }
    expect(await bootId(service.url)).toBe(started)
    await expect.poll(jobFolders, { timeout: 10_000 }).toBe('')
    await expect.poll(jobProcesses, { timeout: 10_000 }).toEqual([])
  })
})

/** Returns the pids of the processes that read the output of jobs on the host. */
async function tails(): Promise<string[]> {
  const all = (await inside('host', 'ps -eww -o pid=,args=')).split('\n')
  return all.flatMap((line) => /^\s*(\d+) tail -c .*\/output\s*$/.exec(line)?.[1] ?? [])
}

async function bootId(url: string): Promise<string> {
  const { boot_id } = z.object({ boot_id: z.string() }).parse(await (await fetch(`${url}/api/health`)).json())
  return boot_id
}
