import { type Logger, pino } from 'pino'
import { escapeControl, escapeControlJson, escapeControlLines } from './escape-control.ts'

export type Log = Logger

/** Number of lines that the ring keeps. */
const RING = 300

/** Fields whose values are never logged, at the top of an entry and one level below. */
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

/** An API token, which somebody may have put into an address by mistake. */
const API_TOKEN = /opt_[\w-]{43}/g

const CENSOR = '[masqué]'

export interface LogSink {
  log: Log
  /** Returns the newest lines, oldest first. */
  lines(): string[]
}

/** Writes an entry for a person at a terminal; undefined for one that it cannot read. */
export type EntryFormat = (entry: object) => string | undefined

/** Loads the format for terminals, which a service without one need not load at each start. */
export async function terminalFormat(): Promise<EntryFormat> {
  const { prettyFactory } = await import('pino-pretty')
  return prettyFactory({ colorize: true, translateTime: 'HH:MM:ss.l', ignore: 'pid,hostname' })
}

/**
 * Logs to `write` JSON lines or, with a `format`, readable ones. A secret is replaced entirely, so that not even its
 * length shows. Control characters are escaped, so that a terminal that shows a line obeys no text in it.
 */
export function createLog({
  level,
  format,
  write,
}: {
  level: string
  format?: EntryFormat | undefined
  write(line: string): void
}): LogSink {
  const ring: string[] = []
  const readable = (line: string) => format?.(JSON.parse(line, (key, value) => shown(key, value)))
  const log = pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: SECRETS.flatMap((name) => [name, `*.${name}`]),
        censor: CENSOR,
      },
    },
    {
      write(written: string) {
        const line = escapeControlJson(written).replace(API_TOKEN, CENSOR)
        ring.push(line.trimEnd())
        if (ring.length > RING) ring.shift()
        write(readable(line) ?? line)
      },
    },
  )
  return { log, lines: () => [...ring] }
}

/** Makes a value of an entry safe for a terminal; a stack keeps its lines. */
function shown(key: string, value: unknown): unknown {
  if (typeof value !== 'string') return value
  return key === 'stack' ? escapeControlLines(value) : escapeControl(value)
}
