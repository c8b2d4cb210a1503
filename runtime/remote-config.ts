import { type Config, ConfigError, readConfig } from './config.ts'

/**
 * As much of a job's output as fits into one answer behind an application load balancer, which passes on 1 MB: a control
 * character takes six bytes in JSON, and one more where that is JSON inside an event.
 */
const OUTPUT_BYTES = 128 * 1024

/** A configuration that needs no disk: nothing is made that is not there. */
export type RemoteConfig = Config & { secretKey: Buffer }

/** Reads `PANEL_*` for a function host. Throws a ConfigError that names what is wrong, or missing there. */
export function readRemoteConfig(environment: Record<string, string | undefined>): RemoteConfig {
  const config = readConfig(environment)
  const { databaseUrl, secretKey } = config
  const missing = [
    ...(databaseUrl.startsWith('file:')
      ? ['  PANEL_DATABASE_URL : attendu l’adresse d’un serveur libSQL (libsql:, https:, http:, wss: ou ws:)']
      : []),
    ...(secretKey ? [] : ['  PANEL_SECRET_KEY : attendu 32 octets en base64 (openssl rand -base64 32)']),
  ]
  if (!secretKey || missing.length > 0)
    throw new ConfigError(`Sur un hébergement de fonctions, rien n’est écrit sur le disque :\n${missing.join('\n')}`)
  return { ...config, secretKey, outputBytes: OUTPUT_BYTES }
}
