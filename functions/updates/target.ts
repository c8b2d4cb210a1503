import * as z from 'zod'

/** Longest target that is looked at, in characters. No id of a container comes near it. */
const LONGEST = 64

/** A target as it is written. Which texts mean one is for `parseTarget`, and which are too long for `isTooLong`. */
export const Target = z
  .string()
  .min(1)
  .meta({
    id: 'Target',
    description: '`host`, `lxc:<id>` for one container, `all` for every container.',
    examples: ['host', 'lxc:101', 'all'],
    override: { maxLength: LONGEST },
  })

/** What can be upgraded: the host, one container, or every container. */
export type Target = { kind: 'host' } | { kind: 'container'; id: string } | { kind: 'all' }

/**
 * Reads `host`, `lxc:<id>` or `all`; undefined for anything else. The id is not checked as a number: what it may be is
 * the container tool's to say. A NUL, which no argument of a program can carry, makes it invalid.
 */
export function parseTarget(text: string): Target | undefined {
  if (text === 'host' || text === 'all') return { kind: text }
  const id = text.startsWith('lxc:') ? text.slice('lxc:'.length) : ''
  return id === '' || id.includes('\0') || isTooLong(text) ? undefined : { kind: 'container', id }
}

/** Whether it is refused before anything of it is stored. */
export function isTooLong(text: string): boolean {
  return text.length > LONGEST && [...text.slice(0, 2 * LONGEST + 1)].length > LONGEST
}

/** A target as it is told back to who sent it. */
export function shortened(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
