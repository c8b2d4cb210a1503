/*
 * Faults of a module's declarations as French sentences: their author reads them in the page that lists the modules, or
 * on the console.
 */

import type * as z from 'zod'

/** The reason why a module is not loaded; `message` is French, for administrators. */
export class ModuleError extends Error {
  override readonly name = 'ModuleError'
  readonly problem: 'files_missing' | 'load_failed'
  /** The messages of all faults that were found; `message` is the first one. */
  readonly all: readonly string[]

  constructor(
    message: string,
    {
      problem = 'load_failed',
      cause,
      all = [message],
    }: { problem?: ModuleError['problem']; cause?: unknown; all?: readonly string[] } = {},
  ) {
    super(message, { cause })
    this.problem = problem
    this.all = all
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

/** Collects the faults of several parts, so that their author sees them all. */
export class Faults {
  readonly #found: ModuleError[] = []

  /** Whether a part had a fault. */
  get any(): boolean {
    return this.#found.length > 0
  }

  /** Returns what `work` returns; undefined when it throws a ModuleError, which is kept. */
  in<result>(work: () => result): result | undefined {
    try {
      return work()
    } catch (error) {
      if (!(error instanceof ModuleError)) throw error
      this.#found.push(error)
      return undefined
    }
  }

  /** Throws the faults as one error, if there were any. */
  throw(): void {
    const [first] = this.#found
    if (first) throw new ModuleError(first.message, { all: this.#found.flatMap(({ all }) => all) })
  }
}

/** Returns the known name that a misspelt one most resembles, if any resembles it. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const most = Math.max(2, Math.floor(name.length / 2))
  const [best] = known
    .map((each) => ({ each, distance: name.length > 100 ? most + 1 : distance(plain(name), plain(each)) }))
    .filter((found) => found.distance <= most)
    .sort((a, b) => a.distance - b.distance)
  return best?.each
}

const plain = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')

/** The fewest letters to add, remove or replace that make one text of the other. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (const [line, letter] of [...from].entries()) {
    const next = [line + 1]
    for (const [at, other] of [...to].entries())
      next.push(Math.min((row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1, (row[at] ?? 0) + (letter === other ? 0 : 1)))
    row = next
  }
  return row[to.length] ?? 0
}
