import { EXPLANATIONS, type RowName } from './explanations.ts'

/** The upper bound of the quotient of two medians, ours over the anchor's. */
export type Goal = { atMost: number } | { atLeast: number }

/** One comparison or one bound; a row without a goal is shown for information. */
export interface Row {
  name: RowName
  goal: Goal | undefined
  ours: string
  anchor: string
  /** The measured value that the goal applies to. */
  result: number
  /** The unit of the result; without one, it is a ratio. */
  unit?: string
  rounds: number
}

/** The middle value, or the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const half = sorted.length / 2
  const [low, high] = [sorted[Math.ceil(half) - 1], sorted[Math.floor(half)]]
  if (low === undefined || high === undefined) throw new RangeError('no values')
  return (low + high) / 2
}

/** Compares the medians of two series that were measured alternately. */
export function compare(
  name: RowName,
  goal: Goal | undefined,
  unit: string,
  ours: readonly number[],
  anchor: readonly number[],
): Row {
  const [mine, other] = [median(ours), median(anchor)]
  const write = (value: number) => `${short(value)} ${unit}`
  return { name, goal, ours: write(mine), anchor: write(other), result: mine / other, rounds: ours.length }
}

/** The memory that each round has used, in MiB. */
export function growth(name: RowName, rounds: readonly number[]): Row {
  return {
    name,
    goal: { atMost: 64 },
    ours: '',
    anchor: '',
    result: Math.max(...rounds),
    unit: 'MiB',
    rounds: rounds.length,
  }
}

/** The rows as a plain-text table, followed by the limits of the rows that miss their goals. */
export function table(rows: readonly Row[]): string {
  const cells = cellsOf(rows)
  const widths = cells[0]?.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0))) ?? []
  return cells
    .map((line) =>
      line
        .map((text, column) => text.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .concat(rows.filter((row) => !reached(row)).map(({ name }) => `\nMissed: ${name}\n  ${EXPLANATIONS[name].limit}`))
    .join('\n')
}

/** The rows with their headings, as the columns of a table. */
export function cellsOf(rows: readonly Row[]): string[][] {
  return [
    ['row', 'goal', 'ours', 'anchor', 'result', 'rounds', 'verdict'],
    ...rows.map((row) => [
      row.name,
      goalText(row),
      row.ours,
      row.anchor,
      `${short(row.result)}${row.unit ? ` ${row.unit}` : ''}`,
      String(row.rounds),
      row.goal ? (reached(row) ? 'ok' : 'MISSED') : 'for information',
    ]),
  ]
}

export function reached({ goal, result }: Row): boolean {
  if (!goal) return true
  return 'atMost' in goal ? result <= goal.atMost : result >= goal.atLeast
}

function goalText({ goal, unit }: Row): string {
  if (!goal) return ''
  const text = 'atMost' in goal ? `≤ ${goal.atMost}` : `≥ ${goal.atLeast}`
  return unit ? `${text} ${unit}` : text
}

/** More than three digits would be noise. */
export function short(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2)
}
