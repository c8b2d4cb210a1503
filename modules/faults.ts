/*
 * Faults of a module's declarations as French sentences: their author reads them in the page that lists the modules, or
 * on the console.
 */

import type * as z from 'zod'

/** The reason why a module is not loaded; `message` is French, for administrators. */
export class ModuleError extends Error {
  override readonly name = 'ModuleError'
  readonly problem: 'files_missing' | 'load_failed'

  constructor(
    message: string,
    { problem = 'load_failed', cause }: { problem?: ModuleError['problem']; cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.problem = problem
  }
}

/** Turns an issue into sentences. Of a union, it reports the faults inside the variant that the value resembles. */
export function sentences(issue: z.core.$ZodIssue, above: readonly PropertyKey[] = []): string[] {
  const path = [...above, ...issue.path]
  const within = issue.code === 'invalid_union' ? issue.errors.flat().filter((each) => each.path.length > 0) : []
  if (within.length > 0) return within.flatMap((each) => sentences(each, path))
  return [path.length === 0 ? issue.message : `« ${path.map(String).join('.')} » ${issue.message}`]
}

/** Makes zod say that a value is missing or wrong, and what belongs there. */
export const expected = (what: string) => ({
  error(issue: z.core.$ZodRawIssue): string {
    if (issue.code === 'unrecognized_keys') return `a des champs inconnus : ${issue.keys.join(', ')}`
    return `${issue.input === undefined ? 'manque' : 'est invalide'} (attendu : ${what})`
  },
})
