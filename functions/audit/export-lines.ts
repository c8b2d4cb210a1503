import * as z from 'zod'
import { type AuditFilter, type ExportedRow, newestAuditId, readAuditInOrder } from '../../db/audit.ts'
import type { Database } from '../../db/libsql/database.ts'

/** The forms of an export: a JSON object a line, or a table for a spreadsheet. */
export const ExportFormat = z.enum(['jsonl', 'csv'])
export type ExportFormat = z.infer<typeof ExportFormat>

/** The media type of each form. A client that sees `json` in a type reads the answer as one JSON text. */
export const EXPORT_TYPES: Readonly<Record<ExportFormat, string>> = {
  jsonl: 'text/plain; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
}

/** Entries that are in memory at a time. */
const PAGE = 500

/**
 * Produces the export of the chosen entries, the oldest first, a piece for each page. Entries that are written after
 * `last`, the newest id at the start, are not in it.
 */
export async function* exportPieces(
  db: Database,
  format: ExportFormat,
  { last, ...filter }: AuditFilter & { last: number },
): AsyncGenerator<string> {
  if (format === 'csv') yield `${COLUMNS.join(',')}\r\n`
  const line = format === 'csv' ? csvLine : jsonLine
  let after = 0
  for (;;) {
    const rows = await readAuditInOrder(db, { ...filter, limit: PAGE, after, last })
    if (rows.length > 0) yield rows.map(line).join('')
    const end = rows.at(-1)
    if (!end || rows.length < PAGE) return
    after = end.id
  }
}

/** The newest id at the start of an export. */
export const exportEnd = newestAuditId

/** `details` stays the stored text: with it and the other columns anybody can compute the hash. */
const COLUMNS = ['id', 'at', 'action', 'user_id', 'username', 'target', 'ip', 'details', 'hash'] as const

function jsonLine(row: ExportedRow): string {
  return `${JSON.stringify(Object.fromEntries(COLUMNS.map((name) => [name, row[name]])))}\n`
}

function csvLine(row: ExportedRow): string {
  return `${COLUMNS.map((name) => cell(row[name])).join(',')}\r\n`
}

/**
 * How formulas begin; spreadsheets ignore white space before them, and take full-width signs for the others. Those of many
 * countries part cells at semicolons, also within the quotes of a text, so a formula may begin there, too.
 */
const FORMULA = /(^|[;\t\r\n])(["\s]*[=+\-@\uff1d\uff0b\uff0d\uff20])|^(?=[\t\r\n])/g

/**
 * A cell by RFC 4180. An attacker could hide a formula in a user name: where a spreadsheet would take a text for one, it gets
 * an apostrophe in front.
 */
function cell(value: string | number | null): string {
  if (value === null) return ''
  const text = String(value)
  const harmless = typeof value === 'string' ? text.replace(FORMULA, "$1'$2") : text
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
