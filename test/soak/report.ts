import type { Census } from './census.ts'
import type { FaultName } from './faults.ts'
import { type Findings, WRONGS } from './findings.ts'
import type { Ledger } from './ledger.ts'
import type { StoredJob } from './stored.ts'

/** The results of a run. */
export interface Report {
  options: { seconds: number; clients: number; seed: number }
  /** Seconds, with the wait for the last jobs and the comparison. */
  took: number
  /** Counts of answers, closed sockets and lost connections, by kind. */
  counts: ReadonlyMap<string, number>
  struck: ReadonlyMap<FaultName, number>
  /** Number of connections that the proxy has cut. */
  cuts: number
  lives: number
  ledger: Ledger
  stored: readonly StoredJob[]
  census: Readonly<Record<'start' | 'half' | 'end' | 'left', Census>>
  /** Counts of the service's log lines of level error and above, by message. */
  errors: ReadonlyMap<string, number>
  findings: Findings
}

const total = (counts: Iterable<number>) => [...counts].reduce((sum, count) => sum + count, 0)
const whole = (value: number) => Math.round(value).toLocaleString('en')

/** Returns the report as plain text: the load, the resources, and the findings, all of which must be 0. */
export function describe(report: Report): string {
  const { options, counts, struck, stored, ledger, census, findings, errors } = report
  const output = total(stored.map(({ size }) => size))
  const lines = [
    `${options.clients} clients, ${options.seconds} s and ${whole(report.took - options.seconds)} s more; seed ${options.seed}`,
    '',
    ...rows([
      ['answers', whole(total(counts.values()))],
      ...byCount(counts),
      ['jobs', `${whole(stored.length)}, ${whole(output / 1024)} KiB, ${whole(ledger.followed.length)} followers`],
      ...byCount(count(stored.map(({ status, errorCode }) => errorCode ?? status))),
      ['faults', whole(total(struck.values()))],
      ...byCount(struck),
      ['  connections cut', whole(report.cuts)],
      ['  starts of the service', whole(report.lives)],
      ['errors in the log', whole(total(errors.values()))],
      ...byCount(errors),
    ]),
    '',
    ...table([
      ['resources', 'at the start', 'half way', 'at the end', 'without clients'],
      ...resources(census).map(([name, ...values]) => [name, ...values]),
    ]),
    '',
    'must be 0',
    ...rows(WRONGS.map(({ wrong, title }) => [`  ${title}`, whole(findings.count(wrong))])),
  ]
  for (const { wrong, title } of WRONGS)
    if (findings.count(wrong) > 0) lines.push('', `${title}:`, ...findings.examples(wrong).map((text) => `  ${text}`))
  return `${lines.join('\n')}\n`
}

/** Returns the report as JSON. */
export function asJson({ ledger, stored, findings, ...report }: Report): string {
  const found = WRONGS.map(({ wrong }) => [wrong, { count: findings.count(wrong), examples: findings.examples(wrong) }])
  const maps = { counts: report.counts, struck: report.struck, errors: report.errors }
  const objects = Object.fromEntries(Object.entries(maps).map(([name, map]) => [name, Object.fromEntries<number>(map)]))
  const jobs = Object.fromEntries(count(stored.map(({ status, errorCode }) => errorCode ?? status)))
  const followed = ledger.followed.length
  return `${JSON.stringify({ ...report, ...objects, jobs, followed, findings: Object.fromEntries(found) }, null, 2)}\n`
}

function resources({ start, half, end, left }: Report['census']): [string, ...string[]][] {
  const names = [
    ['clientSockets', 'sockets of clients'],
    ['hostSockets', 'connections to the host'],
    ['files', 'open files'],
    ['database', 'descriptors of the database'],
    ['timers', 'timers'],
    ['heap', 'MiB of heap, collected'],
    ['pss', 'MiB of memory'],
  ] as const
  return names.map(([key, title]) => [
    `  ${title}`,
    ...[start, half, end, left].map((census) => {
      const value = census[key]
      return value === undefined ? '—' : value.toFixed(key === 'heap' || key === 'pss' ? 1 : 0)
    }),
  ])
}

function count(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}

function byCount(counts: ReadonlyMap<string, number>): [string, string][] {
  return [...counts].sort((a, b) => b[1] - a[1]).map(([name, many]) => [`  ${name}`, whole(many)])
}

function rows(pairs: readonly (readonly [string, string])[]): string[] {
  return table(pairs.map((pair) => [...pair]))
}

function table(cells: readonly (readonly string[])[]): string[] {
  const widths = cells.reduce<number[]>(
    (most, line) => line.map((cell, at) => Math.max(most[at] ?? 0, cell.length)),
    [],
  )
  return cells.map((line) =>
    line.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  '),
  )
}
