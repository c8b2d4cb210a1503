import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { checkingAs } from './checking.ts'
import { type Caller, signIn } from './client.ts'
import { planningAs } from './planning.ts'
import { rig } from './rig.ts'
import { startService } from './service.ts'

const TARGET = 'lxc:113'
const REPOSITORY = '/srv/rig/main'

const inside = (script: string) => rig('in', '113', 'sh', '-c', script)
const versions = async () =>
  new Map(
    (await inside('pacman -Q')).split('\n').map((line): [string, string] => {
      const [name = '', version = ''] = line.split(' ')
      return [name, version]
    }),
  )
/** Everything that a run could leave behind, and what pacman has of its lists. */
const traces = () =>
  inside(
    'ls -A /tmp /var/tmp; ls -d /run/ops-panel* 2>/dev/null; ls -A /etc/pacman.d/hooks 2>&1; ls -A /var/lib/pacman; sha256sum /var/lib/pacman/sync/* 2>&1; pacman -Q',
  )
const Refused = z.looseObject({
  code: z.string(),
  findings: z.array(z.looseObject({ code: z.string(), severity: z.string(), message: z.string() })),
})

describe('a container with pacman', () => {
  let caller: Caller
  let bob: ReturnType<typeof checkingAs> & Omit<ReturnType<typeof planningAs>, 'inside'>
  beforeAll(async () => {
    await rig('reset')
    const service = await startService()
    caller = await signIn(service, 'alice')
    bob = { ...planningAs(caller, rig), ...checkingAs(caller) }
    return () => service.stop()
  }, 300_000)
  beforeEach(async () => {
    await rig('managers', 'up', '113')
    await rig('reset', '113')
    await rig('slow', '1', '1', '113')
  }, 120_000)

  const refused = async (selection: object) => {
    const { status, body } = await caller.post('/api/updates/plans', { target: TARGET, ...selection })
    return { status, ...Refused.parse(body) }
  }

  test('a check leaves pacman’s own lists alone, and a plan is what its run makes', async () => {
    const before = await traces()
    const { packages, findings } = await bob.check(TARGET)
    expect(await traces()).toBe(before)
    expect(packages.find(({ name }) => name === 'librig2')).toMatchObject({
      from: '1.4.2-1',
      to: '1:2.0-1',
      status: 'planned',
    })
    expect(findings.map(({ code }) => code)).toContain('security_unknown')

    const { id, actions } = await bob.plan(TARGET)
    const { status, exit_code, plan_difference } = await bob.run(TARGET, id)

    expect({ status, exit_code, plan_difference }).toEqual({ status: 'success', exit_code: 0, plan_difference: null })
    const after = await versions()
    expect(actions.length).toBeGreaterThan(4)
    for (const { name, to } of actions) expect([name, after.get(name)]).toEqual([name, to ?? undefined])
    // The lists of the upgrade are pacman's own now, so nothing newer can be installed from them.
    expect(await inside('pacman -Qu || true')).toBe('')
    expect(await inside('ls /tmp; ls -d /run/ops-panel* 2>/dev/null; ls /var/lib/pacman')).toBe('local\nsync')
    expect((await bob.check(TARGET)).state).toBe('up_to_date')
  })

  test('a package that was published after the plan changes nothing, also where the lists know it', async () => {
    await bob.check(TARGET)
    const plan = await bob.plan(TARGET)
    await rig('publish', '113', 'rig-conf', '3.0')
    await bob.check(TARGET)
    const before = await traces()

    const { status, error_code, plan_difference } = await bob.run(TARGET, plan.id)

    expect({ status, error_code }).toEqual({ status: 'error', error_code: 'plan_changed' })
    expect(plan_difference).toEqual([
      { name: 'rig-conf:any', planned: expect.stringContaining(' 2.0-1'), found: expect.stringContaining(' 3.0-1') },
    ])
    expect(await traces()).toBe(before)
  })

  test('a version that the mirror no longer has fails before anything changes', async () => {
    await bob.check(TARGET)
    const plan = await bob.plan(TARGET)
    await rig('publish', '113', 'rig-conf', '3.0')
    const before = await traces()

    const { exit_code, plan_difference } = await bob.run(TARGET, plan.id)

    expect({ exit_code, plan_difference }).toEqual({ exit_code: 75, plan_difference: null })
    expect(await traces()).toBe(before)
  })

  test.each([
    ['only security updates', { only: 'security' }],
    ['some packages', { packages: ['librig2'] }],
    ['all but one', { exclude: ['librig2'] }],
  ])('%s would be a partial upgrade, and is no plan', async (_, selection) => {
    await bob.check(TARGET)

    const { status, code, findings } = await refused(selection)

    expect({ status, code }).toEqual({ status: 422, code: 'plan_impossible' })
    expect(findings.map((finding) => finding.code)).toContain('selection_unsupported')
  })

  test('a replacement needs a plan that may remove packages', async () => {
    await rig('install', '113', 'rig-driven', '1.0')
    await rig('publish', '113', 'rig-driver', '1.0', 'obsoletes=rig-driven', 'conflicts=rig-driven')
    await bob.check(TARGET)

    const { status, findings } = await refused({})
    expect(status).toBe(422)
    expect(findings.some(({ message }) => message.includes('rig-driven'))).toBe(true)

    const { id, actions } = await bob.plan(TARGET, { allow_remove: true })
    expect(actions).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ action: 'remove', name: 'rig-driven', from: '1.0-1' }),
        expect.objectContaining({ action: 'install', name: 'rig-driver', to: '1.0-1' }),
      ]),
    )
    expect((await bob.run(TARGET, id)).exit_code).toBe(0)
    const after = await versions()
    expect([after.get('rig-driven'), after.get('rig-driver')]).toEqual([undefined, '1.0-1'])
  })

  test('what IgnorePkg holds stays, and is told', async () => {
    await rig('hold', '113', 'on', 'rig-conf')

    const { packages, findings } = await bob.check(TARGET)

    expect(packages.find(({ name }) => name === 'rig-conf')).toMatchObject({ status: 'held', reason: 'held' })
    expect(findings.map(({ code }) => code)).toContain('held')
    const { id, actions } = await bob.plan(TARGET)
    expect(actions.map(({ name }) => name)).not.toContain('rig-conf')
    expect((await bob.run(TARGET, id)).exit_code).toBe(0)
    expect((await versions()).get('rig-conf')).toBe('1.0-1')
  })

  test('a repository that fails is named with pacman’s code, and the target is not up to date', async () => {
    await rig('third', '113', 'unreachable')

    const { state, findings } = await bob.check(TARGET)

    expect(state).not.toBe('up_to_date')
    const finding = findings.find(({ repository }) => repository?.includes('rig-third'))
    expect(finding).toMatchObject({ code: 'repository_unreachable' })
    expect(finding?.message).toMatch(/\b1\b/)
  })

  test('a run waits for the lock of pacman, and a stale lock is told', async () => {
    await bob.check(TARGET)
    const { id } = await bob.plan(TARGET)
    await rig('lock', '3', '113')
    expect((await bob.run(TARGET, id)).exit_code).toBe(0)
    expect((await versions()).get('rig-conf')).toBe('2.0-1')

    await inside('touch -d "10 minutes ago" /var/lib/pacman/db.lck')
    const { state, findings } = await bob.check(TARGET)

    expect(['attention', 'blocked']).toContain(state)
    expect(findings.map(({ code }) => code)).toEqual(expect.arrayContaining(['manager_locked', 'dpkg_interrupted']))
    expect(await inside('ls /var/lib/pacman')).toContain('db.lck')
  })

  test.each([
    ['a version with a command', `2.0$(touch$IFS"owned")-1`, 'rig-conf.pkg.tar.zst'],
    ['the path of a file', '2.0-1', '../rig-conf.pkg.tar.zst'],
  ])('%s in a list makes no plan and runs nothing', async (_, version, file) => {
    const list = `%FILENAME%\n${file}\n\n%NAME%\nrig-conf\n\n%VERSION%\n${version}\n\n%CSIZE%\n9\n\n%ISIZE%\n9\n\n%ARCH%\nany\n\n`
    await rig(
      'in',
      '113',
      'sh',
      '-ec',
      `mkdir -p "/run/hostile/rig-conf-$1"; cd "/run/hostile/rig-conf-$1"; printf %s "$2" >desc; cd ..
      tar czf ${REPOSITORY}/rig.db.tar.gz *; touch -d '+1 hour' ${REPOSITORY}/rig.db.tar.gz`,
      'sh',
      version,
      list,
    )

    const { state, packages } = await bob.check(TARGET)

    expect(state).not.toBe('up_to_date')
    expect(packages.filter(({ status }) => status === 'planned')).toEqual([])
    expect((await refused({})).status).toBe(422)
    expect(await inside('find / -xdev -name owned')).toBe('')
  })
})
