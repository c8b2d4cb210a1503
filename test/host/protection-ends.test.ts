import { beforeAll, expect, test, vi } from 'vitest'
import { auditEntries } from './audit.ts'
import { jobFolder } from './begun.ts'
import { type Caller, signIn } from './client.ts'
import { narrowAccount } from './narrow.ts'
import { storedOutput } from './copies.ts'
import { callsOf, type Container, PHASES, type Phase, type Protected, protectingAs } from './protecting.ts'
import { snapshots, stateOf, versionOf, within } from './protecting.ts'
import { type Account, inside, rig } from './rig.ts'
import { type Service, startService } from './service.ts'
import { type Blow, strike } from './striking.ts'

/** The ends are tried in three containers at once. */
const CONTAINERS: readonly Container[] = ['101', '102', '103']
const ACCOUNTS = ['root', 'ops', 'narrow'] as const satisfies Account[]
type Own = (typeof ACCOUNTS)[number]

/** A snapshot of an earlier upgrade, which the next one removes. */
const FORMER = 'panel-1600000000-aaaaaaaa'

/** The lock of the container while the step of a phase is at work. */
const LOCKS: Partial<Record<Phase, string>> = {
  protecting: 'snapshot',
  rolling_back: 'rollback',
  pruning: 'snapshot-delete',
}

const panels = new Map<Own, { service: Service; alice: Caller }>()
const free = [...CONTAINERS]
const waiting: ((id: Container) => void)[] = []

beforeAll(async () => {
  await rig('reset')
  await narrowAccount()
  await rig('snapshot-delay', '800')
  await inside('host', 'pct start 103')
  await Promise.all(CONTAINERS.map(threaten))
  for (const account of ACCOUNTS) {
    const service = await startService({ as: account, isProtected: true })
    panels.set(account, { service, alice: await signIn(service, 'alice') })
  }
  return async () => {
    for (const { service } of panels.values()) await service.stop()
  }
})

async function threaten(id: Container): Promise<void> {
  await rig('reset', id)
  await rig('killer', id, 'on')
  await rig('slow', '15', '100', id)
  await rig('refresh', id)
}

/** A protected upgrade that has reached a phase, or will. */
interface Run {
  container: Container
  alice: Caller
  own: ReturnType<typeof protectingAs>
  id: string
  folder: string
  name: string
  phase: Phase
  /** The calls of pct for the container since the run has begun. */
  steps(): Promise<string[]>
}

/** Starts an upgrade that will come to a phase, in a container that is free, and gives the container back afterwards. */
async function withRun(account: Own, phase: Phase, work: (run: Run) => Promise<void>): Promise<void> {
  const container = free.pop() ?? (await new Promise<Container>((resolve) => waiting.push(resolve)))
  try {
    const { alice, service } = panels.get(account) ?? expect.unreachable()
    const own = protectingAs(alice, container)
    if (phase === 'pruning') await inside('host', `pct snapshot ${container} ${FORMER}`)
    const former = (await callsOf(container)).length
    const steps = async () => (await callsOf(container)).slice(former)
    const id = await own.begin(['rig-killer', 'rig-slow'], {
      on_failure: phase === 'rolling_back' ? 'rollback' : 'ask',
      keep: phase === 'pruning' ? 1 : 3,
    })
    const folder = await jobFolder(id, service.database)
    await work({ container, alice, own, id, folder, name: `panel-${id}`, phase, steps })
  } catch (error) {
    await threaten(container)
    throw error
  } finally {
    const next = waiting.shift()
    if (next) next(container)
    else free.push(container)
  }
}

/** The steps on snapshots of a run that has come to a phase. */
function stepsTo({ container, name, phase }: Run): string[] {
  return [
    `snapshot ${container} ${name}`,
    ...(phase === 'rolling_back' ? [`rollback ${container} ${name}`] : []),
    ...(phase === 'pruning' ? [`delsnapshot ${container} ${FORMER}`] : []),
  ]
}

const THERE = (name: string) => `L’instantané ${name} est là : vous pouvez revenir en arrière.`

/** Expects that the record of an ended run is right, and that nothing of the run is at work any more. */
async function expectEnded(run: Run, job: Protected): Promise<void> {
  const { alice, id, container } = run
  expect(job).toMatchObject({ status: 'error', snapshot: { name: run.name, kind: 'snapshot', present: true } })
  expect(job.phases.map(({ phase }) => phase)).toEqual([...new Set(job.phases.map(({ phase }) => phase))])
  const ends = await auditEntries(alice, 'action=update_end')
  expect(ends.filter(({ details }) => details?.job_id === id).map(({ details }) => details?.outcome)).toEqual([
    job.outcome,
  ])
  expect(await inside('host', `pgrep -f '[p]rogram upgrade [a-z]* ${container} ${run.name}' || true`)).toBe('')
  expect(await run.steps()).toEqual(stepsTo(run))
}

/** Goes back to the snapshot, and removes it: what a record offers. */
async function expectOffers(run: Run): Promise<void> {
  const { own, id, container, name } = run
  const others = (await snapshots(container)).filter((other) => other !== name)
  const isLocked = (await lockOf(container)) !== ''
  expect(await own.rollBack(id)).toMatchObject({ outcome: 'rolled_back', status: 'success', phase: 'done' })
  expect(await versionOf('rig-killer', container)).toBe('1.0')
  expect(await within(container, 'dpkg --audit')).toBe('')
  await until(() => stateOf('rig-listener', container), 'active')
  expect(await own.forget(id)).toMatchObject({ status: 'success' })
  expect(await run.steps()).toEqual([
    ...stepsTo(run),
    ...(isLocked ? [`unlock ${container}`] : []),
    `rollback ${container} ${name}`,
    `delsnapshot ${container} ${name}`,
  ])
  expect(await lockOf(container)).toBe('')
  expect(await snapshots(container)).toEqual(others)
  expect((await own.record(id)).snapshot).toMatchObject({ present: false })
}

/** Waits for a result. (Tests run beside each other, and `expect.poll` would not know whose it is.) */
const until = (result: () => Promise<string>, wanted: string) =>
  vi.waitFor(async () => expect(await result()).toBe(wanted), { timeout: 60_000, interval: 100 })

const lockOf = (id: Container) => inside('host', `sed -n 's/^lock: //p' /etc/pve/lxc/${id}.conf | head -n 1`)

/** A run that was killed after it has found a regression says so. */
const outcomeAfter = (phase: Phase) => (phase === 'rolling_back' || phase === 'pruning' ? 'regressed' : 'failed')

const KILLED: [phase: Phase, blow: Blow, account: Own][] = [
  ...PHASES.map((phase, at): [Phase, Blow, Own] => [phase, 'program', ACCOUNTS[at % ACCOUNTS.length] ?? 'root']),
  ['upgrading', 'runner', 'root'],
  ['rolling_back', 'runner', 'narrow'],
]

test.concurrent.each(KILLED)(
  'in the phase %s, a job whose %s is killed ends with the truth, and its step too (%s)',
  async (phase, blow, account) => {
    await withRun(account, phase, async (run) => {
      const { own, id, folder, container, name } = run
      // A look takes some tenths of a second.
      const afterMs = phase === 'measuring' ? 20 : 200
      await strike(folder, container, { blow, phase, afterMs, lock: LOCKS[phase] ?? '' })

      const job = await own.ended(id)
      const lines = (await storedOutput(run.alice, id)).split('\n')

      expect(job).toMatchObject({ error_code: 'job_killed', exit_code: null, phase, outcome: outcomeAfter(phase) })
      expect(lines).toContain(THERE(name))
      await expectEnded(run, job)
      expect(await snapshots(container)).toEqual([name])
      expect(await lockOf(container)).toBe('')
      expect(await within(container, 'pgrep -x "apt-get|dpkg" || true')).toBe('')
      if (phase !== 'upgrading') {
        const isOld = ['protecting', 'measuring', 'rolling_back'].includes(phase)
        expect(await versionOf('rig-killer', container)).toBe(isOld ? '1.0' : '2.0')
      }
      await expectOffers(run)
    })
  },
)

test.concurrent.each(ACCOUNTS)(
  'a snapshot that the power cut leaves half-made is told, is nothing to go back to, and can be removed (%s)',
  async (account) => {
    await withRun(account, 'protecting', async (run) => {
      const { own, id, folder, container, name, alice } = run
      await strike(folder, container, { blow: 'all', phase: 'protecting', afterMs: 200, lock: 'snapshot' })

      const job = await own.ended(id)
      const lines = (await storedOutput(run.alice, id)).split('\n')

      expect(job).toMatchObject({ error_code: 'job_killed', phase: 'protecting', outcome: 'failed' })
      for (const line of [
        `Le conteneur est gelé : rien n’y répond. Sur l’hôte, « lxc-freeze -n ${container}; lxc-unfreeze -n ${container} » le dégèle.`,
        'Le conteneur est verrouillé (snapshot) : une étape de l’hyperviseur a été interrompue ; la suppression de l’instantané le libère.',
        `L’instantané ${name} est incomplet : il ne permet pas de revenir en arrière, et peut être supprimé.`,
      ])
        expect(lines).toContain(line)
      await expectEnded(run, job)

      const back = await own.rollBack(id)

      expect(back).toMatchObject({ status: 'error', error_code: 'rollback_impossible', outcome: 'failed' })
      expect(await storedOutput(alice, back.job_id)).toContain(`the snapshot ${name} is not there, or not whole`)
      expect(await lockOf(container)).toBe('snapshot')
      expect(await run.steps()).toEqual([`snapshot ${container} ${name}`])

      // lxc-freeze may have been cut off before it has told the monitor.
      if (account !== 'ops') await rig('frozen-unseen', container)
      const removal = await own.forget(id)

      expect(removal).toMatchObject({ status: 'success' })
      expect(await snapshots(container)).toEqual([])
      expect(await lockOf(container)).toBe('')
      if (account === 'ops') {
        expect(await storedOutput(alice, removal.job_id)).toContain(
          'the container is still frozen: stop it and start it again',
        )
        for (const action of ['stop', 'start']) {
          expect((await alice.post(`/api/hypervisor/containers/${container}/${action}`, {})).status).toBe(202)
          const state = action === 'stop' ? 'stopped' : 'running'
          await until(() => rig('in', 'host', 'pct', 'status', container), `status: ${state}`)
        }
      }
      await until(() => stateOf('rig-listener', container), 'active')
      expect(await versionOf('rig-killer', container)).toBe('1.0')
    })
  },
)

const CUT: [phase: Phase, account: Own, lines: string[]][] = [
  ['upgrading', 'root', []],
  [
    'rolling_back',
    'narrow',
    [
      'Un retour en arrière avait commencé : le conteneur peut être revenu à l’instantané.',
      'Le conteneur est arrêté.',
      'Le conteneur est verrouillé (rollback) : une étape de l’hyperviseur a été interrompue ; un retour en arrière ou la suppression de l’instantané le libère.',
    ],
  ],
  [
    'pruning',
    'ops',
    [
      'Le conteneur est verrouillé (snapshot-delete) : une étape de l’hyperviseur a été interrompue ; un retour en arrière ou la suppression de l’instantané le libère.',
    ],
  ],
]

test.concurrent.each(CUT)(
  'in the phase %s, the power cut leaves a lock or unfinished packages, and the rollback frees and mends (%s)',
  async (phase, account, wanted) => {
    await withRun(account, phase, async (run) => {
      const { own, id, folder, container, name } = run
      await strike(folder, container, { blow: 'all', phase, afterMs: 300, lock: LOCKS[phase] ?? '' })

      const job = await own.ended(id)
      const lines = (await storedOutput(run.alice, id)).split('\n')

      expect(job).toMatchObject({ error_code: 'job_killed', phase, outcome: outcomeAfter(phase) })
      for (const line of [...wanted, THERE(name)]) expect(lines).toContain(line)
      if (phase === 'upgrading')
        expect(lines.join('\n')).toMatch(/\ndpkg (a été interrompu|n’a rien laissé d’inachevé)/)
      await expectEnded(run, job)
      expect(await lockOf(container)).toBe(LOCKS[phase] ?? '')
      expect(await snapshots(container)).toEqual(phase === 'pruning' ? [FORMER, name] : [name])
      await expectOffers(run)
      if (phase === 'pruning') await inside('host', `pct delsnapshot ${container} ${FORMER}`)
    })
  },
)

test.concurrent.each(PHASES.map((phase, at) => [phase, ACCOUNTS[(at + 1) % ACCOUNTS.length] ?? 'root'] as const))(
  'a run that is cancelled in the phase %s says what it has left, and can be rolled back (%s)',
  async (phase, account) => {
    await withRun(account, phase, async (run) => {
      const { alice, own, id, folder, container, name } = run
      await strike(folder, container, { blow: 'nothing', phase, afterMs: 200, lock: LOCKS[phase] ?? '' })

      expect((await alice.post(`/api/updates/jobs/${id}/cancel`, {})).status).toBe(202)
      const job = await own.ended(id)
      const lines = (await storedOutput(run.alice, id)).split('\n')

      expect(job).toMatchObject({ error_code: 'cancelled', outcome: 'cancelled' })
      expect(lines.at(-1)).toBe('Annulé par alice')
      expect(lines).toContain(THERE(name))
      await expectEnded(run, job)
      expect(await snapshots(container)).toEqual([name])
      expect(await lockOf(container)).toBe('')
      expect(await within(container, 'pgrep -x "apt-get|dpkg" || true')).toBe('')
      if (phase === 'rolling_back') {
        expect(lines.join('\n')).toContain(`the container is back at ${name}`)
        expect(await versionOf('rig-killer', container)).toBe('1.0')
      }
      await expectOffers(run)
    })
  },
)
