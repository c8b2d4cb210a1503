import { isUtf8 } from 'node:buffer'
import { rm } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { freePort } from '../free-port.ts'
import { randomOf, seedOf } from '../rounds.ts'
import { signIn } from './client.ts'
import { alike, hashes, jobDetail, keepHostFile, steps, upTo } from './copies.ts'
import { startJob } from './job.ts'
import { NO_TEXT, replacePostinst, slowPostinst } from './postinst.ts'
import { jobFolders, jobProcesses } from './remains.ts'
import { followOn } from './resuming.ts'
import { type Account, inside, rig } from './rig.ts'
import { newFolder, startService } from './service.ts'

const PLACES = ['host', '101', '102'] as const
const LINES = 40
/** The number of kills in each of the two runs. */
const KILLS = 10
/** The longest time in ms between a start of the service and its next kill. */
const ALIVE_MS = 800

const seed = seedOf('test/host/killed-service.test.ts', 'host')

test.each<Account>(['root', 'ops'])(
  'three upgrades lose and repeat no byte while the service is killed ten times, with the service account %s',
  async (account) => {
    const random = randomOf(seed + (account === 'root' ? 0 : 1))
    await rig('reset')
    const [folder, port] = [await newFolder(), await freePort()]
    const began = performance.now()
    let service = await startService({ as: account, folder, port })
    onTestFinished(async () => {
      await service.kill()
      await rm(folder, { recursive: true, force: true })
    })
    // Spreads the lines over the kills, so that the last line comes after them, however busy the machine is.
    const seconds = ((performance.now() - began + ALIVE_MS / 2) * (KILLS - 1)) / LINES / 1000
    for (const place of PLACES) {
      await replacePostinst(place, slowPostinst({ lines: LINES, seconds, bytes: place === '102' ? NO_TEXT : '' }))
      await inside(place, 'touch /etc/rig/hold')
    }
    const bob = await signIn(service, 'bob')
    const jobs: { id: string; live: ReturnType<typeof followOn>; kept: ReturnType<typeof keepHostFile> }[] = []
    for (const place of PLACES) {
      const id = await startJob(bob, place === 'host' ? place : `lxc:${place}`)
      const kept = keepHostFile(id, service.database)
      kept.catch(() => {})
      jobs.push({ id, live: followOn(bob, id), kept })
    }

    const moments: string[] = []
    for (const at of upTo(KILLS)) {
      // The first kill may come before the host knows of the jobs, the others come while they run.
      if (at === 2)
        await vi.waitUntil(() => jobs.every(({ live }) => steps(live.output()).length > 0), { timeout: 60_000 })
      await pause(ALIVE_MS * random.next())
      await service.kill()
      const lines = (await inside('host', 'cat /var/tmp/kept-* 2>/dev/null || true')).match(/^rig-slow: step/gm) ?? []
      moments.push(`${lines.length}`)
      service = await startService({ as: account, folder, port })
    }
    console.info(`killed after ${moments.join(', ')} of ${PLACES.length * LINES} lines`)

    for (const place of PLACES) await inside(place, 'rm /etc/rig/hold')
    for (const [at, { id, live, kept }] of jobs.entries()) {
      expect(await live.ended).toMatchObject({ type: 'update_done', data: { job_id: id } })
      const hostFile = await (await kept)()
      const four = await hashes(bob, id, { hostFile, live: live.output() })
      expect(four).toEqual(alike(four.host))
      expect(isUtf8(hostFile)).toBe(PLACES[at] !== '102')
      expect(steps(live.output())).toEqual(upTo(LINES))
      expect(await jobDetail(bob, id)).toMatchObject({
        status: 'success',
        exit_code: 0,
        output_size: Buffer.byteLength(live.output()),
      })
      expect(live.connections()).toBeGreaterThan(2)
    }
    await expect.poll(jobFolders, { timeout: 10_000 }).toBe('')
    await expect.poll(jobProcesses, { timeout: 10_000 }).toEqual([])
  },
)
