import { beforeAll, expect, onTestFailed, test } from 'vitest'
import { randomOf, rounds, seedOf } from '../rounds.ts'
import { auditEntries } from './audit.ts'
import { jobFolder } from './begun.ts'
import { type Caller, signIn } from './client.ts'
import { alike, hashes, keepHostFile } from './copies.ts'
import { killable } from './killable.ts'
import { narrowAccount } from './narrow.ts'
import { calls, callsOf, type Container, PHASES, protectingAs } from './protecting.ts'
import { snapshots, stateOf, versionOf } from './protecting.ts'
import { jobFolders, jobProcesses } from './remains.ts'
import { followOn } from './resuming.ts'
import { type Account, inside, rig } from './rig.ts'
import { CONTAINERS, pointsOf, strike } from './striking.ts'

/** The service accounts, each with how many points of a run are struck: 20 in all. */
const ACCOUNTS = [
  ['root', 7],
  ['ops', 7],
  ['narrow', 6],
] as const satisfies [Account, number][]

/** A round takes 40 s: two pauses, two looks and a rollback. On a busy machine it takes some times as long. */
const PATIENCE_MS = 200_000 * rounds(1, 4)

/** A snapshot of an earlier upgrade, which the next one removes. */
const FORMER = 'panel-1600000000-aaaaaaaa'
const LOST = ['rig-listener.service', 'tcp/7777']

const seed = seedOf('test/host/protection-kills.test.ts', 'host')

beforeAll(async () => {
  await rig('reset')
  await narrowAccount()
  await rig('snapshot-delay', '1000')
  await rig('pct-delay', '100')
  await Promise.all(CONTAINERS.map(threaten))
})

async function threaten(id: Container): Promise<void> {
  await rig('reset', id)
  await rig('killer', id, 'on')
  await rig('slow', '15', '100', id)
  await rig('refresh', id)
}

/** Starts a protected upgrade, and follows it over all that happens. */
async function begin(caller: Caller, database: string, container: Container, on_failure: string, settle: number) {
  const own = protectingAs(caller, container)
  const policy = { on_failure, keep: 1, settle_seconds: settle }
  const id = await own.begin(['rig-killer', 'rig-slow'], policy)
  const hostFile = await keepHostFile(id, database)
  return { container, own, id, on_failure, hostFile, live: followOn(caller, id), folder: await jobFolder(id, database) }
}

test.each(ACCOUNTS)(
  'a protected run ends the same, whatever becomes of the service and of SSH, with the account %s',
  async (account, count) => {
    const random = randomOf(seed + ACCOUNTS.findIndex(([name]) => name === account))
    onTestFailed(() => Promise.all(CONTAINERS.map(threaten)).then(() => {}))
    const panel = await killable(account)
    const { database } = panel.service()
    const alice = await signIn(panel.service(), 'alice')
    const told: string[] = []
    for (let round = 0; round < rounds(1, 4); round += 1) {
      const { points, policies } = pointsOf(random, count)
      await Promise.all(CONTAINERS.map((id) => inside('host', `pct delsnapshot ${id} ${FORMER} 2>/dev/null || true`)))
      await calls()
      await Promise.all(CONTAINERS.map((id) => inside('host', `pct snapshot ${id} ${FORMER}`)))
      const runs: Run[] = []
      for (const [at, id] of CONTAINERS.entries())
        runs.push(await begin(alice, database, id, policies[at] ?? 'ask', 5 + random.between(0, 3)))

      const struck: string[] = []
      const strikeAll = async ({ container, folder }: (typeof runs)[number]) => {
        // All wait from now on: the run goes on, and ends, while the service starts again.
        const strikes = points
          .filter((point) => point.container === container)
          .map(async ({ phase, way, afterMs }) => {
            const blow = way === 'kill' ? 'nothing' : 'cut'
            return { phase, way, afterMs, met: await strike(folder, container, { blow, phase, afterMs }) }
          })
        for (const coming of strikes) {
          const { phase, way, afterMs, met } = await coming
          if (way !== 'cut') await panel.again()
          struck.push(met)
          told.push(`${way} ${afterMs} ms after ${phase} of ${container} (${met})`)
        }
      }
      await Promise.all(runs.map(strikeAll))

      expect(struck).toHaveLength(count)
      for (const run of runs) await expectSame(alice, run)
      const undo = async ({ own, id, on_failure }: Run) => {
        if (on_failure === 'ask') expect(await own.rollBack(id)).toMatchObject({ outcome: 'rolled_back' })
        expect(await own.forget(id)).toMatchObject({ status: 'success' })
      }
      await Promise.all(runs.map(undo))
    }
    console.info(`seed ${seed}, account ${account}: ${told.join('; ')}`)
    await expect.poll(jobFolders, { timeout: 10_000 }).toBe('')
    await expect.poll(jobProcesses, { timeout: 10_000 }).toEqual([])
  },
  PATIENCE_MS,
)

type Run = Awaited<ReturnType<typeof begin>>

/** Expects of a run what it would have been without any strike. */
async function expectSame(caller: Caller, { container, own, id, on_failure, hostFile, live }: Run): Promise<void> {
  const isBack = on_failure === 'rollback'
  const job = await own.ended(id)
  const phases = [...PHASES.filter((phase) => isBack || phase !== 'rolling_back'), 'done']
  expect(job).toMatchObject({
    outcome: isBack ? 'rolled_back' : 'regressed',
    status: 'success',
    error_code: null,
    exit_code: 0,
    phase: 'done',
    unprotected: null,
    reason: null,
    snapshot: { name: `panel-${id}`, kind: 'snapshot', present: true },
  })
  expect(job.regressions.map(({ name }) => name).sort()).toEqual(LOST)
  expect(job.phases.map(({ phase }) => phase)).toEqual(phases)

  const own_calls = [`snapshot ${container} panel-${id}`, ...(isBack ? [`rollback ${container} panel-${id}`] : [])]
  expect(await callsOf(container)).toEqual([
    `snapshot ${container} ${FORMER}`,
    ...own_calls,
    `delsnapshot ${container} ${FORMER}`,
  ])
  expect(await snapshots(container)).toEqual([`panel-${id}`])
  expect(await inside('host', `pct config ${container} | grep ^lock: || true`)).toBe('')
  expect(await versionOf('rig-killer', container)).toBe(isBack ? '1.0' : '2.0')
  await expect.poll(() => stateOf('rig-listener', container), { timeout: 30_000 }).toBe(isBack ? 'active' : 'failed')
  const ends = await auditEntries(caller, 'action=update_end')
  expect(ends.filter(({ details }) => details?.job_id === id)).toHaveLength(1)

  expect(await live.ended).toMatchObject({ type: 'update_done', data: { job_id: id } })
  // A follower may miss a phase while the service is away, and hears the current one again when it is back.
  const heard = live.phases().map((phase) => phases.indexOf(phase))
  expect(heard).toEqual([...heard].sort((a, b) => a - b))
  const four = await hashes(caller, id, { hostFile: await hostFile(), live: live.output() })
  expect(four).toEqual(alike(four.host))
}
