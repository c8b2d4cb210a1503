import { type Logger, pino } from 'pino'
import { prettyFactory } from 'pino-pretty'

export type Log = Logger

/** How many lines the ring keeps. */
const RING = 300

/** Fields whose value never reaches a log, at the top of an entry and one level below. */
const SECRETS = [
  'password',
  'current_password',
  'ssh_password',
  'hypervisor_token',
  'setup_token',
  'token',
  'access_token',
  'refresh_token',
  'authorization',
  'cookie',
  'secret',
  'stdin',
]

export interface LogSink {
  log: Log
  /** The newest lines, the oldest of them first. */
  lines(): string[]
}

/**
 * Logs JSON lines to `write`, or readable ones when `pretty`. Of a secret nothing is told, not its length either.
 */
export function createLog({
  level,
  pretty,
  write,
}: {
  level: string
  pretty: boolean
  write(line: string): void
}): LogSink {
  const ring: string[] = []
  const format = pretty
    ? prettyFactory({ colorize: true, translateTime: 'HH:MM:ss.l', ignore: 'pid,hostname' })
    : undefined
  const log = pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: SECRETS.flatMap((name) => [name, `*.${name}`]),
        censor: '[masqué]',
      },
    },
    {
      write(line: string) {
        ring.push(line.trimEnd())
        if (ring.length > RING) ring.shift()
        write(format ? format(line) : line)
      },
    },
  )
  return { log, lines: () => [...ring] }
}
