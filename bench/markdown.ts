import { readFileSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'
import { EXPLANATIONS } from './explanations.ts'
import { cellsOf, type Row, reached } from './table.ts'

/** The rows in the form of docs/performance.md: the machine, the table, and the meaning and limit of each row. */
export function markdown(rows: readonly Row[], now: Date): string {
  const [head = [], ...body] = cellsOf(rows)
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [
    machine(now),
    '',
    line(head),
    line(head.map(() => '---')),
    ...body.map(line),
    '',
    ...rows.map((row) => {
      const { means, limit } = EXPLANATIONS[row.name]
      const why = limit && ` ${reached(row) ? 'Limit:' : '**Missed.** Limit:'} ${limit}`
      return `- *${row.name}*: ${means}${why}`
    }),
  ].join('\n')
}

function machine(now: Date): string {
  const [{ model } = { model: 'an unknown processor' }] = cpus()
  const [, system = 'Linux'] = /^PRETTY_NAME="?([^"\n]*)/m.exec(readFileSync('/etc/os-release', 'utf8')) ?? []
  const memory = (totalmem() / 2 ** 30).toFixed(0)
  return `Measured on ${now.toISOString().slice(0, 10)}: ${cpus().length} cores of ${model.trim()}, ${memory} GiB of memory, ${system}, Linux ${release()}, Node ${process.versions.node}.`
}
