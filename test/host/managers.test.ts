import { beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { checkingAs } from './checking.ts'
import { type Caller, signIn } from './client.ts'
import { LOST, protectingAs } from './protecting.ts'
import { rig } from './rig.ts'
import { type Service, startService } from './service.ts'

/** The containers, one for each package manager that runs on the rig. apk has no program for Debian. */
const MANAGERS = [
  ['apt', '101'],
  ['dnf', '111'],
  ['zypper', '112'],
  ['pacman', '113'],
] as const
type Id = (typeof MANAGERS)[number][1]
const OTHERS = MANAGERS.slice(1)
const targetOf = (id: Id) => `lxc:${id}` as const

const Made = z.looseObject({
  id: z.string(),
  actions: z.array(z.looseObject({ name: z.string(), action: z.string(), to: z.string().nullable() })),
  counts: z.looseObject({ upgrade: z.number(), install: z.number() }),
})
const StartedRun = z.object({
  run_id: z.string(),
  jobs: z.array(z.object({ target: z.string(), job_id: z.string() })),
  message: z.string(),
})
const Run = z.looseObject({
  jobs: z.array(
    z.looseObject({
      job_id: z.string(),
      target: z.string(),
      status: z.string(),
      exit_code: z.number().nullable(),
      outcome: z.string().nullable(),
      packages: z.number().nullable(),
      plan_difference: z.unknown(),
    }),
  ),
})
const Listed = z.object({ jobs: z.array(z.looseObject({ job_id: z.string(), target: z.string() })) })
const Checked = z.looseObject({
  manager: z.string().nullable(),
  services: z.array(z.looseObject({ name: z.string() })),
})
const Restarting = z.object({ job_id: z.string() })

/** The installed version of a package, `-` where it is absent, as the manager of the container shows it. */
const VERSIONS: Record<Id, string> = {
  '101': `dpkg-query -W -f '\${Version}' "$1" 2>/dev/null`,
  '111': `rpm -q --qf '%|EPOCH?{%{EPOCH}:}|%{VERSION}-%{RELEASE}' "$1"`,
  '112': `rpm -q --qf '%|EPOCH?{%{EPOCH}:}|%{VERSION}-%{RELEASE}' "$1"`,
  '113': `pacman -Q "$1" 2>/dev/null | cut -d' ' -f2`,
}
const versionOf = (id: Id, name: string) => rig('in', id, 'sh', '-c', `${VERSIONS[id]} || true`, 'sh', name)

/** The runs of one user. */
function runningAs(caller: Caller) {
  const { ended, check } = checkingAs(caller)
  const plan = async (id: Id, selection: object = {}) => {
    const { status, body } = await caller.post('/api/updates/plans', { target: targetOf(id), ...selection })
    if (status !== 201) throw new Error(`${id}: ${status} ${JSON.stringify(body)}`)
    return Made.parse(body)
  }
  return {
    ended,
    check,
    plan,
    /** Starts a run of these plans and waits for the end of its jobs. */
    async run(plans: readonly { id: string }[]) {
      const { status, body } = await caller.post('/api/updates/runs', { plans: plans.map(({ id }) => id) })
      if (status !== 202) throw new Error(`${status} ${JSON.stringify(body)}`)
      const { run_id, jobs } = StartedRun.parse(body)
      for (const { job_id } of jobs) await ended(job_id)
      return { id: run_id, ...Run.parse((await caller.get(`/api/updates/runs/${run_id}`)).body) }
    },
    async history() {
      return Listed.parse((await caller.get('/api/updates/jobs')).body).jobs
    },
    async services(id: Id) {
      return Checked.parse((await caller.get(`/api/updates/checks/${targetOf(id)}`)).body).services
    },
  }
}

describe('containers of four package managers', () => {
  let service: Service
  let caller: Caller
  let alice: ReturnType<typeof runningAs>
  beforeAll(async () => {
    await rig('reset')
    await rig('managers', 'up')
    for (const [, id] of MANAGERS) await rig('slow', '1', '1', id)
    await rig('refresh', '101')
    service = await startService()
    caller = await signIn(service, 'alice')
    alice = runningAs(caller)
    return () => service.stop()
  }, 300_000)

  test.each(MANAGERS)('a check names %s, and has every update', async (manager, id) => {
    const { state, packages, findings } = await alice.check(targetOf(id))

    expect(Checked.parse((await caller.get(`/api/updates/checks/${targetOf(id)}`)).body).manager).toBe(manager)
    expect({ state, findings: findings.filter(({ severity }) => severity === 'blocking') }).toMatchObject({
      findings: [],
    })
    expect(['ready', 'attention']).toContain(state)
    const names = packages.filter(({ status }) => status === 'planned').map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['librig2', 'rig-conf', 'rig-fail', 'rig-slow']))
    const isUnknown = findings.some(({ code }) => code === 'security_unknown')
    expect(isUnknown).toBe(manager === 'pacman')
  })

  test('are upgraded by one run: one page, one history, and the same words for each', async () => {
    const plans: z.infer<typeof Made>[] = []
    for (const [, id] of MANAGERS) plans.push(await alice.plan(id))

    const run = await alice.run(plans)

    expect(run.jobs).toMatchObject(
      MANAGERS.map(([, id], at) => ({
        target: targetOf(id),
        status: 'success',
        exit_code: 0,
        outcome: 'upgraded',
        packages: plans[at]?.actions.length,
        plan_difference: null,
      })),
    )
    for (const [at, [, id]] of MANAGERS.entries())
      for (const { name, to } of plans[at]?.actions ?? []) expect(await versionOf(id, name)).toBe(to ?? '')
    const listed = await alice.history()
    expect(listed.filter(({ run_id }) => run_id === run.id).map(({ target }) => target)).toEqual(
      expect.arrayContaining(MANAGERS.map(([, id]) => targetOf(id))),
    )
    for (const [, id] of OTHERS) expect((await alice.check(targetOf(id))).state).toBe('up_to_date')
  })

  test('where one fails, the others are upgraded, and each says so in the same words', async () => {
    const failing: Id = '112'
    for (const [, id] of MANAGERS) {
      await rig('reset', id)
      await rig('slow', '1', '1', id)
      await rig('refresh', id)
    }
    const plans: z.infer<typeof Made>[] = []
    for (const [, id] of MANAGERS) plans.push(await alice.plan(id))
    await rig('fail', 'on', failing)

    const { jobs } = await alice.run(plans)

    expect(jobs.map(({ target, status, outcome }) => ({ target, status, outcome }))).toEqual(
      MANAGERS.map(([, id]) => ({
        target: targetOf(id),
        status: 'success',
        outcome: id === failing ? 'failed' : 'upgraded',
      })),
    )
    expect(jobs.find(({ target }) => target === targetOf(failing))?.exit_code).not.toBe(0)
  })

  test.each(OTHERS)('an upgrade by %s that takes a service away is rolled back', async (_manager, id) => {
    await rig('reset', id)
    await rig('slow', '1', '1', id)
    await rig('units', id, 'on')
    await rig('killer', id, 'on')
    await alice.check(targetOf(id))
    const { id: plan, actions } = await alice.plan(id)
    expect(actions.map(({ name }) => name)).toContain('rig-killer')
    const { record, ended } = protectingAs(caller)

    const { status, body } = await caller.post('/api/updates/run', {
      target: targetOf(id),
      plan,
      protection: {
        before: 'auto',
        backup_storage: null,
        keep: 3,
        on_failure: 'rollback',
        settle_seconds: 5,
        probes: [],
      },
    })
    expect(status).toBe(202)
    const { job_id } = Restarting.parse(body)
    await ended(job_id)
    const job = await record(job_id)

    expect(job).toMatchObject({ outcome: 'rolled_back', phase: 'done', error_code: null, exit_code: 0 })
    expect(job.regressions).toEqual(expect.arrayContaining(LOST))
    expect((await versionOf(id, 'rig-killer')).replace(/-1$/, '')).toBe('1.0')
    const listening = () => rig('in', id, 'sh', '-c', 'systemctl is-active rig-listener || true')
    await expect.poll(listening, { timeout: 60_000, interval: 100 }).toBe('active')
  })

  test.each(OTHERS)(
    'after an upgrade by %s, a service with a replaced library is told and restarted',
    async (_, id) => {
      await rig('reset', id)
      await rig('slow', '1', '1', id)
      await rig('maplib', id, 'on')
      await rig('units', id, 'on')
      await alice.check(targetOf(id))
      const { jobs } = await alice.run([await alice.plan(id)])
      expect(jobs).toMatchObject([{ outcome: 'upgraded' }])
      await alice.check(targetOf(id))
      const told = await alice.services(id)

      const { status, body } = await caller.post('/api/updates/restarts', {
        target: targetOf(id),
        services: ['rig-listener'],
      })
      expect(status).toBe(202)
      const { exit_code, output } = await alice.ended(Restarting.parse(body).job_id, true)

      const library = { reason: '/usr/lib/rig/librigmap.so.1', package: 'rig-maplib' }
      expect(told).toMatchObject([{ name: 'rig-listener', ...library }])
      expect(exit_code).toBe(0)
      expect(output).toMatch(/^rig-listener: main PID \d+ -> \d+, active$/m)
      await alice.check(targetOf(id))
      expect(await alice.services(id)).toEqual([])
    },
  )
})
