import { randomBytes } from 'node:crypto'
import * as z from 'zod'
import { type CheckRow, listed, looked, readChecks, runningCheck, unanswered } from '../../db/checks.ts'
import type { Database, Statement } from '../../db/client.ts'
import { type JobPart, noteParts } from '../../db/jobs.ts'
import { readOutput } from '../../db/output.ts'
import type { Services } from '../../runtime/context.ts'
import { Failure } from '../../runtime/errors.ts'
import { defineJob, type EndedJob } from '../../runtime/job-kind.ts'
import { sudoFor } from './apt.ts'
import { readFrames } from './check-frames.ts'
import { MOST_PACKAGES, type Report, readReport } from './check-report.ts'
import { type CheckScope, lookAt } from './check-script.ts'
import { parseContainers } from './containers.ts'
import { SILENT } from './job-record.ts'
import { parseTarget } from './target.ts'
import { UPDATE_EVENT } from './upgrade.ts'

/**
 * The job that looks at one target, or at all of them. It stands in no queue: a check that meets an upgrade says that apt is
 * at work. What it has found is read from its stored output when its end is recorded, in the same transaction.
 */
export const checkJob = defineJob({
  kind: 'check',
  event: UPDATE_EVENT,
  args: z.object({ target: z.string(), mark: z.string() }),
  queue: () => '',
  bounds: { ofTarget: 3, ofUser: 10, ofAll: 50 },

  async command({ target, mark }, host) {
    return lookAt(scopeOf(target), mark, sudoFor(await host.elevation()))
  },

  result: ({ target, mark }, ended) => found(target, mark, ended),
})

/** Starts a check of a target, or tells of the one that is under way there. */
export async function startCheck(
  { db, jobs }: Pick<Services, 'db' | 'jobs'>,
  { target, startedBy, announce }: { target: string; startedBy: number; announce(id: string): Statement },
): Promise<string> {
  const running = await runningCheck(db, target)
  if (running !== undefined) return running
  const mark = `ops-panel-${randomBytes(12).toString('hex')}`
  try {
    return await jobs.start({ kind: checkJob.kind, args: { target, mark }, target, startedBy, announce })
  } catch (error) {
    // Another instance was faster: the database lets one in.
    const other = await runningCheck(db, target)
    if (other === undefined) throw error
    return other
  }
}

function scopeOf(text: string): CheckScope {
  const target = parseTarget(text)
  if (!target) throw new Failure('target_invalid', { values: { target: text } })
  return target.kind === 'container' ? { scope: 'container', id: target.id } : { scope: target.kind }
}

/** Of all targets together: what is more is told as not answered. */
const MOST_IN_ALL = 10 * MOST_PACKAGES

/** What a check changes: the containers that there are, what was found where, and who did not answer. */
async function found(target: string, mark: string, { db, row, cancelled }: EndedJob): Promise<Statement[]> {
  let containers: Awaited<ReturnType<typeof parseContainers>> | undefined
  const reports = new Map<string, Report>()
  let total = 0
  await readFrames(pieces(db, row), mark, async ({ name, code, lines }) => {
    if (name === 'list') {
      if (code === 0) containers = await parseContainers(lines.join('\n'))
      return
    }
    const report = await readReport(lines, name === 'host' ? 'host' : 'container')
    total += report?.packages.length ?? 0
    if (report && total <= MOST_IN_ALL) reports.set(name, report)
  })

  const at = row.started_at
  const told = [...reports].map(([name, { summary, packages, refreshed }]) =>
    looked(row, {
      target: name,
      at,
      listsAt: refreshed ? at : null,
      summary: JSON.stringify(summary),
      packages: JSON.stringify(packages),
    }),
  )
  const places = containers ? listed(containers, row) : []
  // Nobody was asked who did not answer because somebody wanted it to end.
  const silent = cancelled ? [] : (await meant(db, target, containers)).filter((name) => !reports.has(name))
  return [
    ...places,
    ...told,
    ...silent.map((name) => unanswered(row, name)),
    ...(silent.length > 0 ? [noteParts(row, silent.map(silentPart))] : []),
  ]
}

/** How a target that did not answer is noted with the check. */
function silentPart(target: string): JobPart {
  return { id: target, name: '', state: SILENT, code: null }
}

/** Which targets a check was to look at: of all, those that run, or that were known where they could not be listed. */
async function meant(db: Database, target: string, containers: { vmid: number; status: string }[] | undefined) {
  const running = containers?.filter(({ status }) => status === 'running').map(({ vmid }) => `lxc:${vmid}`)
  if (target !== 'all') return target === 'host' || !running || running.includes(target) ? [target] : []
  const isKnown = ({ vmid, status }: CheckRow) => vmid !== null && status === 'running'
  const known = running ?? (await readChecks(db)).filter(isKnown).map((each) => each.target)
  return ['host', ...known]
}

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
