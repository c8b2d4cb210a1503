import type { Findings } from './findings.ts'

/**
 * A value that only one client writes: a read must return the last acknowledged write, or a write whose answer was
 * lost.
 */
export interface Register {
  /** Records a write before its request is sent. */
  writing(value: string): void
  acknowledged(value: string): void
  read(value: string): void
}

export function createRegister(name: string, first: string, findings: Findings): Register {
  let last = first
  // The service may carry such a write out late, after a freeze.
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
