import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServer } from '../serve/server.ts'
import { PEOPLE } from './account.ts'
import { fleet, fleetHost } from './fleet.ts'
import { startDemoHost } from './host.ts'
import { startDemoHypervisor } from './hypervisor.ts'
import { explainPreparation, prepare } from './prepare.ts'
import { screen } from './screen.ts'

/** The settings of the caller by which people get roles, need a second factor, or sign in at a provider. */
const OF_ACCESS = [
  'PANEL_ADMIN_GROUPS',
  'PANEL_SIGN_IN_GROUPS',
  'PANEL_OPERATOR_GROUPS',
  'PANEL_VIEWER_GROUPS',
  'PANEL_REQUIRE_FACTOR',
  'PANEL_PASSKEY_SIGN_IN',
  'PANEL_OIDC_ISSUER',
  'PANEL_OIDC_CLIENT_ID',
  'PANEL_OIDC_CLIENT_SECRET',
  'PANEL_OIDC_CLAIM',
  'PANEL_OIDC_NAME',
]

/** A terminal and npm may both forward one Ctrl-C, so signals within this time count as one. */
const SAME_SIGNAL_MS = 500

const data = await mkdtemp(join(tmpdir(), 'ops-panel-demo-'))
process.once('exit', () => rmSync(data, { recursive: true, force: true }))

const containers = fleet()
const host = await startDemoHost({ containers, host: fleetHost(), users: PEOPLE })
const hypervisor = await startDemoHypervisor(containers)
const server = await startPanel().catch(async (error: unknown) => {
  hypervisor.close()
  await host.close()
  process.stderr.write(`La démonstration n’a pas pu démarrer : ${explain(error)}\n`)
  process.exit(1)
})

let stoppedAt: number | undefined
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop())
await prepare(server.url, hypervisor).catch((error: unknown) => {
  process.stderr.write(`La démonstration se fait sans les chiffres des conteneurs : ${explainPreparation(error)}\n`)
})
// By its name: browsers know no passkey for an IP address.
process.stdout.write(screen({ url: server.url.replace('//127.0.0.1:', '//localhost:'), sshPort: host.port }))

/** Listens on the requested port; by default on 8080 or, if that is taken, on a free one. */
async function startPanel() {
  const port = process.env.PANEL_PORT
  if (port) return startServer(environment(port))
  try {
    return await startServer(environment('8080'))
  } catch (error) {
    if (isPortTaken(error)) return startServer(environment('0'))
    throw error
  }
}

function isPortTaken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
}

function explain(error: unknown): string {
  if (isPortTaken(error)) return `le port ${process.env.PANEL_PORT} est déjà pris.`
  return error instanceof Error ? error.message : String(error)
}

/** Keeps only harmless variables of the caller: the demo must not write to a configured database, for example. */
function environment(port: string): Record<string, string | undefined> {
  return {
    PANEL_HOST: process.env.PANEL_HOST,
    PANEL_PORT: port,
    // The port of 0 is known only once it listens; notifications have no link then.
    ...(port !== '0' && { PANEL_PUBLIC_URL: `http://localhost:${port}` }),
    PANEL_LOG_LEVEL: process.env.PANEL_LOG_LEVEL ?? 'warn',
    ...Object.fromEntries(OF_ACCESS.map((name) => [name, process.env[name]])),
    PANEL_DATA_DIR: data,
    PANEL_SSH_HOST: `127.0.0.1:${host.port}`,
    PANEL_SSH_USERNAME: host.service.username,
    PANEL_SSH_PASSWORD: host.service.password,
    PANEL_SSH_HOST_KEY: host.hostKey,
  }
}

async function stop(): Promise<void> {
  if (stoppedAt !== undefined) {
    if (Date.now() - stoppedAt > SAME_SIGNAL_MS) process.exit(130)
    return
  }
  stoppedAt = Date.now()
  process.stdout.write('\nArrêt…\n')
  await server.stop()
  hypervisor.close()
  await host.close()
  process.exit(0)
}
