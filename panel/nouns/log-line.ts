/** A parsed line of the service's log (pino's JSON). A line that is not JSON becomes the message. */
export interface LogLine {
  level: LogLevel
  /** RFC 3339. */
  time: string | undefined
  message: string
  /** The id of the request. */
  id: string | undefined
  /** Everything else, as `name=value`. */
  rest: string
  /** The unparsed line. */
  raw: string
}

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export function logLine(raw: string): LogLine {
  const fields = fieldsOf(raw)
  if (!fields) return { level: 'info', time: undefined, message: raw, id: undefined, rest: '', raw }
  const { level, time, msg, id, ...others } = fields
  return {
    level: LOG_LEVELS.find((each) => each === level) ?? 'info',
    time: typeof time === 'string' ? time : undefined,
    message: typeof msg === 'string' ? msg : '',
    id: typeof id === 'string' ? id : undefined,
    rest: Object.entries(others)
      .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
      .join(' '),
    raw,
  }
}

function fieldsOf(raw: string): Record<string, unknown> | undefined {
  try {
    const found: unknown = JSON.parse(raw)
    return typeof found === 'object' && found !== null ? { ...found } : undefined
  } catch {
    return undefined
  }
}

/** Whether a line has at least this level and contains all words. */
export function matchesLog({ level, raw }: LogLine, least: LogLevel, text: string): boolean {
  const low = raw.toLowerCase()
  const words = text.toLowerCase().split(/\s+/)
  return LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(least) && words.every((word) => low.includes(word))
}
