import { beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { checkingAs } from './checking.ts'
import { type Caller, signIn } from './client.ts'
import { rig } from './rig.ts'
import { startService } from './service.ts'

const ID = '111'
const TARGET = `lxc:${ID}`

const Plan = z.looseObject({
  id: z.string(),
  download_bytes: z.number().nullable(),
  actions: z.array(
    z.looseObject({
      name: z.string(),
      arch: z.string(),
      action: z.string(),
      from: z.string().nullable(),
      to: z.string().nullable(),
      security: z.boolean(),
    }),
  ),
})
const Started = z.looseObject({ job_id: z.string() })
const Ended = z.looseObject({
  status: z.string(),
  exit_code: z.number().nullable(),
  error_code: z.string().nullable(),
  output: z.string(),
  plan_difference: z
    .array(z.object({ name: z.string(), planned: z.string().nullable(), found: z.string().nullable() }))
    .nullable(),
})

const inside = (script: string) => rig('in', ID, 'sh', '-c', script)
/** Every installed package with its version, as rpm has it. */
const installed = async () =>
  (await inside(`rpm -qa --qf '%{NAME} %|EPOCH?{%{EPOCH}:}|%{VERSION}-%{RELEASE}\\n'`)).split('\n').sort()
/** The files that a run could leave behind, and the marks of a change. */
const traces = () =>
  inside('rpm -qa | sort | sha256sum; ls -A /tmp /var/tmp /etc/yum.repos.d; sha256sum /etc/dnf/dnf.conf')

/** The plans of one user, and their runs. */
function planningAs(caller: Caller) {
  const { ended, check } = checkingAs(caller)
  return {
    check,
    async plan(selection: object = {}) {
      const { status, body } = await caller.post('/api/updates/plans', { target: TARGET, ...selection })
      if (status !== 201) throw new Error(`${JSON.stringify(selection)}: ${status} ${JSON.stringify(body)}`)
      return Plan.parse(body)
    },
    async run(plan: string) {
      const { status, body } = await caller.post('/api/updates/run', { target: TARGET, plan })
      if (status !== 202) throw new Error(`${status} ${JSON.stringify(body)}`)
      const { job_id } = Started.parse(body)
      await ended(job_id)
      return Ended.parse((await caller.get(`/api/updates/jobs/${job_id}`)).body)
    },
  }
}

/** The packages that a plan leaves, by those that there were. */
function after(before: readonly string[], { actions }: z.infer<typeof Plan>): string[] {
  const gone = new Set(actions.map(({ name, from }) => `${name} ${from}`))
  const come = actions.flatMap(({ name, to }) => (to === null ? [] : [`${name} ${to}`]))
  return [...before.filter((each) => !gone.has(each)), ...come].sort()
}

describe('a container of dnf', () => {
  let alice: ReturnType<typeof planningAs>
  beforeAll(async () => {
    await rig('reset')
    await rig('managers', 'up', ID)
    const service = await startService()
    alice = planningAs(await signIn(service, 'alice'))
    return () => service.stop()
  }, 300_000)

  async function fresh() {
    await rig('reset', ID)
    await rig('slow', '1', '1', ID)
  }

  test('a check tells why each update is left alone, and what is a security update', async () => {
    await fresh()
    await rig('kept-remove', ID)
    await rig('kept-deps', ID)
    await rig('install', ID, 'rig-gone', '1.0')
    await rig('publish', ID, 'rig-instead', '1.0', 'obsoletes=rig-gone')
    await rig('hold', ID, 'on', 'rig-conf')

    const { state, packages, findings } = await alice.check(TARGET)

    expect(state).toBe('ready')
    expect(
      packages.map(({ name, action, status, reason, security }) => [name, action, status, reason, security]),
    ).toEqual(
      expect.arrayContaining([
        ['librig2', 'upgrade', 'planned', null, true],
        ['rig-web', 'upgrade', 'planned', null, false],
        ['rig-new', 'install', 'planned', null, false],
        ['rig-conf', 'upgrade', 'held', 'held', false],
        ['rig-unmet', 'upgrade', 'kept_back', 'kept_back_dependencies', false],
        ['rig-driver', 'upgrade', 'kept_back', 'kept_back_remove', false],
        ['rig-driven', 'remove', 'kept_back', 'kept_back_remove', false],
        ['rig-instead', 'install', 'kept_back', 'kept_back_remove', false],
        ['rig-gone', 'remove', 'kept_back', 'kept_back_remove', false],
      ]),
    )
    expect(findings.map(({ code }) => code)).toEqual(
      expect.arrayContaining(['held', 'kept_back_remove', 'kept_back_dependencies']),
    )
    expect(findings.map(({ code }) => code)).not.toContain('security_unknown')
  })

  test.each<[selection: object, names: string[]]>([
    [{ only: 'security' }, ['librig2']],
    [{ packages: ['rig-web'] }, ['rig-new', 'rig-web']],
    [{ exclude: ['rig-new', 'rig-fail'] }, ['librig2', 'rig-slow']],
    [{ packages: ['rig-driver'], allow_remove: true }, ['rig-driven', 'rig-driver']],
  ])('the plan of %j is what its run changes', async (selection, names) => {
    await fresh()
    await rig('kept-remove', ID)
    await rig('hold', ID, 'on', 'rig-conf')
    await alice.check(TARGET)
    const before = await installed()

    const plan = await alice.plan(selection)
    const { exit_code, output } = await alice.run(plan.id)

    expect(plan.actions.map(({ name }) => name).sort()).toEqual(names)
    expect(plan.download_bytes).toBeGreaterThan(0)
    expect(exit_code).toBe(0)
    expect(await installed()).toEqual(after(before, plan))
    expect(output).toContain('ops-panel-plan: dnf does exactly what was planned.')
    // People watch the words of dnf itself, without a carriage return or a colour.
    expect(output).toMatch(/^Running transaction$/m)
    expect(output.includes('\r') || output.includes('\u001b')).toBe(false)
    expect(await inside('dnf -q history list | grep -c upgrade')).not.toBe('0')
  })

  test('a package that is published after the plan changes nothing, and is told', async () => {
    await fresh()
    await alice.check(TARGET)
    const plan = await alice.plan()
    await rig('publish', ID, 'rig-web', '3.0', 'depends=rig-new')
    await rig('refresh', ID)
    const before = await traces()

    const { exit_code, error_code, plan_difference } = await alice.run(plan.id)

    expect({ exit_code, error_code }).toEqual({ exit_code: 65, error_code: 'plan_changed' })
    expect(plan_difference).toEqual([
      { name: 'rig-web:noarch', planned: 'upgrade 1.0-1 2.0-1', found: 'upgrade 1.0-1 3.0-1' },
    ])
    expect(await traces()).toBe(before)
  })

  test('a package that is away since the plan changes nothing', async () => {
    await fresh()
    await alice.check(TARGET)
    const plan = await alice.plan()
    await inside('rm /srv/rig/main/rig-web-2.0-1*.rpm')
    const before = await traces()

    const { exit_code, output } = await alice.run(plan.id)

    expect(exit_code).toBe(75)
    expect(output).toContain('rig-web-2.0-1')
    expect(await traces()).toBe(before)
  })

  test('a repository that fails is named with the code of dnf, and the others are upgraded all the same', async () => {
    await fresh()
    await rig('third', ID, 'unreachable')
    // As Fedora has it: dnf itself would go on without a word.
    await inside(`sed -i '/^enabled/a skip_if_unavailable=1' /etc/yum.repos.d/rig-third.repo`)

    const { state, findings, packages } = await alice.check(TARGET)

    expect(state).toBe('attention')
    expect(findings.filter(({ repository }) => repository !== null)).toEqual([
      expect.objectContaining({
        code: 'repository_unreachable',
        repository: 'rig-third',
        message: expect.stringContaining('(dnf, code 1)'),
      }),
    ])
    expect(packages.map(({ name }) => name)).toContain('rig-web')
    expect((await alice.run((await alice.plan({ packages: ['rig-web'] })).id)).exit_code).toBe(0)
    const later = await alice.check(TARGET)
    expect(later.state).not.toBe('up_to_date')
  })

  test('a repository without the signature that it must have is told as such', async () => {
    await fresh()
    await rig('third', ID, 'unsigned')

    const { findings } = await alice.check(TARGET)

    expect(findings.map(({ code, repository }) => [code, repository])).toContainEqual([
      'repository_unsigned',
      'rig-third',
    ])
  })

  test('lists that were fetched and cannot be read are a failed repository', async () => {
    await fresh()
    await inside(hostile('1&#27;'))

    const { state, findings } = await alice.check(TARGET)

    expect(state).not.toBe('up_to_date')
    expect(findings.map(({ repository }) => repository)).toContain('rig')
  })

  test('names and versions of a hostile repository are never run, and never agreed to', async () => {
    await fresh()
    await alice.check(TARGET)
    const plan = await alice.plan({ packages: ['rig-web'] })
    await inside(hostile('1&#10;Transaction Summary:&#10;&#10;&#9;$(touch /tmp/owned)`touch /tmp/owned`'))
    await rig('refresh', ID)
    const before = await traces()

    const { state } = await alice.check(TARGET)
    const { exit_code, plan_difference } = await alice.run(plan.id)

    expect(state).not.toBe('up_to_date')
    expect(exit_code).toBe(65)
    expect(JSON.stringify(plan_difference)).not.toContain('touch')
    expect(await traces()).toBe(before)
  })

  test('a run waits for another process of dnf, and a check says that one is there', async () => {
    await fresh()
    await alice.check(TARGET)
    const plan = await alice.plan({ packages: ['rig-web'] })
    await rig('lock', '8', ID)

    const { exit_code, output } = await alice.run(plan.id)
    await rig('lock', '600', ID)
    const { state, findings } = await alice.check(TARGET)
    await rig('lock', 'off', ID)

    expect(exit_code).toBe(0)
    expect(output).toContain('Waiting for another process that uses dnf or rpm.')
    expect(state).not.toBe('up_to_date')
    expect(findings.map(({ code }) => code)).toContain('manager_locked')
  })

  test('packages that an interrupted run has left twice, and unmet dependencies, are told', async () => {
    await fresh()
    await inside(
      `rpm --force-debian -i --nodeps --force --quiet /srv/rig/main/librig2-2.0-1*.rpm /srv/rig/main/rig-web-2.0-1*.rpm 2>&1 || true`,
    )

    const { state, findings } = await alice.check(TARGET)

    expect(state).not.toBe('up_to_date')
    expect(findings).toContainEqual(
      expect.objectContaining({ code: 'dpkg_interrupted', packages: expect.arrayContaining(['librig2', 'rig-web']) }),
    )
    expect(findings).toContainEqual(expect.objectContaining({ code: 'dependencies_broken', packages: ['rig-web'] }))
  })
})

/** A script that gives the release of rig-web another text in the lists of the repository. */
function hostile(release: string): string {
  const text = release.replaceAll('&', '\\&').replaceAll('$', '\\$').replaceAll('`', '\\`').replaceAll('/', '\\/')
  return `cd /srv/rig/main/repodata
    gunzip -c *-primary.xml.gz >/srv/rig/primary.xml 2>/dev/null || zstd -dc *-primary.xml.zst >/srv/rig/primary.xml
    sed -i "/<name>rig-web</,/<version/s/rel=\\"1\\"/rel=\\"${text}\\"/" /srv/rig/primary.xml
    modifyrepo_c --remove primary . >/dev/null
    modifyrepo_c --mdtype=primary --compress-type=gz /srv/rig/primary.xml . >/dev/null
    rm /srv/rig/primary.xml
    grep -q primary repomd.xml`
}
