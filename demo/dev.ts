import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { PEOPLE } from './account.ts'
import { fleet, fleetHost } from './fleet.ts'
import { startDemoHost } from './host.ts'
import { startDemoHypervisor } from './hypervisor.ts'
import { explainPreparation, prepare } from './prepare.ts'

/**
 * `npm run dev`: the service from its sources against the demo's host. A changed source restarts the service alone: the host,
 * the data and the sign-ins stay. The panel needs no restart, since its page is built anew when it is loaded after a change.
 */
const data = await mkdtemp(join(tmpdir(), 'ops-panel-dev-'))
process.once('exit', () => rmSync(data, { recursive: true, force: true }))

const containers = fleet()
const host = await startDemoHost({ containers, host: fleetHost(), users: PEOPLE })
const hypervisor = await startDemoHypervisor(containers)
const port = process.env.PANEL_PORT ?? '8080'
// By its name: browsers know no passkey for an IP address.
const url = `http://localhost:${port}`

const service = spawn(
  process.execPath,
  ['--watch', '--watch-preserve-output', join(import.meta.dirname, '../serve/main.ts')],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      PANEL_PORT: port,
      PANEL_PUBLIC_URL: url,
      PANEL_DATA_DIR: data,
      PANEL_DATABASE_URL: `file:${data}/panel.db`,
      PANEL_DEPLOYER: 'none',
      PANEL_SSH_HOST: `127.0.0.1:${host.port}`,
      PANEL_SSH_USERNAME: host.service.username,
      PANEL_SSH_PASSWORD: host.service.password,
      PANEL_SSH_HOST_KEY: host.hostKey,
    },
  },
)
service.once('exit', (code) => process.exit(code ?? 1))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => service.kill('SIGTERM'))

// The service reports a mistake in its sources itself, and starts once it is mended.
while (!(await fetch(`${url}/api/health`).catch(() => undefined))?.ok) await pause(200)
await prepare(url, hypervisor).catch((error: unknown) => {
  process.stderr.write(`La démonstration se fait sans les chiffres des conteneurs : ${explainPreparation(error)}\n`)
})
process.stdout.write(`\n  ${url}, en tant que demo / demo ou guest / guest. Ctrl-C arrête tout.\n\n`)
