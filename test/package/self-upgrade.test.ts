import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../free-port.ts'
import { checkingAs, endAutomaticChecks } from '../host/checking.ts'
import { signIn } from '../host/client.ts'
import { alike, hashes, jobDetail } from '../host/copies.ts'
import { startJob } from '../host/job.ts'
import { followOn } from '../host/resuming.ts'
import { PASSWORDS } from '../host/rig.ts'
import { isHealthy } from '../host/service.ts'
import { OLDER_DEB, DEB } from './packages.ts'
import { endMachine, machine, startMachine } from './places.ts'

beforeAll(startMachine)
afterAll(endMachine)

/** Debian's own package of the SSH server, under a higher version. */
const REPACK = `
tree=/var/tmp/repack
mkdir -p "$tree/DEBIAN"
dpkg -L openssh-server | while read -r path; do [ -d "$path" ] || cp -a --parents "$path" "$tree"; done
for file in conffiles config postinst postrm preinst prerm templates triggers; do
  [ ! -e "/var/lib/dpkg/info/openssh-server.$file" ] || cp -p "/var/lib/dpkg/info/openssh-server.$file" "$tree/DEBIAN/$file"
done
dpkg-query -s openssh-server | sed -e '/^Status: /d' -e '/^Conffiles:/,/^[^ ]/{/^Conffiles:/d;/^ /d}' \\
  -e 's/^Version: .*/&+rig1/' >"$tree/DEBIAN/control"
dpkg-deb --root-owner-group -Znone -b "$tree" /srv/rig/main/openssh-server.deb
`

test('a panel on the host under systemd upgrades itself and the SSH server in one run, and has the whole record of it', async () => {
  const [port, ssh] = [await freePort(), await freePort()]
  await machine.sh(`printf '%s\\n' 'Port ${ssh}' 'ListenAddress 127.0.0.1' 'PermitRootLogin yes' >/etc/ssh/sshd_config.d/own.conf
systemctl start ssh systemd-user-sessions
mkdir /etc/ops-panel && cat >/etc/ops-panel/ops-panel.env <<'END'
PANEL_PORT=${port}
PANEL_SSH_HOST=127.0.0.1:${ssh}
PANEL_SSH_USERNAME=root
PANEL_SSH_PASSWORD='${PASSWORDS.root}'
PANEL_TRUSTED_PROXIES=127.0.0.0/8
END`)
  await machine.install(OLDER_DEB)
  const url = `http://127.0.0.1:${port}`
  await expect.poll(() => isHealthy(url), { timeout: 60_000 }).toBe(true)
  await endAutomaticChecks(await signIn({ url }, 'alice'))
  const bob = await signIn({ url }, 'bob')
  await machine.copy(DEB, '/srv/rig/main/ops-panel.deb')
  await machine.sh(`${REPACK}
    exec bash -ec 'T=/var/tmp/rig-package REPOSITORIES=/srv/rig; . /usr/local/lib/rig/packages; index /srv/rig/main'`)
  const main = (unit: string) => machine.sh(`systemctl show -P MainPID ${unit}`)
  const former = [await main('ops-panel'), await main('ssh')]

  const { findings } = await checkingAs(bob).check('host')
  const impact = findings.find(({ code }) => code === 'self_impact')
  expect(impact?.packages.sort()).toEqual(['openssh-server', 'ops-panel'])
  expect(impact?.message).toContain('le panneau et l’accès à l’hôte')
  expect(impact?.message).toContain('Le panneau fonctionne sur cet hôte.')
  expect(findings).toContainEqual(expect.objectContaining({ code: 'application_update', packages: ['ops-panel'] }))

  const id = await startJob(bob, 'host')
  const live = followOn(bob, id)
  await machine.sh(`until ln /var/tmp/ops-panel-jobs-*/*/output /var/tmp/kept 2>/dev/null; do sleep 0.02; done`)

  expect(await live.ended).toMatchObject({ type: 'update_done', data: { job_id: id } })
  const hostFile = Buffer.from(await machine.sh('base64 -w0 /var/tmp/kept'), 'base64')
  const four = await hashes(bob, id, { hostFile, live: live.output() })
  expect(four).toEqual(alike(four.host))
  expect(await jobDetail(bob, id)).toMatchObject({ status: 'success', exit_code: 0 })
  expect(live.output()).toContain('Setting up ops-panel')
  expect(live.output()).toContain('Setting up openssh-server')
  expect(live.connections()).toBeGreaterThan(1)
  const now = [await main('ops-panel'), await main('ssh')]
  expect(now.filter((pid) => pid === '0' || former.includes(pid))).toEqual([])
  expect(await machine.sh(`readlink /proc/${now[0]}/exe`)).toBe('/usr/bin/ops-panel')
  expect((await checkingAs(bob).check('host')).findings.map(({ code }) => code)).not.toContain('application_update')
  expect(await machine.sh('find /var/tmp -mindepth 2 -path "*/ops-panel-jobs-*"')).toBe('')
})
