import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { checkingAs } from './checking.ts'
import { type Caller, signIn } from './client.ts'
import { planningAs } from './planning.ts'
import { rig } from './rig.ts'
import { startService } from './service.ts'

const TARGET = 'lxc:112'
/** Marks of automatic packages: libzypp writes them at each transaction. */
const MARKS = '/var/lib/zypp/AutoInstalled'

const inside = (script: string) => rig('in', '112', 'sh', '-c', script)
/** The changes of an upgrade without removals, but for `rig-wants`. */
const WITHOUT_WANTS = ['librig2', 'rig-conf', 'rig-fail', 'rig-new', 'rig-slow', 'rig-web']
/** The installed packages, as `name edition`. */
const installed = async () =>
  (await inside(`rpm -qa --qf '%{NAME} %|EPOCH?{%{EPOCH}:}|%{VERSION}-%{RELEASE}\\n'`)).split('\n').sort()
const marks = async () => (await inside(`grep -v '^#' ${MARKS}`)).split('\n').sort()
/** All that a run which changes nothing must leave as it is, and where it could leave files behind. */
const traces = () =>
  inside(
    'rpm -qa | sort; ls -A /tmp /var/tmp /root /etc/zypp /run 2>&1 | grep -v -e zypp.pid; sha256sum /etc/zypp/*/* 2>&1',
  )
const Started = z.looseObject({ job_id: z.string() })
const Refused = z.looseObject({
  code: z.string(),
  findings: z.array(z.looseObject({ code: z.string(), severity: z.string(), message: z.string() })),
})

type Actions = Awaited<ReturnType<ReturnType<typeof planningAs>['plan']>>['actions']
const linesOf = (actions: Actions) =>
  actions.map(({ action, name, from, to }) => `${action} ${name} ${from} ${to}`).sort()
/** The installed packages after these actions. */
const changedBy = (before: readonly string[], actions: Actions) => {
  const gone = new Set(actions.map(({ name, from }) => `${name} ${from}`))
  const come = actions.flatMap(({ name, to }) => (to === null ? [] : [`${name} ${to}`]))
  return [...before.filter((line) => !gone.has(line)), ...come].sort()
}

describe('a container with zypper', () => {
  let caller: Caller
  let alice: ReturnType<typeof checkingAs> & Omit<ReturnType<typeof planningAs>, 'inside'>
  beforeAll(async () => {
    await rig('reset')
    const service = await startService()
    caller = await signIn(service, 'alice')
    alice = { ...planningAs(caller, rig), ...checkingAs(caller) }
    return () => service.stop()
  }, 300_000)
  beforeEach(async () => {
    await rig('managers', 'up', '112')
    await rig('reset', '112')
    await rig('slow', '1', '1', '112')
    await inside(`mkdir -p ${MARKS.replace(/\/[^/]*$/, '')}; printf 'librig2\\nrig-slow\\n' >${MARKS}`)
  }, 120_000)

  /** `rig-taking` 2.0 takes the place of `rig-taken`. */
  const obsoleting = async () => {
    await rig('install', '112', 'rig-taken', '1.0')
    await rig('install', '112', 'rig-taking', '1.0')
    await rig('publish', '112', 'rig-taking', '2.0', 'obsoletes=rig-taken')
  }
  const refused = async (selection: object) => {
    const { status, body } = await caller.post('/api/updates/plans', { target: TARGET, ...selection })
    return { status, ...Refused.parse(body) }
  }
  const codesOf = async () => {
    const { state, findings } = await alice.check(TARGET)
    return { state, codes: findings.map(({ code }) => code), findings }
  }

  test('a check has every update with the marks of the distribution, and changes nothing', async () => {
    const before = await traces()

    const { state, packages, findings, ...check } = await alice.check(TARGET)

    expect(await traces()).toBe(before)
    expect(state).toBe('ready')
    expect(check).toMatchObject({ manager: 'zypper', counts: { upgrade: 5, install: 1, security: 1, remove: 0 } })
    expect(check).toMatchObject({ download_bytes: expect.any(Number), lists_at: expect.any(String) })
    expect(packages).toContainEqual(
      expect.objectContaining({
        name: 'librig2',
        arch: 'noarch',
        from: '1.4.2-1',
        to: '1:2.0-1',
        origin: 'rig',
        security: true,
      }),
    )
    expect(findings.filter(({ code }) => code === 'security_unknown')).toEqual([])
  })

  test.each<[title: string, selection: object, takes: string[]]>([
    ['everything', {}, [...WITHOUT_WANTS, 'rig-wants', 'rig-wanted']],
    [
      'everything, with removals',
      { allow_remove: true },
      [...WITHOUT_WANTS, 'rig-taken', 'rig-taking', 'rig-wants', 'rig-wanted'],
    ],
    ['security alone', { only: 'security' }, ['librig2']],
    [
      'two packages, and what they need',
      { packages: ['rig-wants', 'rig-slow'] },
      ['rig-slow', 'rig-wanted', 'rig-wants'],
    ],
    ['all but one', { exclude: ['rig-wants'] }, WITHOUT_WANTS],
  ])('a plan of %s is what its run does, and the marks stay', async (_title, selection, takes) => {
    await rig('kept-new', '112')
    await obsoleting()
    await rig('kept-deps', '112')
    await alice.check(TARGET)
    const [before, markedBefore] = [await installed(), await marks()]

    const { id, actions } = await alice.plan(TARGET, selection)
    const job = await alice.run(TARGET, id)

    expect(job).toMatchObject({ status: 'success', exit_code: 0, plan_difference: null })
    expect(actions.map(({ name }) => name).sort()).toEqual([...takes].sort())
    expect(await installed()).toEqual(changedBy(before, actions))
    const added = actions.flatMap(({ action, name }) => (action === 'install' ? [name] : []))
    expect(await marks()).toEqual([...markedBefore, ...added].sort())
    expect(await inside('ls -d /run/ops-panel.* /tmp/ops-panel.* 2>/dev/null || true')).toBe('')
  })

  test('why an upgrade is left alone is told: a lock, a removal, a dependency that nobody has', async () => {
    await obsoleting()
    await rig('kept-remove', '112')
    await rig('kept-deps', '112')
    await rig('hold', '112', 'on', 'rig-conf')

    const { packages } = await alice.check(TARGET)

    const reasons = packages.flatMap(({ name, reason, status }) => (status === 'planned' ? [] : [`${name} ${reason}`]))
    expect(reasons.sort()).toEqual([
      'rig-conf held',
      // zypper update removes what another package obsoletes, and never what it conflicts with.
      'rig-driver kept_back_dependencies',
      'rig-taken kept_back_remove',
      'rig-taking kept_back_remove',
      'rig-unmet kept_back_dependencies',
    ])
    const { actions } = await alice.plan(TARGET, { packages: ['rig-conf', 'rig-slow'] })
    expect(linesOf(actions)).toEqual(['upgrade rig-slow 1.0-1 2.0-1'])
  })

  test('another vendor does not take a package over', async () => {
    await rig('publish', '112', 'rig-conf', '9.0', 'vendor=Somebody')
    await alice.check(TARGET)

    const { actions } = await alice.plan(TARGET)

    expect(actions.map(({ name }) => name)).not.toContain('rig-conf')
  })

  test('a package that was published after the plan changes nothing', async () => {
    await alice.check(TARGET)
    const plan = await alice.plan(TARGET)
    await rig('publish', '112', 'rig-conf', '3.0')
    await rig('refresh', '112')
    const before = await traces()

    const { status, error_code, plan_difference } = await alice.run(TARGET, plan.id)

    expect({ status, error_code }).toEqual({ status: 'error', error_code: 'plan_changed' })
    expect(plan_difference).toEqual([
      {
        name: 'rig-conf:noarch',
        planned: expect.stringContaining(' 2.0-1'),
        found: expect.stringContaining(' 3.0-1'),
      },
    ])
    expect(await traces()).toBe(before)
  })

  test('a package that the repository no longer has fails before anything changes', async () => {
    await alice.check(TARGET)
    const plan = await alice.plan(TARGET)
    await inside('find /srv/rig -name "rig-web-2.0*" -delete')
    const before = await traces()

    const { exit_code, plan_difference } = await alice.run(TARGET, plan.id)

    expect({ exit_code, plan_difference }).toEqual({ exit_code: 75, plan_difference: null })
    expect(await traces()).toBe(before)
  })

  test.each([
    ['unreachable', 'repository_unreachable'],
    ['unsigned', 'repository_unsigned'],
  ])('a repository that is %s is named with the code of zypper, and the others go on', async (how, finding) => {
    await alice.upgrade(TARGET)
    await rig('third', '112', how)

    const { state, codes, findings } = await codesOf()

    expect(state).not.toBe('up_to_date')
    expect(codes).toContain(finding)
    expect(findings.find(({ code }) => code === finding)).toMatchObject({
      repository: expect.stringContaining('rig-third'),
      message: expect.stringMatching(/\b(4|106)\b/),
    })
    await rig('publish', '112', 'rig-slow', '3.0')
    await alice.check(TARGET)
    const { id, actions } = await alice.plan(TARGET)
    expect(linesOf(actions)).toEqual(['upgrade rig-slow 2.0-1 3.0-1'])
    expect((await alice.run(TARGET, id)).exit_code).toBe(0)
  })

  test('another process that has the lock is told by a check, and a run waits for it', async () => {
    await alice.check(TARGET)
    const plan = await alice.plan(TARGET)
    await rig('lock', '600', '112')
    const { state, codes } = await codesOf()
    expect(state).not.toBe('up_to_date')
    expect(codes).toContain('manager_locked')

    await rig('lock', '10', '112')
    expect((await alice.run(TARGET, plan.id)).exit_code).toBe(0)
  }, 300_000)

  test('a script of a package that fails is a failure with the code of zypper', async () => {
    await alice.check(TARGET)
    const plan = await alice.plan(TARGET, { packages: ['rig-fail'] })
    await rig('fail', 'on', '112')

    expect((await alice.run(TARGET, plan.id)).exit_code).toBe(8)
  })

  test('unmet dependencies are named, also where an upgrade can be made', async () => {
    await rig('install', '112', 'rig-broken', '1.0', 'depends=rig-nowhere')

    const { state, findings } = await codesOf()

    expect(state).toBe('attention')
    expect(findings).toContainEqual(
      expect.objectContaining({ code: 'dependencies_broken', packages: expect.arrayContaining(['rig-broken']) }),
    )
  })

  test('a run that is cancelled inside a script leaves neither a process nor a file, and the next one goes on', async () => {
    await rig('slow', '400', '50', '112')
    await alice.check(TARGET)
    const { id } = await alice.plan(TARGET, { packages: ['rig-slow', 'rig-conf'] })
    const { status, body } = await caller.post('/api/updates/run', { target: TARGET, plan: id })
    expect(status).toBe(202)
    const { job_id } = Started.parse(body)
    const steps = () => inside('ps ax 2>/dev/null | grep -c "[r]pm --root"; true')
    await expect.poll(steps, { timeout: 60_000, interval: 100 }).not.toBe('0')

    expect((await caller.post(`/api/updates/jobs/${job_id}/cancel`, {})).status).toBe(202)
    await alice.ended(job_id)

    const left = () =>
      inside('ps ax | grep -e "[z]ypper -x" -e "[r]pm --root"; ls -d /run/ops-panel.* 2>/dev/null; true')
    await expect.poll(left, { timeout: 60_000, interval: 100 }).toBe('')
    await rig('slow', '1', '1', '112')
    await alice.check(TARGET)
    const next = await alice.plan(TARGET)
    expect((await alice.run(TARGET, next.id)).exit_code).toBe(0)
    expect((await alice.check(TARGET)).state).toBe('up_to_date')
  })

  test('a rolling release is upgraded whole, as a distribution upgrade', async () => {
    await rig('os', '112', 'opensuse-tumbleweed', '20261101', 'tumbleweed')
    await rig('kept-remove', '112')
    await alice.check(TARGET)
    const before = await installed()

    const { status, findings } = await refused({ packages: ['rig-slow'] })
    expect(status).toBe(422)
    expect(findings.map(({ code }) => code)).toContain('selection_unsupported')

    const { id, actions } = await alice.plan(TARGET, { allow_remove: true })
    expect(actions.map(({ action }) => action)).toContain('remove')
    expect((await alice.run(TARGET, id)).exit_code).toBe(0)
    expect(await installed()).toEqual(changedBy(before, actions))
  })

  test('a repository with hostile names and texts runs no command, and makes no plan that cannot be read', async () => {
    const hostile = `'s|>rig-new<|>$(touch /owned)" x="<|; s|made-up package of the test rig (rig-web)|\`touch /owned\`"\\&gt;\\&lt;/stream\\&gt;|; s|name="rig-new"|name="$(touch /owned)\\&quot; x=\\&quot;"|g'`
    await inside(
      `cd /srv/rig/main && zcat repodata/*primary.xml.gz | sed ${hostile} >/tmp/primary.xml && modifyrepo_c --mdtype=primary /tmp/primary.xml repodata >/dev/null && rm /tmp/primary.xml`,
    )

    const { state } = await codesOf()

    expect(state).not.toBe('up_to_date')
    expect(await inside('ls /owned 2>/dev/null || true')).toBe('')
    const { actions } = await alice.plan(TARGET, { packages: ['rig-slow'] }).catch(() => ({ actions: [] }))
    expect(linesOf(actions).filter((line) => !/^upgrade rig-slow /.test(line))).toEqual([])
  })
})
