import { bytes, duration, formatDate, instant, localeOf } from './format.ts'

/** How a module's page writes a value. */
export type ShownAs = 'text' | 'number' | 'bytes' | 'time' | 'duration' | 'status' | 'code' | 'link'

/** Longer texts in one cell are cut. */
const MAX_TEXT = 500
/** More rows than anybody reads would make the page slow. */
export const MAX_ROWS = 500

/** Returns the value at a path such as `owner.name`; undefined where it leads nowhere. */
export function valueAt(value: unknown, path: string): unknown {
  let found = value
  for (const name of path === '' ? [] : path.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined
    found = Object.getOwnPropertyDescriptor(found, name)?.value
  }
  return found
}

/** Returns the rows of an answer, at most `MAX_ROWS` of them, and how many there are; undefined when it has no list. */
export function rowsIn(answer: unknown, path: string): { rows: readonly unknown[]; all: number } | undefined {
  const list: unknown = valueAt(answer, path)
  return Array.isArray(list) ? { rows: list.slice(0, MAX_ROWS), all: list.length } : undefined
}

interface Said {
  yes: string
  no: string
  nothing: string
  units: { bytes: readonly string[]; days: string; hours: string; minutes: string; seconds: string }
}

/** Writes a value as the page wants it; one of another kind stays what it is. The result is plain text. */
export function shownValue(value: unknown, as: ShownAs, language: string, say: Said): string {
  if (value === null || value === undefined || value === '') return say.nothing
  if (typeof value === 'boolean') return value ? say.yes : say.no
  const count = typeof value === 'number' && Number.isFinite(value) ? value : undefined
  if (count !== undefined && as === 'bytes' && count >= 0) return bytes(count, say.units.bytes, language)
  if (count !== undefined && as === 'duration' && count >= 0) return duration(count, say.units)
  if (as === 'time') {
    const at = typeof value === 'string' || typeof value === 'number' ? instant(value) : undefined
    // Beyond these, dates cannot be formatted.
    if (at !== undefined && Math.abs(at) < 8e15)
      return formatDate(at, language, { dateStyle: 'medium', timeStyle: 'short' })
  }
  if (count !== undefined && as !== 'code' && as !== 'text') return count.toLocaleString(localeOf(language))
  return cut(typeof value === 'object' ? JSON.stringify(value) : String(value))
}

function cut(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
}

/** The kind of a state, by its word; any other word is shown without a judgement. */
export function statusKind(value: unknown): 'ok' | 'warn' | 'err' | 'run' | 'off' | 'info' {
  const word = String(value).toLowerCase()
  if (/^(ok|up|on|true|running|ready|done|success|active|online|healthy|enabled)$/.test(word)) return 'ok'
  if (/^(warn|warning|degraded|late|stale|pending)$/.test(word)) return 'warn'
  if (/^(err|error|failed|failure|down|critical|unhealthy)$/.test(word)) return 'err'
  if (/^(building|busy|starting|stopping|in_progress|progress)$/.test(word)) return 'run'
  return /^(off|false|stopped|disabled|inactive|offline|none)$/.test(word) ? 'off' : 'info'
}
