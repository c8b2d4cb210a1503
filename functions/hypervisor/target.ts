import * as z from 'zod'

/** Longest target that is parsed, in characters. Container ids are far shorter. */
const LONGEST = 64

/** The schema of a target's text. `parseTarget` decides which texts are valid, and `isTooLong` which are too long. */
export const Target = z
  .string()
  .min(1)
  .meta({
    id: 'Target',
    description: '`host`, `lxc:<id>` for one container, `all` for every container.',
    examples: ['host', 'lxc:101', 'all'],
    override: { maxLength: LONGEST },
  })

/** The scope of an upgrade: the host, one container, or every container. */
export type Target = { kind: 'host' } | { kind: 'container'; id: string } | { kind: 'all' }

/**
 * Parses `host`, `lxc:<id>` or `all`; undefined for anything else. The container tool decides which ids are valid, so
 * the id need not be a number. A NUL makes a target invalid, because no program argument can carry it.
 */
export function parseTarget(text: string): Target | undefined {
  if (text === 'host' || text === 'all') return { kind: text }
  const id = text.startsWith('lxc:') ? text.slice('lxc:'.length) : ''
  return id === '' || id.includes('\0') || isTooLong(text) ? undefined : { kind: 'container', id }
}

/** Whether the target is refused before any part of it is stored. */
export function isTooLong(text: string): boolean {
  return text.length > LONGEST && [...text.slice(0, 2 * LONGEST + 1)].length > LONGEST
}

/** Shortens a target for the answer to its sender. */
export function shortened(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
