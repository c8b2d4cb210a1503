import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { chmod, copyFile, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { VERSION } from '../../platform/program.ts'
import { freePort } from '../free-port.ts'
import { inside, type Place, RIG_ENVIRONMENT, SSH_HOST, PASSWORDS, type Account } from './rig.ts'
import { isHealthy, UNDER_TEST_COMMAND } from './service.ts'

const run = promisify(execFile)
const RIG = fileURLToPath(new URL('rig.sh', import.meta.url))
const DEBIAN = fileURLToPath(new URL('../../packaging/debian/', import.meta.url))
const FOLDER = '/usr/lib/ops-panel'

/** Copies a file of this machine to a path on the host or in a container. */
export async function copyTo(place: Place, file: string, path: string): Promise<void> {
  const copy = spawn('bash', [RIG, 'in', place, 'sh', '-c', `cat >${path}`], {
    stdio: ['pipe', 'ignore', 'inherit'],
    env: RIG_ENVIRONMENT,
  })
  const copied = once(copy, 'close')
  await pipeline(createReadStream(file), copy.stdin)
  await copied
}

/**
 * Makes a package `ops-panel` of the service under test with the maintainer scripts, the unit and the settings that the
 * project ships, puts it into `/srv/rig` there, and returns its path. A service of one file gets its own Node, and tells
 * that version. A version that does not start ends at once.
 */
export async function makePackage(place: Place, version: string, { starts = true } = {}): Promise<string> {
  const tree = await mkdtemp(join(tmpdir(), 'ops-panel-package-'))
  try {
    const [program = '', file] = UNDER_TEST_COMMAND
    const put = async (path: string, text: string, mode = 0o644) => {
      await mkdir(join(tree, path, '..'), { recursive: true })
      await writeFile(join(tree, path), text, { mode })
    }
    await mkdir(join(tree, FOLDER), { recursive: true })
    if (file === undefined) await copyFile(program, join(tree, FOLDER, 'ops-panel'))
    else {
      await copyFile(program, join(tree, FOLDER, 'node'))
      const parts = (await readFile(file, 'utf8')).split(`"${VERSION}"`)
      if (parts.length !== 2) throw new Error(`the service names its version ${parts.length - 1} times`)
      await put(`${FOLDER}/ops-panel.mjs`, parts.join(`"${version}"`))
    }
    const words = file === undefined ? `${FOLDER}/ops-panel` : `${FOLDER}/node ${FOLDER}/ops-panel.mjs`
    await put('usr/bin/ops-panel', `#!/bin/sh\n${starts ? `exec ${words} "$@"` : 'exit 1'}\n`, 0o755)
    await put('etc/ops-panel/ops-panel.env', await readFile(join(DEBIAN, 'ops-panel.env'), 'utf8'))
    await put('usr/lib/systemd/system/ops-panel.service', await readFile(join(DEBIAN, 'ops-panel.service'), 'utf8'))
    const architecture = (await run('dpkg', ['--print-architecture'])).stdout.trim()
    const lines = [`Version: ${version}`, `Architecture: ${architecture}`, 'Depends: adduser']
    const control = await readFile(join(DEBIAN, 'control'), 'utf8')
    await put('DEBIAN/control', control.replace(/^Section:/m, `${lines.join('\n')}\nSection:`))
    for (const name of ['conffiles', 'postinst', 'prerm', 'postrm']) {
      await cp(join(DEBIAN, name), join(tree, 'DEBIAN', name))
      await chmod(join(tree, 'DEBIAN', name), name === 'conffiles' ? 0o644 : 0o755)
    }
    const deb = `${tree}.deb`
    await run('dpkg-deb', ['--root-owner-group', '-Znone', '--build', tree, deb])
    const path = `/srv/rig/ops-panel_${version}.deb`
    await copyTo(place, deb, path)
    await rm(deb)
    return path
  } finally {
    await rm(tree, { recursive: true, force: true })
  }
}

/** Lets the repository of a place offer a package that lies there. */
export async function offerPackage(place: Place, deb: string): Promise<void> {
  await inside(
    place,
    `mv ${deb} /srv/rig/main/ && cd / && exec bash -ec 'T=/var/tmp/rig-package; REPOSITORIES=/srv/rig
      . /usr/local/lib/rig/packages; index /srv/rig/main'`,
  )
}

/** Puts the rig's stand-in for systemctl in place, which keeps units running and restarts them for maintainer scripts. */
export async function standInForSystemd(place: Place): Promise<void> {
  await inside(
    place,
    `mkdir -p /etc/rig && touch /etc/rig/units
    mv /usr/bin/systemctl /usr/bin/systemctl.real
    install -m755 /usr/local/lib/rig/systemctl /usr/bin/systemctl
    mkdir -p /run/systemd/system /run/rig-units /etc/systemd/system`,
  )
}

export interface InstalledPanel {
  url: string
  /** Returns what it has logged. */
  log(): Promise<string>
}

/**
 * Installs a package of the panel and starts it as a unit of the stand-in for systemd, with the account and the
 * environment of its own unit.
 */
export async function installPanel(
  place: Place,
  deb: string,
  { as = 'root', env = {} }: { as?: Account; env?: Record<string, string> } = {},
): Promise<InstalledPanel> {
  const port = await freePort()
  const settings = {
    PANEL_PORT: String(port),
    PANEL_SSH_HOST: SSH_HOST,
    PANEL_SSH_USERNAME: as,
    PANEL_SSH_PASSWORD: PASSWORDS[as],
    PANEL_TRUSTED_PROXIES: '127.0.0.0/8',
    ...env,
  }
  const words = Object.entries(settings).map(([name, value]) => `'${name}=${value}'`)
  await inside(
    place,
    `cat >/usr/local/sbin/panel-unit <<'END'
#!/bin/sh
cd /var/lib/ops-panel && umask 0077
exec env -i PATH="$PATH" SYSTEMD_EXEC_PID=$$ PANEL_DATA_DIR=/var/lib/ops-panel ${words.join(' ')} \\
  setpriv --reuid=ops-panel --regid=ops-panel --init-groups --no-new-privs /usr/bin/ops-panel
END
    chmod 755 /usr/local/sbin/panel-unit
    printf '%s\\n' '[Service]' ExecStart=/usr/local/sbin/panel-unit >/etc/systemd/system/ops-panel.service
    DEBIAN_FRONTEND=noninteractive dpkg -i ${deb} >/var/log/panel-install.log 2>&1 </dev/null`,
  )
  const url = `http://127.0.0.1:${port}`
  const log = () => inside(place, 'cat /var/log/panel-install.log /var/log/rig-units.log 2>/dev/null || true')
  await expect.poll(() => isHealthy(url), { timeout: 60_000, message: await log() }).toBe(true)
  return { url, log }
}
