import type { Findings } from './findings.ts'

/** A value that one client alone writes: what is read must be what was acknowledged last, or a write whose answer was lost. */
export interface Register {
  /** Before it is sent. */
  writing(value: string): void
  acknowledged(value: string): void
  read(value: string): void
}

export function createRegister(name: string, first: string, findings: Findings): Register {
  let last = first
  // One of these may be carried out late, when the service goes on after it has stood still.
  const unanswered = new Set<string>()
  return {
    writing: (value) => void unanswered.add(value),
    acknowledged(value) {
      unanswered.delete(value)
      last = value
    },
    read(value) {
      if (value === last || unanswered.has(value)) return
      findings.add('forgotten', `${name}: ${value} was read, ${last} had been acknowledged`)
    },
  }
}
