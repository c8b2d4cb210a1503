import { isUtf8 } from 'node:buffer'
import { createHash, randomInt } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { freePort } from '../free-port.ts'
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
/** In each of the two runs. */
const KILLS = 10
/** Between a service that is there again and its next end, at the most. */
const ALIVE_MS = 800

const FILE = 'test/host/killed-service.test.ts'
const seed = Number(process.env.KILL_SEED ?? randomInt(2 ** 31))
console.info(`seed ${seed}; the same moments again: KILL_SEED=${seed} npx vitest run --project host ${FILE}`)

test.each<Account>(['root', 'ops'])(
  'a service (as %s) killed at ten moments of three upgrades loses no byte of any and repeats none, whatever the bytes',
  async (account) => {
    await rig('reset')
    const [folder, port] = [await newFolder(), await freePort()]
    const began = performance.now()
    let service = await startService({ as: account, folder, port })
    onTestFinished(async () => {
      await service.kill()
      await rm(folder, { recursive: true, force: true })
    })
    // The lines are spread over the kills, and the last one comes after them, however busy this machine is.
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
      // The first time perhaps before the host has heard of them, then in their middle.
      if (at === 2)
        await vi.waitUntil(() => jobs.every(({ live }) => steps(live.output()).length > 0), { timeout: 60_000 })
      await pause(ALIVE_MS * fraction(`${account} ${at}`))
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

/** From 0 to 1, the same for the same seed and name. */
function fraction(name: string): number {
  return createHash('sha256').update(`${seed} ${name}`).digest().readUInt32BE() / 2 ** 32
}
