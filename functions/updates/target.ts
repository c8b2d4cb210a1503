import * as z from 'zod'

/** A target as it is written. Which texts mean one is for `parseTarget`. */
export const Target = z
  .string()
  .min(1)
  .meta({
    id: 'Target',
    description: '`host`, `lxc:<id>` for one container, `all` for every container.',
    examples: ['host', 'lxc:101', 'all'],
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
  return id === '' || id.includes('\0') || text.length > TARGET_LENGTH ? undefined : { kind: 'container', id }
}

/** Longest target that can be meant; no id of a container comes near it. */
const TARGET_LENGTH = 1024

/** A target as it is told back to who sent it. */
export function shortened(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
