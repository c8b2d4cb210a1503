import { createHash } from 'node:crypto'
import { planHash, planLines } from '../functions/plans/plan.ts'
import { readPlanReport } from '../functions/plans/plan-report.ts'
import { measure } from './rounds.ts'
import { compare, type Row } from './table.ts'

/** As many as a release upgrade of a large host changes. */
const PACKAGES = 1_500
/** Plans in each round, so that one round takes long enough for the clock. */
const PLANS = 20

/**
 * Measures the reading of a large plan, from the output of the simulation to the hash, against the bare work: the same
 * text split into lines and words, and its SHA-256. Neither talks to a host.
 */
export async function plans(): Promise<Row[]> {
  const text = outputOf(PACKAGES)
  const hash = await read(text)
  if ((await read(text)) !== hash) throw new Error('one plan has two hashes')
  const times = await measure(
    { warmUp: 5, rounds: 25 },
    { ours: () => timeOf(() => read(text)), bare: () => timeOf(async () => split(text)) },
  )
  const goal = { atMost: 12 }
  return [compare(`a plan of ${PACKAGES} packages / lines and words`, goal, 'ms', times('ours'), times('bare'))]
}

/** Returns the hash of a plan; throws unless it has all packages. */
async function read(text: string): Promise<string> {
  const report = await readPlanReport(text)
  if (report?.actions.length !== PACKAGES) throw new Error(`${report?.actions.length} packages instead of ${PACKAGES}`)
  return planHash(planLines(report.actions))
}

function split(text: string): string {
  const words = text.split('\n').reduce((sum, line) => sum + line.split(' ').length, 0)
  if (words < 10 * PACKAGES) throw new Error(`only ${words} words`)
  return createHash('sha256').update(text).digest('hex')
}

/** The milliseconds of one call, of the mean of some. */
async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  for (let at = 0; at < PLANS; at++) await work()
  return (performance.now() - began) / PLANS
}

/** The output of `PLAN` for so many packages, nine of ten upgraded, the others new. */
function outputOf(packages: number): string {
  const all = Array.from({ length: packages }, (_, at) => {
    const name = `librig-package-${at}`
    return { name, old: `1:2.${at}-1+deb12u1`, new: `1:2.${at}-1+deb12u2`, isNew: at % 10 === 0 }
  })
  const section = (name: string, lines: readonly string[]) => `${name}\n${lines.map((line) => ` ${line}\n`).join('')}\n`
  const changes = all.map(({ name, old, new: to, isNew }) => {
    const from = isNew ? '' : ` [${old}]`
    return `Inst ${name}${from} (${to} Debian:12.15/oldstable, Debian-Security:12/oldstable-security [amd64]) []`
  })
  return [
    'manager apt-get\n',
    section('unfinished', []),
    section('planned', [...changes, 'code 0']),
    section(
      'offered',
      all.map(({ name, new: to }, at) => `${name} amd64 ${to} ${100_000 + at} ${400 + at} rig (${to})`),
    ),
    section(
      'installed',
      all.flatMap(({ name, old, isNew }, at) => (isNew ? [] : [`${name} amd64 ${400 + at} rig ${old}`])),
    ),
    section('disk', ['/ 5000000 4096 10000000 1', 'archives 5000000 4096 10000000 1']),
    'end\n',
  ].join('')
}
