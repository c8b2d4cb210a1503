import { randomBytes } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import * as z from 'zod'
import {
  type CheckRow,
  markUnanswered,
  readChecks,
  runningCheck,
  saveContainers,
  saveFindings,
  saveTemplate,
} from '../../db/checks.ts'
import { type JobPart, noteParts } from '../../db/jobs.ts'
import type { Database, Statement } from '../../db/libsql/database.ts'
import { readOutput } from '../../db/output.ts'
import { saveHostStorage, saveStorage } from '../../db/snapshots.ts'
import { saveTargetStanding } from '../../db/standing.ts'
import { defineJob, type EndedJob } from '../../jobs/jobs.ts'
import { elevationOf } from '../elevation/installed-helper.ts'
import { parseContainers } from '../hypervisor/pct.ts'
import { parseTarget } from '../hypervisor/target.ts'
import { readStorage } from '../protection/storage-facts.ts'
import { checkEvents } from '../notifications/check-events.ts'
import { fail, type Services } from '../services.ts'
import { sudoFor } from '../updates/apt.ts'
import { UPDATE_EVENT } from '../updates/upgrade.ts'
import { UNANSWERED } from './check.ts'
import { readBlocks } from './check-blocks.ts'
import { type Report, readReport } from './check-report.ts'
import { type CheckScope, checkCommand, LANES, withInspection } from './check-script.ts'
import { AWAY } from './due.ts'
import { withVulnerabilities } from './known-vulnerabilities.ts'
import { withManagers } from '../managers/managed-scripts.ts'
import { MOST_PACKAGES } from '../managers/package-update.ts'

/**
 * The job that inspects one target or all of them. It waits in no queue: a check that runs during an upgrade reports
 * that apt is busy. The transaction that stores the end of the job also stores the findings, read from its output.
 */
export const checkJob = defineJob({
  kind: 'check',
  event: UPDATE_EVENT,
  // Stored jobs of earlier versions name no lanes.
  args: z.object({ target: z.string(), mark: z.string(), lanes: z.int().min(1).max(64).default(LANES) }),
  queue: () => '',
  // The automatic user may have as many as the setting allows.
  bounds: { ofTarget: 3, ofUser: 16, ofAll: 50 },

  async command({ target, mark, lanes }, host) {
    const command = checkCommand(scopeOf(target), mark, sudoFor(await elevationOf(host)), lanes)
    return withInspection(withManagers({ command }))
  },

  result: ({ target, mark }, ended) => resultStatements(target, mark, ended),
})

/** Starts a check of a target, or returns the check that is already running there. */
export async function startCheck(
  { db, jobs, settings }: Pick<Services, 'db' | 'jobs' | 'settings'>,
  { target, startedBy, announce }: { target: string; startedBy: number; announce?(id: string): Statement },
): Promise<string> {
  const running = await runningCheck(db, target)
  if (running !== undefined) return running
  const mark = `ops-panel-${randomBytes(12).toString('hex')}`
  const args = { target, mark, lanes: (await settings.checks()).parallel }
  try {
    return await jobs.start({ kind: checkJob.kind, args, target, startedBy, ...(announce && { announce }) })
  } catch (error) {
    // Another instance was faster: the database admits one check of a target.
    const other = await runningCheck(db, target)
    if (other === undefined) throw error
    return other
  }
}

function scopeOf(text: string): CheckScope {
  const target = parseTarget(text)
  if (!target) throw fail('target_invalid', { values: { target: text } })
  return target.kind === 'container' ? { scope: 'container', id: target.id } : { scope: target.kind }
}

/** The maximum of packages in one check. The target that exceeds it counts as not responding, and so do all after it. */
const MOST_IN_ALL = 10 * MOST_PACKAGES

/**
 * Returns the statements that store a check's results: the listed containers, the findings of each target, and the
 * targets that did not respond.
 */
async function resultStatements(target: string, mark: string, ended: EndedJob): Promise<Statement[]> {
  const { db, row, cancelled, failure } = ended
  let containers: Awaited<ReturnType<typeof parseContainers>> | undefined
  const reports = new Map<string, Report>()
  const templates: Statement[] = []
  const storage: Statement[] = []
  let total = 0
  await readBlocks(pieces(db, row), mark, async ({ name, code, lines }) => {
    if (name === 'list') {
      if (code === 0) containers = await parseContainers(lines.join('\n'))
      return
    }
    if (name === 'storage') {
      if (code === 0) storage.push(...(await storageStatements(row, lines)))
      return
    }
    const stopped = /^flags:(\d{3,9})$/.exec(name)?.[1]
    if (stopped !== undefined) {
      const isTemplate = lines.includes('template: 1')
      if (code === 0) templates.push(saveTemplate(row, { vmid: Number(stopped), isTemplate }))
      return
    }
    const report = await readReport(lines, name === 'host' ? 'host' : 'container')
    total += report?.packages.length ?? 0
    if (report && total <= MOST_IN_ALL) reports.set(name, report)
  })

  const at = row.started_at
  const findings: Statement[] = []
  const found = await withVulnerabilities(db, reports)
  for (const [name, { summary, packages, refreshed, standing }] of found) {
    // A target may have megabytes of packages.
    await nextTurn()
    const stored = { summary: JSON.stringify(summary), packages: JSON.stringify(packages) }
    findings.push(saveFindings(row, { target: name, at, listsAt: refreshed ? at : null, ...stored }))
    if (standing) findings.push(saveTargetStanding(row, { target: name, at, facts: JSON.stringify(standing) }))
  }
  await nextTurn()
  const list = containers ? saveContainers(containers, at, row) : []
  const missing = (await coveredTargets(db, target, containers)).filter((name) => !reports.has(name))
  // A cancelled check may not have reached them: that says nothing against their former results.
  const silent = cancelled ? [] : missing
  const isAway = failure !== undefined && AWAY.includes(failure.code)
  const names = new Map(containers?.map(({ vmid, name }) => [`lxc:${vmid}`, name]))
  return [
    ...list,
    ...templates,
    ...storage,
    // They compare with the former findings.
    ...(await checkEvents(ended, { target, found, silent, names, isAway })),
    ...findings,
    ...silent.map((name) => markUnanswered(row, name)),
    ...(missing.length > 0 ? [noteParts(row, missing.map(unansweredPart))] : []),
  ]
}

/** Returns the statements that store what the host's configuration says of storages and snapshots. */
async function storageStatements(row: EndedJob['row'], lines: readonly string[]): Promise<Statement[]> {
  const at = row.started_at
  const report = await readStorage(lines, at)
  if (!report) return []
  const { storages, containers } = report
  return [
    ...(storages ? [saveHostStorage(row, { at, facts: JSON.stringify({ storages }) })] : []),
    ...(containers.length > 0 ? saveStorage(row, { at, containers }) : []),
  ]
}

/** The part that records a target without a new result. */
function unansweredPart(target: string): JobPart {
  return { id: target, name: '', state: UNANSWERED, code: null }
}

/**
 * Returns the targets that a check covers: not a stopped container, but one that is not listed. For `all`, these are the running containers, or the ones known to run when
 * the host cannot list them.
 */
async function coveredTargets(
  db: Database,
  target: string,
  containers: { vmid: number; status: string }[] | undefined,
) {
  const running = containers?.filter(({ status }) => status === 'running').map(({ vmid }) => `lxc:${vmid}`)
  const isStopped = containers?.some(({ vmid, status }) => `lxc:${vmid}` === target && status !== 'running')
  if (target !== 'all') return isStopped ? [] : [target]
  const isKnown = ({ vmid, status }: CheckRow) => vmid !== null && status === 'running'
  const known = running ?? (await readChecks(db)).filter(isKnown).map((each) => each.target)
  return ['host', ...known]
}

/** Bytes of stored output read at a time. */
const PIECE = 256 * 1024

async function* pieces(
  db: Database,
  { id, output_from, output_size }: EndedJob['row'],
): AsyncGenerator<Buffer, void, undefined> {
  for (let at = output_from; at < output_size; ) {
    const chunks = await readOutput(db, id, at, Math.min(PIECE, output_size - at))
    const last = chunks.at(-1)
    if (!last) return
    at = last.offset + last.bytes.length
    for (const { bytes } of chunks) yield bytes
  }
}
