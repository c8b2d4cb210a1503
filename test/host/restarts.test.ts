import { beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { RESTART } from '../../functions/restarts/restart-script.ts'
import { quote } from '../../ssh/command.ts'
import { checkingAs } from './checking.ts'
import { type Caller, signIn } from './client.ts'
import { asNarrow, narrowAccount } from './narrow.ts'
import { type Account, inside, type Place, rig } from './rig.ts'
import { type Service, startService } from './service.ts'

const LIBRARY = '/usr/lib/rig/librigmap.so.1'
const LISTENER = { name: 'rig-listener', reason: LIBRARY, package: 'rig-maplib', restart: 'service', why: null }
/** Services that no button restarts, with the ports at which their stand-ins listen in a container. */
const NEVER = { dbus: 7801, 'systemd-logind': 7802, lxcfs: 7803, docker: 7804 }

const Checked = z.looseObject({
  checked_at: z.string().nullable(),
  changed_at: z.string().nullable(),
  services: z.array(z.looseObject({ name: z.string(), reason: z.string() })),
  services_unseen: z.boolean(),
})
const Started = z.object({ job_id: z.string(), message: z.string() })

/** Writes a unit and starts it. */
const unit = (place: Place, name: string, command: string) =>
  inside(
    place,
    `printf '[Service]\\nExecStart=%s\\n' '${command}' >/etc/systemd/system/${name}.service && systemctl restart ${name}`,
  )
const mainPid = (place: Place, name: string) => inside(place, `systemctl show -p MainPID --value ${name}`)
/** A library under a running service, on the host and in container 101, and its new version. */
async function replaceLibrary(): Promise<void> {
  for (const place of ['host', '101'] as const) {
    await rig('maplib', place, 'on')
    await rig('units', place, 'on')
    await inside(place, 'apt-get -qq update && apt-get -y -qq install rig-maplib >/dev/null 2>&1')
  }
}

/** The restarts and checks of an administrator. */
function restartingAs(caller: Caller) {
  const { ended } = checkingAs(caller)
  const check = async (target: string) => Checked.parse((await caller.get(`/api/updates/checks/${target}`)).body)
  return {
    check,
    ask: (target: string, services: string[]) => caller.post('/api/updates/restarts', { target, services }),
    /** Waits for a check that nobody has asked for, made after every change. */
    async whenChecked(target: string) {
      const isDue = async () => {
        const found = (await caller.get(`/api/updates/checks/${target}`)).body
        const { checked_at, changed_at } = Checked.partial().parse(found)
        return typeof checked_at !== 'string' || changed_at !== null
      }
      await expect.poll(isDue, { timeout: 90_000, interval: 200 }).toBe(false)
      return check(target)
    },
    /** Restarts services, and returns the record of the ended job with its output. */
    async restart(target: string, services: string[]) {
      const { status, body } = await caller.post('/api/updates/restarts', { target, services })
      expect({ status, body }).toMatchObject({ status: 202 })
      return ended(Started.parse(body).job_id, true)
    },
  }
}

describe.each<[Account, string]>([
  ['root', 'is root'],
  ['alice', 'has sudo for anything, with its password'],
  ['ops', 'has sudo for apt-get and pct alone'],
  ['narrow', 'has the host helper alone'],
])('the service account %s, which %s', (account) => {
  let service: Service
  let admin: ReturnType<typeof restartingAs>
  beforeAll(async () => {
    await rig('reset')
    if (account === 'narrow') await narrowAccount()
    await replaceLibrary()
    service = await startService({ as: account, automatic: true })
    admin = restartingAs(await signIn(service, 'alice'))
    return () => service.stop()
  })

  test('lists the service by name with the package, restarts it, and the list is empty without a click', async () => {
    const before = await admin.whenChecked('lxc:101')
    const old = await mainPid('101', 'rig-listener')
    const second = await mainPid('101', 'rig-second')

    const { status, exit_code, output } = await admin.restart('lxc:101', ['rig-listener'])
    const now = await mainPid('101', 'rig-listener')

    expect(before.services).toMatchObject([LISTENER])
    expect(before.services_unseen).toBe(false)
    expect({ status, exit_code }).toEqual({ status: 'success', exit_code: 0 })
    expect(output).toContain(`rig-listener: main PID ${old} -> ${now}, active\n`)
    expect(now).not.toBe(old)
    expect(await mainPid('101', 'rig-second')).toBe(second)
    expect((await admin.whenChecked('lxc:101')).services).toEqual([])
  })

  const onHost = async () => {
    const { services, services_unseen } = await admin.whenChecked('host')
    const old = await mainPid('host', 'rig-listener')

    const { exit_code, output } = await admin.restart('host', ['rig-listener'])

    expect(services).toMatchObject([LISTENER])
    expect(services_unseen).toBe(false)
    expect(exit_code).toBe(0)
    expect(output).toContain(`rig-listener: main PID ${old} -> ${await mainPid('host', 'rig-listener')}, active\n`)
    expect((await admin.whenChecked('host')).services).toEqual([])
  }

  const onHostByRule = async () => {
    const own = `/usr/bin/setpriv --reuid ops --regid ops --clear-groups /usr/local/sbin/rig-listener 0 ${LIBRARY}`
    await inside('host', 'apt-get -y -qq --allow-downgrades install rig-maplib=2.0 >/dev/null 2>&1')
    await unit('host', 'rig-own', own)
    await inside('host', `cp ${LIBRARY} ${LIBRARY}.new && mv ${LIBRARY}.new ${LIBRARY}`)
    await admin.whenChecked('host')
    const { check } = checkingAs(await signIn(service, 'alice'))
    await check('host')
    const { services, services_unseen } = await admin.check('host')

    const refused = await admin.restart('host', ['rig-own'])
    await inside('host', "sed -i 's|$|, /usr/bin/systemctl|' /etc/sudoers.d/ops && visudo -cq")
    const old = await mainPid('host', 'rig-own')
    const allowed = await admin.restart('host', ['rig-own'])

    expect(services).toMatchObject([{ ...LISTENER, name: 'rig-own' }])
    expect(services_unseen).toBe(true)
    expect(refused).toMatchObject({ status: 'error', exit_code: 77, error_code: 'systemctl_not_allowed' })
    expect(refused.output).toContain('ops ALL=(root) NOPASSWD: /usr/bin/systemctl')
    expect(allowed).toMatchObject({ status: 'success', exit_code: 0 })
    expect(allowed.output).toContain(`rig-own: main PID ${old} -> ${await mainPid('host', 'rig-own')}, active\n`)
  }

  if (account === 'ops')
    test('says that it does not see the processes of others, and needs a line for its own', onHostByRule)
  else test('does the same on the host', onHost)
})

describe('in container 101', () => {
  let service: Service
  let caller: Caller
  let admin: ReturnType<typeof restartingAs>
  beforeAll(async () => {
    await rig('reset')
    await rig('maplib', '101', 'on')
    await rig('units', '101', 'on')
    for (const [name, port] of Object.entries(NEVER))
      await unit('101', name, `/usr/local/sbin/rig-listener ${port} ${LIBRARY}`)
    await inside('101', 'apt-get -qq update && apt-get -y -qq install rig-maplib >/dev/null 2>&1')
    service = await startService()
    caller = await signIn(service, 'alice')
    admin = restartingAs(caller)
    return () => service.stop()
  })

  test('dbus, logind, lxcfs and docker are listed, and refused by the service and by the script', async () => {
    const pids = async () => Promise.all(Object.keys(NEVER).map((name) => mainPid('101', name)))
    const before = await pids()
    const { services } = Checked.parse(await checkingAs(caller).check('lxc:101'))

    for (const name of Object.keys(NEVER)) {
      const why = expect.stringContaining('jamais redémarré seul')
      expect(services).toContainEqual(
        expect.objectContaining({ name, package: 'rig-maplib', restart: 'container', why }),
      )
      const { status, body } = await admin.ask('lxc:101', ['rig-listener', name])
      expect({ status, body }).toMatchObject({ status: 422, body: { code: 'service_protected' } })
      const script = `sh -c ${quote([RESTART])} restart '' rig-listener ${name}; echo "code $?"`
      expect(await inside('101', script)).toMatch(/never restarted alone\. Nothing was restarted\.\ncode 65$/)
    }
    expect(await pids()).toEqual(before)
  })

  test('another name of such a service does not restart it either', async () => {
    await inside('101', 'mv /usr/bin/systemctl /usr/bin/systemctl.rig')
    const renaming = '#!/bin/sh\\n[ "$1" != show ] || { echo Id=docker.service; exit; }\\necho "$*" >>/tmp/asked\\n'
    await inside('101', `printf '${renaming}' >/usr/bin/systemctl && chmod 755 /usr/bin/systemctl`)

    const script = `sh -c ${quote([RESTART])} restart '' innocent; echo "code $?"; [ -e /tmp/asked ] || echo nothing`
    const told = await inside('101', script)
    await inside('101', 'mv /usr/bin/systemctl.rig /usr/bin/systemctl')

    expect(told).toBe('innocent: this service is never restarted alone. Nothing was restarted.\ncode 65\nnothing')
  })

  test('a service that does not come back, one that dies at once, and one that is gone end with 1', async () => {
    await unit('101', 'rig-short', '/bin/sleep 300')
    await inside('101', `sed -i 's/sleep 300/sleep 0.5/' /etc/systemd/system/rig-short.service`)
    await inside('101', 'mkdir -p /etc/rig/unit-fails; touch /etc/rig/unit-fails/rig-second')

    const script = `sh -c ${quote([RESTART])} restart '' rig-second rig-short rig-gone rig-listener; echo "code $?"`
    const told = await inside('101', script)

    expect(told).toMatch(/^rig-second: main PID \d+ -> none, it did not come back \(failed\)$/m)
    expect(told).toMatch(/^rig-short: main PID \d+ -> none, it did not come back \(failed\)$/m)
    expect(told).toMatch(/^rig-gone: there is no such service \(not-found\)$/m)
    expect(told).toMatch(/^rig-listener: main PID \d+ -> \d+, active\ncode 1$/m)
    await rig('units', '101', 'ok', 'rig-second')
  })

  test('a service with which Docker would restart is refused, and one without a main process is restarted', async () => {
    const add = (name: string, line: string) =>
      inside('101', `echo '${line}' >>/etc/systemd/system/${name}.service; systemctl restart ${name}`)
    await add('rig-second', 'GuessMainPID=no')
    await add('docker', 'Requires=rig-listener.service')
    const pids = async () => Promise.all(['docker', 'rig-listener'].map((name) => mainPid('101', name)))
    const before = await pids()

    const run = (names: string) => inside('101', `sh -c ${quote([RESTART])} restart '' ${names}; echo "code $?"`)
    const refused = await run('rig-second rig-listener')
    const same = await pids()
    const restarted = await run('rig-second')
    await inside('101', "sed -i '/^Requires=/d' /etc/systemd/system/docker.service")
    await inside(
      '101',
      "sed -i '/^GuessMainPID=/d' /etc/systemd/system/rig-second.service; systemctl restart rig-second",
    )

    expect(refused).toBe(
      'rig-listener: docker.service would restart with this service, and is never restarted alone. Nothing was restarted.\ncode 65',
    )
    expect(same).toEqual(before)
    expect(restarted).toBe('rig-second: main PID none -> none, active\ncode 0')
  })

  test('a stopped service stays stopped', async () => {
    await inside('101', 'systemctl stop rig-second')
    const told = await inside('101', `sh -c ${quote([RESTART])} restart '' rig-second; echo "code $?"`)

    expect(told).toBe('rig-second: inactive, so it was left alone\ncode 0')
    expect(await mainPid('101', 'rig-second')).toBe('0')
  })

  test('a package is found with and without /usr, and by a shorter name of the library', async () => {
    await inside(
      '101',
      `systemctl stop dbus systemd-logind lxcfs docker rig-listener rig-second; cd /etc/systemd/system; rm dbus.service systemd-logind.service lxcfs.service docker.service`,
    )
    const cap = await inside('101', 'readlink -f /usr/lib/*/libcap.so.2')
    await inside('101', `cp ${LIBRARY} ${LIBRARY}.0.3; cp ${cap} /tmp/cap`)
    await unit('101', 'rig-merged', `/usr/local/sbin/rig-listener 7811 ${cap}`)
    await unit('101', 'rig-renamed', `/usr/local/sbin/rig-listener 7812 ${LIBRARY}.0.3`)
    await inside('101', `cp /tmp/cap ${cap}.new; mv ${cap}.new ${cap}; rm ${LIBRARY}.0.3`)

    const { services } = Checked.parse(await checkingAs(caller).check('lxc:101'))

    expect(await inside('101', `dpkg-query -S ${cap} 2>&1 || true`)).toContain('no path found')
    expect(services).toContainEqual(
      expect.objectContaining({ name: 'rig-merged', package: 'libcap2', reason: cap, restart: 'service' }),
    )
    expect(services).toContainEqual(
      expect.objectContaining({ name: 'rig-renamed', package: 'rig-maplib', reason: `${LIBRARY}.0.3` }),
    )
  })

  test('the control group names the unit of a process, or the user of its session', async () => {
    await rig('units', '101', 'on')
    const groups = {
      worker: 'system.slice/rig-second.service/x',
      login: 'user.slice/user-0.slice/session-1.scope',
      stray: 'system.slice/no.service',
    }
    for (const [name, group] of Object.entries(groups))
      await inside(
        '101',
        `setsid perl -MDynaLoader -e '$0 = shift; DynaLoader::dl_load_file("${LIBRARY}") or die; sleep 300' ${name} </dev/null >/dev/null 2>&1 &
        until grep -q librigmap /proc/$!/maps; do sleep 0.02; done
        echo '0::/${group}' >/tmp/${name}; mount --bind /tmp/${name} /proc/$!/cgroup`,
      )
    await inside('101', `cp ${LIBRARY} ${LIBRARY}.new; mv ${LIBRARY}.new ${LIBRARY}`)

    const { services } = Checked.parse(await checkingAs(caller).check('lxc:101'))
    await inside('101', 'umount /proc/[0-9]*/cgroup 2>/dev/null; pkill -x "worker|login|stray"; true')

    for (const [name, restart] of [
      ['rig-second', 'service'],
      ['root', 'session'],
      ['stray', 'container'],
    ])
      expect(services).toContainEqual(expect.objectContaining({ name, restart, package: 'rig-maplib' }))
    expect(services.map(({ name }) => name)).not.toContain('worker')
  })

  test('a program without a unit asks for the whole container, and services that needrestart names are added', async () => {
    await inside(
      '101',
      `mkdir -p /opt/own; cp ${LIBRARY} '/opt/own/a library.so'
      setsid perl -MDynaLoader -e '$0 = "own program"; DynaLoader::dl_load_file("/opt/own/a library.so") or die; sleep 300' </dev/null >/dev/null 2>&1 &
      until grep -q 'a library' /proc/$!/maps; do sleep 0.02; done; rm '/opt/own/a library.so'`,
    )
    await unit('101', 'dbus', '/bin/sleep 300')
    await inside(
      '101',
      `printf '#!/bin/sh\\necho NEEDRESTART-VER: 3.6\\necho NEEDRESTART-SVC: dbus.service\\necho NEEDRESTART-SVC: rig-second.service\\necho NEEDRESTART-SVC: away.service\\necho "NEEDRESTART-SVC: a b"\\n' >/usr/sbin/needrestart
      chmod 755 /usr/sbin/needrestart`,
    )

    const { services } = Checked.parse(await checkingAs(caller).check('lxc:101'))
    await inside('101', 'rm /usr/sbin/needrestart')

    const by = (name: string) => services.find((one) => one.name === name)
    expect(by('own_program')).toMatchObject({ reason: '/opt/own/a library.so', package: null, restart: 'container' })
    expect(by('dbus')).toMatchObject({ reason: 'needrestart', package: null, restart: 'container' })
    expect(by('rig-second')).toMatchObject({ reason: 'needrestart', package: null, restart: 'service' })
    expect(services.filter(({ name }) => name.startsWith('a'))).toEqual([])
  })
})

test('the host helper refuses such services, options and more words', async () => {
  await rig('reset')
  await narrowAccount()
  await rig('units', 'host', 'on')
  const second = await mainPid('host', 'rig-second')
  const helper = 'sudo -n /usr/sbin/ops-panel-host'

  expect(await asNarrow(`${helper} restart host rig-second dbus`)).toMatchObject({ code: 65 })
  for (const words of ['host', 'host --root=/tmp', "host 'a b'", "host '*'", "host $'ssh\\nx'", 'web rig-second', '']) {
    expect(await asNarrow(`${helper} restart ${words}`)).toMatchObject({ code: 64 })
  }
  expect(await asNarrow(`${helper} reboot-host now`)).toMatchObject({ code: 64 })
  expect(await mainPid('host', 'rig-second')).toBe(second)
})
