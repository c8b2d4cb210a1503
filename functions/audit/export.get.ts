import * as z from 'zod'
import { READS } from '../../runtime/function.ts'
import { createLongAnswers } from '../../runtime/json-stream.ts'
import { defineFunction } from '../services.ts'
import { EXPORT_TYPES, exportEnd, ExportFormat, exportPieces } from './export-lines.ts'
import { filterOf, GivenFilter } from './filter.ts'

const longAnswer = createLongAnswers()

export default defineFunction({
  method: 'GET',
  path: '/api/audit/export',
  summary: 'Export the audit log',
  description:
    'Streams the chosen entries, the oldest first: as JSON lines, or as CSV (RFC 4180), in which a text that a spreadsheet would take for a formula begins with an apostrophe. `hash` is the link of the entry in the hash chain, empty until it is linked; see `ops-panel audit verify`. The export is itself an entry, which it does not contain. An administrator has two of them at a time.',
  auth: 'admin',
  rateLimit: READS,
  audit: ['audit_exported'],
  request: { query: GivenFilter.extend({ format: ExportFormat.default('jsonl') }) },
  response: z.string(),
  contentType: 'text/*',
  headers: { 'content-disposition': 'Names the file.' },
  errors: ['rate_limited'],

  async handler({ query: { format, ...given } }, { db, user, audit, header }) {
    const filter = filterOf(given)
    const last = await exportEnd(db)
    const answer = longAnswer(db, user.id, exportPieces(db, format, { ...filter, last }))
    const details = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
    await audit('audit_exported', { details: { format, last, ...Object.fromEntries(details) } })
    header('content-type', EXPORT_TYPES[format])
    header('content-disposition', `attachment; filename="audit-${last}.${format}"`)
    return answer
  },
})
