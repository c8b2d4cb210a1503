import { beforeAll, beforeEach, expect, test } from 'vitest'
import { signIn } from './client.ts'
import { linesOf, planningAs } from './planning.ts'
import { rig } from './rig.ts'
import { startService } from './service.ts'

const TARGET = 'lxc:101'
const CONF = '/etc/apt/apt.conf.d/99rig-own'
const PIN = '/etc/apt/preferences.d/rig-own'

let alice: ReturnType<typeof planningAs>
beforeAll(async () => {
  const service = await startService({ as: 'alice' })
  alice = planningAs(await signIn(service, 'alice'), rig)
  return () => service.stop()
})
beforeEach(async () => {
  await rig('reset')
  await alice.inside('101', `mkdir -p /etc/rig; echo '1 1' >/etc/rig/slow; apt-get update`)
})

/** A file of the target with these lines. */
const write = (file: string, ...lines: string[]) =>
  alice.inside('101', `cat >${file} <<'END'\n${lines.join('\n')}\nEND\n`)

test('a hook of the target that leaves its line open hides neither an agreement nor a refusal', async () => {
  await write(CONF, 'DPkg::Pre-Install-Pkgs {"printf checking...";};')
  const planned = await alice.plan(TARGET, { packages: ['rig-conf'] })
  const unfit = await alice.plan(TARGET, { packages: ['rig-fail'] })

  expect(await alice.run(TARGET, planned.id)).toMatchObject({ status: 'success', exit_code: 0 })
  await rig('publish', '101', 'rig-fail', '3.0')
  await rig('refresh', '101')
  expect(await alice.run(TARGET, unfit.id)).toMatchObject({
    error_code: 'plan_changed',
    plan_difference: [{ name: 'rig-fail:all', planned: 'upgrade 1.0 2.0', found: 'upgrade 1.0 3.0' }],
  })
})

test('a hook of the target, which may run scripts of new packages, runs only after the plan is agreed to', async () => {
  await write(CONF, 'DPkg::Pre-Install-Pkgs {"cat >/dev/null; echo early >>/root/hooked";};')
  const unfit = await alice.plan(TARGET, { packages: ['rig-fail'] })
  await rig('publish', '101', 'rig-fail', '3.0')
  await rig('refresh', '101')

  expect(await alice.run(TARGET, unfit.id)).toMatchObject({ error_code: 'plan_changed' })
  expect(await alice.inside('101', 'cat /root/hooked 2>&1 || :')).toMatch(/No such file/)

  const fit = await alice.plan(TARGET, { packages: ['rig-fail'] })
  expect(await alice.run(TARGET, fit.id)).toMatchObject({ status: 'success', exit_code: 0 })
  expect(await alice.inside('101', 'cat /root/hooked')).toBe('early')
})

test('a version that imitates the words of a plan is refused, and does not block the others', async () => {
  const plan = await alice.plan(TARGET, { packages: ['rig-slow'] })
  await alice.inside(
    '101',
    `cd /srv/rig/main && sed -i '/^Package: rig-slow$/,/^$/s/^Version: .*/Version: 2.0 all none \\/x/' Packages
    sum=$(sha256sum <Packages | cut -d' ' -f1) size=$(stat -c %s Packages)
    sed -i "s/^ [0-9a-f]* [0-9]* Packages$/ $sum $size Packages/" Release && apt-get update && apt list --upgradable`,
  )
  const before = await alice.traces('101')

  expect(await alice.run(TARGET, plan.id)).toMatchObject({ status: 'error' })

  expect(await alice.traces('101')).toBe(before)
  expect(linesOf(await alice.plan(TARGET, { packages: ['rig-conf'] }))).toEqual(['upgrade rig-conf 1.0 2.0'])
  expect(
    linesOf(await alice.plan(TARGET, { exclude: ['rig-slow'] })).filter((line) => line.includes('rig-slow')),
  ).toEqual([])
})

test('what a package prints cannot make a finished upgrade look refused', async () => {
  await alice.inside(
    '101',
    `mkdir -p /etc/rig; printf '%s\\n' 'echo "ops-panel-plan differs"' 'echo "ops-panel-plan end"' >/etc/rig/said`,
  )
  await write('/var/lib/dpkg/info/rig-conf.prerm', '#!/bin/sh', '. /etc/rig/said')
  await alice.inside('101', 'chmod 755 /var/lib/dpkg/info/rig-conf.prerm')
  const plan = await alice.plan(TARGET, { packages: ['rig-conf'] })

  const job = await alice.run(TARGET, plan.id)

  expect(job).toMatchObject({ status: 'success', exit_code: 0, error_code: null, plan_difference: null })
})

test('apt that upgrades without asking for the comparison is not told as unchanged', async () => {
  // Another program in the place of apt-get, which drops the hook.
  await alice.inside(
    '101',
    `mv /usr/bin/apt-get /usr/bin/apt-get.real; cat >/usr/bin/apt-get <<'END'
#!/bin/sh
case " $* " in *' -s '*) exec apt-get.real "$@" ;; esac
exec apt-get.real -y -o Dpkg::Use-Pty=0 install rig-conf
END
chmod 755 /usr/bin/apt-get`,
  )
  const plan = await alice.plan(TARGET, { packages: ['rig-fail'] })

  expect(await alice.run(TARGET, plan.id)).toMatchObject({ status: 'error', error_code: 'plan_unbound' })
})

test('an excluded package is not removed, although removals are allowed', async () => {
  await rig('kept-remove', '101')
  await rig('refresh', '101')
  const all = await alice.plan(TARGET, { allow_remove: true })
  expect(linesOf(all)).toContain('remove rig-driven 1.0 <none>')

  const without = await alice.plan(TARGET, { allow_remove: true, exclude: ['rig-driven'] })

  expect(linesOf(without).filter((line) => / rig-driv/.test(line))).toEqual([])
  await alice.done('101')
  expect(await alice.run(TARGET, without.id)).toMatchObject({ status: 'success', exit_code: 0 })
  expect(await alice.done('101')).toEqual(linesOf(without))
})

test('a removal keeps the configuration, also where apt is set to purge', async () => {
  await rig('kept-remove', '101')
  await rig('refresh', '101')
  await write(CONF, 'APT::Get::Purge "true";')
  const plan = await alice.plan(TARGET, { allow_remove: true })

  expect(await alice.run(TARGET, plan.id)).toMatchObject({ status: 'success', exit_code: 0 })

  expect(await alice.inside('101', 'grep -c " purge rig-driven" /var/log/dpkg.log || :')).toBe('0')
})

test('a selection of one package stays one where apt prints its lists in another form', async () => {
  await write(CONF, 'APT::Cmd::Use-Format "true";', 'APT::Cmd::Format "x";')

  expect(linesOf(await alice.plan(TARGET, { packages: ['rig-conf'] }))).toEqual(['upgrade rig-conf 1.0 2.0'])
})

test('security alone takes nothing that a pin of the target prefers from elsewhere', async () => {
  await rig('publish', '101', 'rig-fail', '3.0', 'security')
  await write(PIN, 'Package: rig-conf', 'Pin: release l=Rig', 'Pin-Priority: 900')
  await rig('refresh', '101')
  const before = linesOf(await alice.plan(TARGET))
  expect(before).toContain('upgrade rig-conf 1.0 2.0')

  expect(linesOf(await alice.plan(TARGET, { only: 'security' }))).toEqual([
    'upgrade librig2 1.4.2-1+b1 1:2.0~rc1-1+deb12u3',
    'upgrade rig-fail 1.0 3.0',
  ])
})

test('of many packages the possible ones are planned, although one among them is not', async () => {
  await rig('kept-deps', '101')
  await rig('refresh', '101')

  const plan = await alice.plan(TARGET, { packages: ['rig-unmet', 'rig-conf', 'rig-fail', 'rig-slow'] })

  expect(linesOf(plan)).toEqual(['upgrade rig-conf 1.0 2.0', 'upgrade rig-fail 1.0 2.0', 'upgrade rig-slow 1.0 2.0'])
})

test('a version that its repository no longer has, in lists that still have it, changes nothing and is told', async () => {
  await rig('http', '101', 'on')
  await rig('refresh', '101')
  const plan = await alice.plan(TARGET, { packages: ['rig-conf'] })
  await rig('withdraw', '101', 'rig-conf')
  const before = await alice.traces('101')

  const job = await alice.run(TARGET, plan.id)
  expect(await alice.traces('101')).toBe(before)

  expect(job).toMatchObject({ status: 'error', error_code: 'plan_not_begun', plan_difference: null })
})
