import { randomBytes } from 'node:crypto'
import { inject } from 'vitest'
import type { DemoHost } from '../../demo/host.ts'

/** The environment of a function host, with a database and an imitated host, which may use another port. */
export function functionEnvironment(databaseUrl: string, { service, port }: Pick<DemoHost, 'service' | 'port'>) {
  return {
    PANEL_DATABASE_URL: databaseUrl,
    PANEL_SECRET_KEY: randomBytes(32).toString('base64'),
    PANEL_JWT_KEY: inject('signingKey').pem,
    PANEL_SSH_HOST: `127.0.0.1:${port}`,
    PANEL_SSH_USERNAME: service.username,
    PANEL_SSH_PASSWORD: service.password,
  }
}
