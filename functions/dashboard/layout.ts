import * as z from 'zod'

/** The dashboard as the panel stores it: any JSON object. Only the panel knows its meaning. */
export const Layout = z.record(z.string(), z.unknown())

/** Deeper than any dashboard, and far below the depth that overflows the stack. */
const MAX_DEPTH = 32

/** The schema of a layout that a client sends. */
export const GivenLayout = Layout.refine(isShallow, `${MAX_DEPTH} niveaux au plus`)

function isShallow(layout: object): boolean {
  let level: unknown[] = [layout]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return false
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []))
  }
  return true
}

/** The default layout shows attention items first, then containers, running jobs and shortcuts. */
export const DEFAULT_LAYOUT: z.infer<typeof Layout> = {
  version: 1,
  widgets: [
    { id: 'attention', hidden: false },
    { id: 'containers', hidden: false },
    { id: 'jobs', hidden: false },
    { id: 'shortcuts', hidden: false },
  ],
}
