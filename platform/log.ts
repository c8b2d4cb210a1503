import { type Logger, pino } from 'pino'
import { prettyFactory } from 'pino-pretty'
import { escapeControl, escapeControlJson, escapeControlLines } from './escape-control.ts'

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
 * Logs JSON lines to `write`, or readable ones when `pretty`. Of a secret nothing is told, not its length either. Nothing of what
 * others have written in it is obeyed by a terminal that shows a line.
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
  const readable = (line: string) => format?.(JSON.parse(line, (key, value) => shown(key, value)))
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
      write(written: string) {
        const line = escapeControlJson(written)
        ring.push(line.trimEnd())
        if (ring.length > RING) ring.shift()
        write(readable(line) ?? line)
      },
    },
  )
  return { log, lines: () => [...ring] }
}

/** A value of an entry for a terminal; the lines of a stack stay lines. */
function shown(key: string, value: unknown): unknown {
  if (typeof value !== 'string') return value
  return key === 'stack' ? escapeControlLines(value) : escapeControl(value)
}
