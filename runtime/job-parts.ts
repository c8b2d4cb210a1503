import type { JobPart } from '../db/jobs.ts'

/** The parts of a job before it begins. */
export function waitingParts(named: readonly { id: string; name: string }[]): JobPart[] {
  return named.map(({ id, name }) => ({ id, name, state: 'waiting', code: null }))
}

const NOTE = /^(\S+) ([a-z]+) (\d+)$/

/**
 * The parts of a job as its command has noted them, each in a line `<id> <state> <exit code>`. One that was not among those
 * that were meant is told by its id: another instance may have begun the job, of a list that it read before.
 */
export function notedParts(parts: readonly JobPart[], notes: readonly string[]): JobPart[] {
  const noted = new Map<string, JobPart>()
  for (const note of notes) {
    const [, id, state, code] = NOTE.exec(note) ?? []
    if (id !== undefined && state !== undefined) noted.set(id, { id, name: id, state, code: Number(code) })
  }
  const meant = parts.map((part) => ({ ...part, ...noted.get(part.id), name: part.name }))
  const known = new Set(parts.map(({ id }) => id))
  return [...meant, ...[...noted.values()].filter(({ id }) => !known.has(id))]
}
