/** What can be upgraded: the host, one container, or every container. */
export type Target = { kind: 'host' } | { kind: 'container'; id: string } | { kind: 'all' }

/**
 * Reads `host`, `lxc:<id>` or `all`; undefined for anything else. The id is not checked as a number: what it may be is
 * the container tool's to say. A NUL, which no argument of a program can carry, makes it invalid.
 */
export function parseTarget(text: string): Target | undefined {
  if (text === 'host' || text === 'all') return { kind: text }
  const id = text.startsWith('lxc:') ? text.slice('lxc:'.length) : ''
  return id === '' || id.includes('\0') ? undefined : { kind: 'container', id }
}

/** Longest target that is read at all; no name of a container comes near it. */
export const TARGET_LENGTH = 1024
