import type { Probe, Protection } from './protection.ts'

/** A policy as a form has it: numbers and words as somebody types them. */
export interface PolicyDraft {
  before: Protection['before']
  backup_storage: string
  keep: string
  on_failure: Protection['on_failure']
  settle_seconds: string
  probes: ProbeDraft[]
}

/** A probe as typed: an address with its status, a port, a unit, or the words of a command. */
export interface ProbeDraft {
  kind: Probe['kind']
  text: string
  status: string
}

/** Most probes of a policy. */
export const MOST_PROBES = 10

export function draftOf({ backup_storage, keep, settle_seconds, probes, ...rest }: Protection): PolicyDraft {
  return {
    ...rest,
    backup_storage: backup_storage ?? '',
    keep: `${keep}`,
    settle_seconds: `${settle_seconds}`,
    probes: probes.map((probe) => ({
      kind: probe.kind,
      text: probeText(probe),
      status: probe.kind === 'http' ? `${probe.status}` : '',
    })),
  }
}

/** The text of a probe, in the form in which it is typed. */
export function probeText(probe: Probe): string {
  if (probe.kind === 'http') return probe.url
  if (probe.kind === 'tcp') return `${probe.port}`
  return probe.kind === 'unit' ? probe.name : lineOf(probe.command)
}

/** The policy that the form says. The service refuses what is not a number. */
export function policyFrom({ backup_storage, keep, settle_seconds, probes, ...rest }: PolicyDraft): Protection {
  return {
    ...rest,
    backup_storage: backup_storage === '' ? null : backup_storage,
    keep: numberOf(keep),
    settle_seconds: numberOf(settle_seconds),
    probes: probes.map(({ kind, text, status }): Probe => {
      if (kind === 'http') return { kind, url: text.trim(), status: numberOf(status) }
      if (kind === 'tcp') return { kind, port: numberOf(text) }
      return kind === 'unit' ? { kind, name: text.trim() } : { kind, command: wordsOf(text) }
    }),
  }
}

/** Zero, which no field allows, for what is no whole number. */
function numberOf(text: string): number {
  return /^\s*\d{1,9}\s*$/.test(text) ? Number(text) : 0
}

/** The words of a line: separated by spaces, except within quotes. A backslash takes the next character as it is. */
export function wordsOf(line: string): string[] {
  const words: string[] = []
  let word: string | undefined
  let quote: string | undefined
  for (let n = 0; n < line.length; n += 1) {
    const letter = line.charAt(n)
    if (letter === '\\' && quote !== "'") {
      n += 1
      word = (word ?? '') + line.charAt(n)
    } else if (letter === quote) quote = undefined
    else if (quote === undefined && (letter === '"' || letter === "'")) {
      quote = letter
      word ??= ''
    } else if (quote === undefined && /\s/.test(letter)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = (word ?? '') + letter
  }
  if (word !== undefined) words.push(word)
  return words
}

/** The line whose words these are. */
export function lineOf(words: readonly string[]): string {
  return words.map((word) => (/^[^\s"'\\]+$/.test(word) ? word : `"${word.replace(/["\\]/g, '\\$&')}"`)).join(' ')
}
