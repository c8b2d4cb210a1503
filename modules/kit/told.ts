/*
 * The audit log and the errors as handlers of a module get them. An entry `module_action` is the module's own: it names
 * the module, and its text is bounded. An error without the values of its sentence is told in the log.
 */

import type { Statement } from '../../db/libsql/database.ts'
import type { Log } from '../../platform/log.ts'
import type { AuditNote } from '../../runtime/context.ts'
import type { ErrorTable, Failure, FailureOptions } from '../../runtime/errors.ts'

/** The parts of a request's context that write for a module. */
export interface Telling {
  log: Log
  errors: ErrorTable
  fail(code: string, options?: FailureOptions): Failure
  audit(action: string, note?: AuditNote): Promise<void>
  auditEntry(action: string, note?: AuditNote): Statement
}

/** The action of entries that are a module's own. */
export const OWN_ACTION = 'module_action'
/** Characters of a text in an entry. */
const MAX_TEXT = 500

/** Replaces these parts in the context of a request to the module. */
export function tellAs(id: string, context: Telling): void {
  const { log, errors, fail, audit, auditEntry } = context
  const told = {
    audit: (action: string, note?: AuditNote) => audit(action, noteOf(id, action, note)),
    auditEntry: (action: string, note?: AuditNote) => auditEntry(action, noteOf(id, action, note)),
    fail(code: string, options: FailureOptions = {}) {
      const missing = valuesOf(errors[code]?.[1] ?? '').filter((name) => options.values?.[name] === undefined)
      if (missing.length > 0) log.warn({ module: id, code, missing }, 'an error lacks values of its sentence')
      return fail(code, options)
    },
  }
  // The runtime's own are getters of a prototype, which cannot be assigned.
  for (const [name, value] of Object.entries(told)) Object.defineProperty(context, name, { value })
}

/** Returns the names of the values in a sentence. */
export function valuesOf(sentence: string): string[] {
  return Array.from(sentence.matchAll(/\{(\w+)\}/g), ([, name = '']) => name)
}

function noteOf(id: string, action: string, note: AuditNote | undefined): AuditNote | undefined {
  if (action !== OWN_ACTION) return note
  const { text } = note?.details ?? {}
  return {
    target: id,
    details: {
      ...(note?.target !== undefined && { object: String(note.target).slice(0, MAX_TEXT) }),
      ...(text !== undefined && { text: String(text).slice(0, MAX_TEXT) }),
    },
  }
}
