import { beforeAll, expect, test } from 'vitest'
import { freePort } from '../free-port.ts'
import { endAutomaticChecks } from '../host/checking.ts'
import { packages, signIn } from '../host/client.ts'
import { alike, hashes, jobDetail, keepHostFile, steps, upTo } from '../host/copies.ts'
import { runJob, startJob } from '../host/job.ts'
import { NO_TEXT, replacePostinst, slowPostinst } from '../host/postinst.ts'
import { jobFolders } from '../host/remains.ts'
import { followOn } from '../host/resuming.ts'
import { inside, PASSWORDS, rig, SSH_HOST } from '../host/rig.ts'
import { OLDER_DEB, DEB } from './packages.ts'
import { host } from './places.ts'
import { startByUnit } from './unit.ts'

// The life of one package on a host without systemd. Each test continues where the previous one ended.
const SETTINGS = '/etc/ops-panel/ops-panel.env'
const LINES = 40
let before: string[]

beforeAll(async () => {
  await rig('reset')
  before = await files()
})

test('an installation creates an account, a folder for it alone, and settings that others cannot read', async () => {
  const said = await host.install(OLDER_DEB)

  expect(said).toContain('/var/lib/ops-panel/setup-token')
  expect(said).toContain('« ops-panel setup »')
  expect(await host.sh('getent passwd ops-panel')).toMatch(
    /^ops-panel:x:\d+:\d+:.*:\/var\/lib\/ops-panel:\/usr\/sbin\/nologin$/,
  )
  expect(await host.sh('id -nG ops-panel')).toBe('ops-panel')
  expect(await host.sh(`stat -c '%a %U:%G' /var/lib/ops-panel ${SETTINGS}`)).toBe(
    '700 ops-panel:ops-panel\n640 root:ops-panel',
  )
  expect(await host.sh('ls -A /var/lib/ops-panel')).toBe('')
  expect(await host.sh('ops-panel --version')).not.toBe('')
  expect((await host.type("su -s /bin/sh bob -c 'ops-panel users'")).text).toContain(`${SETTINGS} ne peut pas être lu`)
})

test('the service, started by the unit’s ExecStart, signs in host accounts and upgrades a container', async () => {
  await host.sh(`cat >>${SETTINGS} <<'END'
PANEL_PORT=${await freePort()}
PANEL_SSH_HOST=${SSH_HOST}
PANEL_SSH_USERNAME=root
PANEL_SSH_PASSWORD='${PASSWORDS.root}'
PANEL_TRUSTED_PROXIES=127.0.0.0/8
END`)
  const service = await startByUnit(host)
  const bob = await signIn(service, 'bob')
  const { code, record } = await runJob(bob, 'lxc:101')

  expect(code).toBe(1000)
  expect(record).toMatchObject({ status: 'success' })
  expect(await packages(bob, 'lxc:101')).toEqual([])
  expect(await host.sh(`ps -o user:20= -p ${service.pid}; ps -o user:20= --ppid ${service.pid}`)).toBe(
    'ops-panel\nops-panel',
  )
  expect(await host.sh('find /var/lib/ops-panel -not -user ops-panel -o -perm /077')).toBe('')
  await service.stop()
})

test('commands that root types use the data and the settings of the service', async () => {
  expect(await host.type('cd /tmp && ops-panel users')).toMatchObject({ code: 0, text: expect.stringContaining('bob') })
  expect((await host.type('ops-panel settings get ssh_host')).text).toContain(SSH_HOST)
  expect((await host.type('PANEL_DATA_DIR=/nowhere ops-panel users')).text).toContain(
    'aucune base de données : /nowhere',
  )
  // The settings are read even if they are wrong.
  await host.sh(`cp -p ${SETTINGS} /root/settings && echo PANEL_SECRET_KEY=short >>${SETTINGS}`)
  expect(await host.type('ops-panel users')).toMatchObject({
    code: 1,
    text: expect.stringContaining('PANEL_SECRET_KEY'),
  })
  await host.sh(`cp -p /root/settings ${SETTINGS}`)
  // Files that root writes belong to the service.
  await host.sh('ops-panel backup /root/copy.db && ops-panel restore /root/copy.db 2>&1')
  expect(await host.sh('find /var/lib/ops-panel -not -user ops-panel')).toBe('')
})

test('an upgrade while a job runs loses no output, and keeps the administrator’s settings', async () => {
  await replacePostinst('102', slowPostinst({ lines: LINES, seconds: 0.05, bytes: NO_TEXT }))
  await inside('102', 'touch /etc/rig/hold')
  const settings = await host.sh(`cat ${SETTINGS}`)
  const former = await startByUnit(host)
  await endAutomaticChecks(await signIn(former, 'alice'))
  const bob = await signIn(former, 'bob')
  const id = await startJob(bob, 'lxc:102')
  const kept = await keepHostFile(id)
  const live = followOn(bob, id)
  await expect.poll(() => steps(live.output()).length, { timeout: 30_000 }).toBeGreaterThan(3)

  const said = await host.install(DEB)
  // Until its restart, the service runs the previous executable.
  expect(await host.sh(`readlink /proc/${former.pid}/exe`)).toContain('(deleted)')
  await former.stop()
  const service = await startByUnit(host)
  expect(await host.sh(`readlink /proc/${service.pid}/exe`)).toBe('/usr/bin/ops-panel')
  await inside('102', 'rm /etc/rig/hold')

  expect(await live.ended).toMatchObject({ type: 'update_done', data: { job_id: id } })
  const four = await hashes(bob, id, { hostFile: await kept(), live: live.output() })
  expect(four).toEqual(alike(four.host))
  expect(steps(live.output())).toEqual(upTo(LINES))
  expect(await jobDetail(bob, id)).toMatchObject({ status: 'success', exit_code: 0 })
  await expect.poll(jobFolders, { timeout: 10_000 }).toBe('')
  await service.stop()

  expect(said).not.toContain('« ops-panel setup »')
  expect(await host.sh(`cat ${SETTINGS}`)).toBe(settings)
  expect(await host.sh(`stat -c '%a %U:%G' ${SETTINGS}`)).toBe('640 root:ops-panel')
  expect(await host.sh(`diff ${SETTINGS} ${SETTINGS}.dpkg-dist || true`)).toContain('PANEL_PORT')
})

test('an upgrade keeps the owner and the mode that the administrator gave the settings', async () => {
  await host.sh(`dpkg-statoverride --update --add root root 0600 ${SETTINGS}`)
  await host.install(DEB)

  expect(await host.sh(`stat -c '%a %U:%G' ${SETTINGS}`)).toBe('600 root:root')
  await host.sh(`dpkg-statoverride --remove ${SETTINGS}`)
})

test('a removal keeps settings and data, and a new installation uses them', async () => {
  const data = await host.sh('ls -lA /var/lib/ops-panel')
  await host.sh('dpkg -r ops-panel 2>&1')

  expect(await host.sh('ls /usr/bin/ops-panel /usr/lib/systemd/system/ops-panel.service 2>/dev/null || true')).toBe('')
  expect(await host.sh('ls -lA /var/lib/ops-panel')).toBe(data)
  expect(await host.sh(`cat ${SETTINGS}`)).toContain(SSH_HOST)

  await host.install(DEB)
  expect((await host.type('ops-panel users')).text).toContain('bob')
})

test('a purge leaves only the account', async () => {
  await host.sh('dpkg -P ops-panel 2>&1')

  const left = (await files()).filter((file) => !before.includes(file))
  expect(left).toEqual([])
  expect(await host.sh('getent passwd ops-panel')).toContain('nologin')
  expect(await host.type('dpkg-query -W ops-panel')).toMatchObject({ code: 1 })
})

/** Lists all files and folders of the host, except those that change by themselves. */
async function files(): Promise<string[]> {
  const changing =
    '^/(proc|sys|run|tmp|dev|root|var/(tmp|log|lib/rig|cache|backups)|var/lib/dpkg/([^/]+-old|statoverride)|etc/(passwd|group|g?shadow|subuid|subgid)-)(/|$)'
  return (await host.sh(`find / -xdev -regextype posix-extended -not -regex '${changing}(.*)'`)).split('\n').sort()
}
