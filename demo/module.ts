import { resolve } from 'node:path'
import { createDevService } from '../functions/authors/dev-service.ts'
import { develop } from '../functions/authors/develop.ts'
import { PEOPLE } from './account.ts'
import { fleet, fleetHost } from './fleet.ts'
import { startDemoHost } from './host.ts'

/**
 * `npm run demo:module -- <folder>`: `modules dev` against the demo's host, for modules that run commands on the host. The
 * service is that of the sources.
 */
const [, , typed] = process.argv
if (typed === undefined) {
  process.stderr.write('npm run demo:module -- <dossier du module>\n')
  process.exit(2)
}
// The service is started as this program: from the entry point of the sources.
process.argv[1] = resolve(import.meta.dirname, '../serve/main.ts')

const host = await startDemoHost({ containers: fleet(), host: fleetHost(), users: PEOPLE })
const service = await createDevService(
  {
    port: Number(process.env.PANEL_PORT ?? 0),
    host: {
      PANEL_SSH_HOST: `127.0.0.1:${host.port}`,
      PANEL_SSH_USERNAME: host.service.username,
      PANEL_SSH_PASSWORD: host.service.password,
      PANEL_SSH_HOST_KEY: host.hostKey,
    },
  },
  () => new Date(),
)
try {
  await develop(resolve(typed), {
    service,
    account: 'demo, mot de passe demo',
    say: (text) => void process.stdout.write(`${text}\n`),
  })
} finally {
  await host.close()
}
