import * as z from 'zod'

/** A dashboard as the panel keeps it: any JSON object, whose meaning is the panel's. */
export const Layout = z.record(z.string(), z.unknown())

/** Deeper than any dashboard, and nowhere near what a stack can bear. */
const MAX_DEPTH = 32

/** One that may be stored. */
export const GivenLayout = Layout.refine(isShallow, `${MAX_DEPTH} niveaux au plus`)

function isShallow(layout: object): boolean {
  let level: unknown[] = [layout]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return false
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []))
  }
  return true
}

/** What needs attention first, then containers, running jobs and shortcuts, all shown. */
export const DEFAULT_LAYOUT: z.infer<typeof Layout> = {
  version: 1,
  widgets: [
    { id: 'attention', hidden: false },
    { id: 'containers', hidden: false },
    { id: 'jobs', hidden: false },
    { id: 'shortcuts', hidden: false },
  ],
}
