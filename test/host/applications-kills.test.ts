import { afterAll, beforeAll, expect, test } from 'vitest'
import { randomOf, seedOf } from '../rounds.ts'
import { auditEntries } from './audit.ts'
import { jobFolder } from './begun.ts'
import { type Caller, signIn } from './client.ts'
import { expectNoRemains, OLD, offerUpdate, stateOfApp, updatingAs, withApplication } from './community.ts'
import { alike, hashes, keepHostFile } from './copies.ts'
import { killable } from './killable.ts'
import { calls, callsOf, type Container, PHASES, POLICY, snapshots } from './protecting.ts'
import { followOn } from './resuming.ts'
import { type Account, inside, rig } from './rig.ts'
import { type Site, startSite } from './site.ts'
import { CONTAINERS, pointsOf, strike } from './striking.ts'

/** The service accounts, each with how many points of a run are struck. */
const ACCOUNTS = [
  ['root', 5],
  ['ops', 5],
] as const satisfies [Account, number][]
/** A round takes 30 s; on a busy machine it takes some times as long. */
const PATIENCE_MS = 200_000
/** A snapshot of an earlier update, which the next one removes. */
const FORMER = 'panel-1600000000-aaaaaaaa'
const LOST = ['rig-app.service', 'tcp/8080']
const STEPS = 15

const seed = seedOf('test/host/applications-kills.test.ts', 'host')

let site: Site
beforeAll(async () => {
  await rig('reset')
  await rig('snapshot-delay', '1000')
  await rig('pct-delay', '100')
  site = await startSite()
})
afterAll(() => site.close())

interface Begun {
  container: Container
  digest: string
  on_failure: string
}

/** Starts an update that takes some seconds and breaks the service, and follows it over all that happens. */
async function begin(caller: Caller, database: string, { container, digest, on_failure }: Begun) {
  const own = updatingAs(caller, container)
  const id = await own.begin(digest, { ...POLICY, on_failure, keep: 1 })
  const hostFile = await keepHostFile(id, database)
  return { container, own, id, on_failure, hostFile, live: followOn(caller, id), folder: await jobFolder(id, database) }
}
type Run = Awaited<ReturnType<typeof begin>>

test.each(ACCOUNTS)(
  'the update of an application ends the same, whatever becomes of the service and of SSH, with the account %s',
  async (account, count) => {
    const random = randomOf(seed + ACCOUNTS.findIndex(([name]) => name === account))
    const during = `for n in $(seq ${STEPS}); do echo "rig-app: step $n"; sleep 0.1; done`
    offerUpdate(site, { during, program: '#!/bin/sh\nexit 1\n' })
    for (const id of CONTAINERS) {
      await withApplication(site, id)
      await inside('host', `pct snapshot ${id} ${FORMER}`)
    }
    await calls()
    const panel = await killable(account)
    const { database } = panel.service()
    const alice = await signIn(panel.service(), 'alice')
    const { points, policies } = pointsOf(random, count)
    const begun: Begun[] = []
    for (const [at, container] of CONTAINERS.entries())
      begun.push({ container, digest: await updatingAs(alice, container).agreed(), on_failure: policies[at] ?? 'ask' })
    const runs: Run[] = []
    for (const each of begun) runs.push(await begin(alice, database, each))

    const told: string[] = []
    const strikeAll = async ({ container, folder }: Run) => {
      for (const { phase, way, afterMs } of points.filter((point) => point.container === container)) {
        const met = await strike(folder, container, { blow: way === 'kill' ? 'nothing' : 'cut', phase, afterMs })
        if (way !== 'cut') await panel.again()
        told.push(`${way} ${afterMs} ms after ${phase} of ${container} (${met})`)
      }
    }
    await Promise.all(runs.map(strikeAll))

    expect(told).toHaveLength(count)
    for (const run of runs) await expectSame(alice, run)
    console.info(`seed ${seed}, account ${account}: ${told.join('; ')}`)
    await expectNoRemains(...CONTAINERS)
  },
  PATIENCE_MS,
)

/** Expects of a run what it would have been without any strike. */
async function expectSame(caller: Caller, { container, own, id, on_failure, hostFile, live }: Run): Promise<void> {
  const isBack = on_failure === 'rollback'
  const job = await own.ended(id)
  const phases = [...PHASES.filter((phase) => isBack || phase !== 'rolling_back'), 'done']
  expect(job).toMatchObject({
    outcome: isBack ? 'rolled_back' : 'regressed',
    status: 'success',
    ...{ error_code: null, exit_code: 0, phase: 'done', unprotected: null, reason: null },
    snapshot: { name: `panel-${id}`, kind: 'snapshot', present: true },
  })
  expect(job.regressions.map(({ name }) => name).sort()).toEqual(LOST)
  expect(job.phases.map(({ phase }) => phase)).toEqual(phases)
  const steps = Array.from(job.output.matchAll(/^rig-app: step (\d+)$/gm), ([, number]) => Number(number))
  expect(steps).toEqual(Array.from({ length: STEPS }, (_, at) => at + 1))
  expect(job.output.match(/^ops-panel: version .*$/gm)).toEqual(['ops-panel: version 1.0 -> 2.0'])

  expect(await callsOf(container)).toEqual([
    `snapshot ${container} panel-${id}`,
    ...(isBack ? [`rollback ${container} panel-${id}`] : []),
    `delsnapshot ${container} ${FORMER}`,
  ])
  expect(await snapshots(container)).toEqual([`panel-${id}`])
  await expect.poll(() => stateOfApp(container), { timeout: 30_000 }).toBe(isBack ? OLD : '2.0\n2.0\nfailed')
  const ends = await auditEntries(caller, 'action=update_end')
  expect(ends.filter(({ details }) => details?.job_id === id)).toHaveLength(1)

  expect(await live.ended).toMatchObject({ type: 'update_done', data: { job_id: id } })
  const four = await hashes(caller, id, { hostFile: await hostFile(), live: live.output() })
  expect(four).toEqual(alike(four.host))
}
