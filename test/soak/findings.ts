/** The possible findings, and their names in the report. */
const titles = {
  lost: 'bytes of output lost',
  repeated: 'bytes of output repeated',
  different: 'outputs that differ from what the host printed',
  finals: 'final events of a job sent twice or not at all',
  jobMissing: 'acknowledged jobs that are not recorded',
  jobStuck: 'jobs that did not end',
  jobFailed: 'jobs that failed without a fault of the host',
  jobTwice: 'commands that the host ran twice, or for no job',
  forgotten: 'acknowledged writes that were forgotten',
  undeclared: 'answers that differ from the declared schema',
  unexpected: 'refusals and closed sockets without a fault as their cause',
  hung: 'requests and followers that did not end',
  stopped: 'unexpected or unclean ends of the service',
  socketLeak: 'leaked sockets of clients',
  hostLeak: 'leaked connections to the host',
  fileLeak: 'leaked open files',
  timerLeak: 'leaked timers',
  memory: 'MiB of memory growth beyond the limit',
  noFault: 'faults that did not strike, cuts and ends without effect',
} as const

export type Wrong = keyof typeof titles

/** Returns all findings with their titles, in the order of the report. */
export const WRONGS: readonly { wrong: Wrong; title: string }[] = Object.keys(titles)
  .filter((name): name is Wrong => Object.hasOwn(titles, name))
  .map((wrong) => ({ wrong, title: titles[wrong] }))

/** Counts findings, and keeps the first cases of each. */
export interface Findings {
  add(wrong: Wrong, example: string, count?: number): void
  count(wrong: Wrong): number
  examples(wrong: Wrong): readonly string[]
  /** Whether there are no findings. */
  none(): boolean
}

const EXAMPLES = 5

export function createFindings(): Findings {
  const found = new Map<Wrong, { count: number; examples: string[] }>()
  return {
    add(wrong, example, count = 1) {
      if (count <= 0) return
      const known = found.get(wrong) ?? { count: 0, examples: [] }
      found.set(wrong, known)
      known.count += count
      if (known.examples.length < EXAMPLES) known.examples.push(example)
    },
    count: (wrong) => found.get(wrong)?.count ?? 0,
    examples: (wrong) => found.get(wrong)?.examples ?? [],
    none: () => found.size === 0,
  }
}
