import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../free-port.ts'
import { endAutomaticChecks } from '../host/checking.ts'
import { signIn } from '../host/client.ts'
import { alike, hashes, jobDetail, keepHostFile, steps, upTo } from '../host/copies.ts'
import { startJob } from '../host/job.ts'
import { NO_TEXT, replacePostinst, slowPostinst } from '../host/postinst.ts'
import { followOn } from '../host/resuming.ts'
import { inside, PASSWORDS, rig, SSH_HOST } from '../host/rig.ts'
import { isHealthy } from '../host/service.ts'
import { OLDER_DEB, DEB } from './packages.ts'
import { endMachine, machine, startMachine } from './places.ts'

// The life of one package on a machine with systemd. Each test continues where the previous one ended.
const SETTINGS = '/etc/ops-panel/ops-panel.env'
const LINES = 40
let url: string

beforeAll(async () => {
  await Promise.all([rig('reset'), startMachine()])
})
afterAll(endMachine)

const show = (property: string) => machine.sh(`systemctl show -P ${property} ops-panel`)
const state = () => machine.sh('systemctl is-active ops-panel || true')
const mainPid = () => show('MainPID')

test('systemd accepts the unit and rates its exposure as low', async () => {
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  await machine.sh(`mkdir /etc/ops-panel && cat >${SETTINGS} <<'END'
PANEL_PORT=${port}
PANEL_SSH_HOST=${SSH_HOST}
PANEL_SSH_USERNAME=root
PANEL_SSH_PASSWORD='${PASSWORDS.root}'
PANEL_TRUSTED_PROXIES=127.0.0.0/8
END`)
  await machine.install(OLDER_DEB)
  const rating = await machine.sh('systemd-analyze security --no-pager ops-panel | tail -n 1')
  console.info(rating)

  expect(await machine.type('systemd-analyze verify --man=no /usr/lib/systemd/system/ops-panel.service')).toEqual({
    code: 0,
    text: '',
  })
  expect(Number(/: (\d+\.\d+) /.exec(rating)?.[1])).toBeLessThan(2)
})

test('an installed service runs, reports that it is ready, and is enabled for the next boot', async () => {
  expect(await machine.sh('systemctl is-enabled ops-panel')).toBe('enabled')
  expect(await state()).toBe('active')
  expect(await show('StatusText')).toBe('En service.')
  expect(await isHealthy(url)).toBe(true)
  expect(await machine.sh(`ps -o user:20= --ppid ${await mainPid()}`)).toBe('ops-panel')
})

test('an upgrade while a job runs restarts the service and loses no output of the job', async () => {
  await replacePostinst('102', slowPostinst({ lines: LINES, seconds: 0.05, bytes: NO_TEXT }))
  await inside('102', 'touch /etc/rig/hold')
  await endAutomaticChecks(await signIn({ url }, 'alice'))
  const bob = await signIn({ url }, 'bob')
  const id = await startJob(bob, 'lxc:102')
  const kept = await keepHostFile(id)
  const live = followOn(bob, id)
  await expect.poll(() => steps(live.output()).length, { timeout: 30_000 }).toBeGreaterThan(3)
  const former = await mainPid()

  await machine.install(DEB)

  expect(await mainPid()).not.toBe(former)
  expect(await machine.sh(`readlink /proc/${await mainPid()}/exe`)).toBe('/usr/bin/ops-panel')
  expect(await isHealthy(url)).toBe(true)
  await inside('102', 'rm /etc/rig/hold')
  expect(await live.ended).toMatchObject({ type: 'update_done', data: { job_id: id } })
  const four = await hashes(bob, id, { hostFile: await kept(), live: live.output() })
  expect(four).toEqual(alike(four.host))
  expect(steps(live.output())).toEqual(upTo(LINES))
  expect(await jobDetail(bob, id)).toMatchObject({ status: 'success', exit_code: 0 })
})

test('systemd restarts a killed service', async () => {
  const former = await mainPid()
  await machine.sh(`kill -KILL ${former}`)

  await expect.poll(() => show('NRestarts'), { timeout: 30_000 }).toBe('1')
  await expect.poll(state, { timeout: 30_000 }).toBe('active')
  expect(await mainPid()).not.toBe(former)
  expect(await isHealthy(url)).toBe(true)
})

test('the hardening of the unit works: the service cannot write to the system and has one capability', async () => {
  const worker = await machine.sh(`pgrep -P ${await mainPid()}`)
  const status = await machine.sh(`grep -E '^(Cap(Eff|Bnd|Amb)|NoNewPrivs|Seccomp):' /proc/${worker}/status`)
  const within = (command: string) =>
    machine.type(`nsenter -t ${worker} -m -- setpriv --reuid=ops-panel --regid=ops-panel --clear-groups ${command}`)

  // CAP_NET_BIND_SERVICE is bit 10.
  expect(status.replaceAll(/\s+/g, ' ')).toBe(
    'CapEff: 0000000000000400 CapBnd: 0000000000000400 CapAmb: 0000000000000400 NoNewPrivs: 1 Seccomp: 2',
  )
  expect(await within('touch /var/lib/ops-panel/mine')).toEqual({ code: 0, text: '' })
  expect((await machine.type(`nsenter -t ${worker} -m -- touch /usr/bin/mine`)).text).toContain('Read-only file system')
  expect((await machine.type(`nsenter -t ${worker} -m -- ls -A /home /tmp`)).text).not.toContain('alice')
  await machine.sh('rm /var/lib/ops-panel/mine')
})

test('a wrong setting keeps the service from being ready, and the journal names it', async () => {
  await machine.sh(`cp -p ${SETTINGS} /root/settings && echo PANEL_LOG_LEVEL=loud >>${SETTINGS}`)
  const started = await machine.type('systemctl restart ops-panel')
  const tried = await state()
  await machine.sh(`cp -p /root/settings ${SETTINGS}`)

  expect(started.code).not.toBe(0)
  expect(tried).toBe('activating')
  expect(await machine.sh('journalctl --no-pager -u ops-panel')).toContain('PANEL_LOG_LEVEL')
  // systemd keeps trying, and the service starts once the setting is right.
  await expect.poll(state, { timeout: 30_000 }).toBe('active')
})

test('the service may listen on a port below 1024', async () => {
  await machine.sh(`sed 's/^PANEL_PORT=.*/PANEL_PORT=853/; $a PANEL_HOST=127.0.0.53' /root/settings >${SETTINGS}`)
  await machine.sh('systemctl restart ops-panel')

  expect(await isHealthy('http://127.0.0.53:853')).toBe(true)
  await machine.sh(`cp -p /root/settings ${SETTINGS}`)
})

test('an override with User=root gives the data to root, and its removal gives them back to the account', async () => {
  const folder = '/etc/systemd/system/ops-panel.service.d'
  await machine.sh(`mkdir -p ${folder} && printf '[Service]\\nUser=root\\nGroup=root\\n' >${folder}/override.conf`)
  await machine.sh('systemctl daemon-reload && systemctl restart ops-panel')
  const owner = () => machine.sh('stat -c %U /var/lib/ops-panel /var/lib/ops-panel/panel.db | sort -u')

  expect(await isHealthy(url)).toBe(true)
  expect(await machine.sh(`ps -o user:20= -p ${await mainPid()}`)).toBe('root')
  expect(await owner()).toBe('root')
  // An upgrade does not change this.
  await machine.install(DEB)
  expect(await owner()).toBe('root')

  await machine.sh(`rm -r ${folder} && systemctl daemon-reload && systemctl restart ops-panel`)
  expect(await isHealthy(url)).toBe(true)
  expect(await owner()).toBe('ops-panel')
  expect((await machine.type('ops-panel users')).text).toContain('bob')
})

test('a stopped service ends by itself and at once', async () => {
  await machine.sh('systemctl stop ops-panel')

  expect(await state()).toBe('inactive')
  expect(await show('Result')).toBe('success')
  expect(await show('ExecMainStatus')).toBe('0')
})

test('an upgrade does not enable a service that the administrator disabled', async () => {
  await machine.sh('systemctl disable ops-panel 2>&1')
  await machine.install(OLDER_DEB)

  expect(await machine.sh('systemctl is-enabled ops-panel || true')).toBe('disabled')
  await machine.sh('systemctl enable ops-panel 2>&1')
})

test('a removal stops the service, and a purge leaves no trace in systemd', async () => {
  await machine.sh('systemctl start ops-panel && dpkg -r ops-panel 2>&1')
  expect(await isHealthy(url)).toBe(false)
  expect(await machine.sh('pgrep -u ops-panel || true')).toBe('')
  expect(await machine.sh('ls /var/lib/ops-panel')).toContain('panel.db')

  await machine.sh('dpkg -P ops-panel 2>&1')
  expect(await machine.sh('ls -d /etc/ops-panel /var/lib/ops-panel 2>/dev/null || true')).toBe('')
  expect(await machine.sh('find /etc/systemd /var/lib/systemd -name "*ops-panel*"')).toBe('')
  expect(await show('LoadState')).toBe('not-found')
})
