import { setImmediate as nextTurn } from 'node:timers/promises'
import * as z from 'zod'
import type { Database } from '../../db/libsql/database.ts'
import { readOutput } from '../../db/output.ts'
import { findPlan } from '../../db/plans.ts'
import type { EndedJob } from '../../jobs/jobs.ts'
import { PackageUpdate } from '../managers/package-update.ts'
import { planLines } from './plan.ts'
import { DIFFERS_END, DIFFERS_MARK } from '../managers/agreement.ts'

/**
 * One package that differs: `planned` and `found` are what the plan and the package manager would do, as `action from
 * to`, and null where one of them leaves the package alone. `name` is `name:arch`.
 */
export const PlanDifference = z.object({
  name: z.string(),
  planned: z.string().nullable(),
  found: z.string().nullable(),
})
export type PlanDifference = z.infer<typeof PlanDifference>

/** Differences that are stored of one job. */
const MOST_STORED = 1_000
/** The block is at the end of the output. Nobody plans more changes than these. */
const MOST_READ = 4 * 1024 * 1024
const PIECE = 256 * 1024
const MOST_FOUND = 20_000
const LINES_PER_TURN = 500
/** Characters of one line, and of one text that is stored. */
const LINE = 1_000
const LONGEST = 200

const ACTION = /^(upgrade|downgrade|install|remove|reinstall)$/
/** The line of a hook that does not know the protocol in which apt tells what it is about to do, and the hook's name. */
const UNKNOWN = 'unknown format'
const HOOK = 'DPkg::Pre-Install-Pkgs'

/** Returns how what the package manager was about to do, which the output tells, differs from the plan, by name. */
export async function planDifference(ended: Pick<EndedJob, 'db' | 'row'>, plan: string): Promise<PlanDifference[]> {
  const stored = await findPlan(ended.db, plan)
  const actions = z.array(PackageUpdate).safeParse(JSON.parse(stored?.actions ?? '[]')).data ?? []
  const lines = await foundLines(ended)
  if (lines.includes(UNKNOWN)) return [{ name: HOOK, planned: null, found: UNKNOWN }]
  const planned = byName(planLines(actions))
  const found = byName(lines)
  const names = [...new Set([...planned.keys(), ...found.keys()])].sort()
  return names
    .filter((name) => planned.get(name) !== found.get(name))
    .slice(0, MOST_STORED)
    .map((name) => ({
      name: shown(name),
      planned: planned.get(name) ?? null,
      found: found.get(name) ?? null,
    }))
}

/** Returns the change of each package, from lines `action name:arch from to`. Other lines are left out. */
function byName(lines: readonly string[]): Map<string, string> {
  const changes = new Map<string, string>()
  for (const line of lines) {
    const [action = '', name = '', from = '', to = '', ...more] = line.split(' ')
    if (ACTION.test(action) && name !== '' && to !== '' && more.length === 0)
      changes.set(name, shown(`${action} ${from} ${to}`))
  }
  return changes
}

/** Returns the lines of the last block between the marks, without their leading space. */
async function foundLines({ db, row }: Pick<EndedJob, 'db' | 'row'>): Promise<string[]> {
  let open = false
  let lines: string[] = []
  let n = 0
  for await (const line of outputLines(db, row)) {
    n += 1
    if (n % LINES_PER_TURN === 0) await nextTurn()
    if (line === DIFFERS_MARK) {
      open = true
      lines = []
    } else if (line === DIFFERS_END) open = false
    else if (open && line.startsWith(' ') && lines.length < MOST_FOUND) lines.push(line.slice(1))
  }
  return lines
}

async function* outputLines(
  db: Database,
  { id, output_from, output_size }: EndedJob['row'],
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder()
  let rest = ''
  for (let at = Math.max(output_from, output_size - MOST_READ); at < output_size; ) {
    const chunks = await readOutput(db, id, at, Math.min(PIECE, output_size - at))
    const last = chunks.at(-1)
    if (!last) break
    at = last.offset + last.bytes.length
    const lines = (rest + decoder.decode(Buffer.concat(chunks.map(({ bytes }) => bytes)), { stream: true })).split('\n')
    rest = (lines.pop() ?? '').slice(0, LINE)
    yield* lines.map((line) => line.slice(0, LINE).trimEnd())
  }
  yield rest
}

/** Shortens a text, and removes control and format characters: a target must not move the reader's cursor. */
function shown(text: string): string {
  return text.slice(0, LONGEST).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ')
}
