import * as z from 'zod'
import { type CheckRow, readCheckedPackages } from '../../db/checks.ts'
import type { Database } from '../../db/client.ts'
import { JobId } from '../../runtime/job-id.ts'
import { Finding, findingOf } from './finding.ts'
import { Target } from './target.ts'

const text = z.string()
const count = z.int().min(0)

/** A package that an upgrade would change, or would not and why. */
export const PackageUpdate = z.object({
  name: text,
  arch: text,
  from: text.nullable(),
  to: text.nullable(),
  action: z.enum(['upgrade', 'install', 'remove', 'downgrade']),
  origin: text.nullable(),
  security: z.boolean(),
  size: count.nullable(),
  source: text.nullable(),
  cves: z.array(z.object({ id: text, urgency: text.nullable(), known_exploited: z.boolean() })),
  status: z.enum(['planned', 'held', 'phased', 'kept_back']),
  reason: text.nullable(),
})
export type PackageUpdate = z.infer<typeof PackageUpdate>

export const Counts = z.object({
  upgrade: count,
  security: count,
  install: count,
  remove: count,
  held: count,
  phased: count,
  kept_back: count,
})

const NO_COUNTS = { upgrade: 0, security: 0, install: 0, remove: 0, held: 0, phased: 0, kept_back: 0 }

export const CheckState = z.enum(['up_to_date', 'ready', 'attention', 'blocked', 'stopped', 'unsupported', 'unknown'])
type CheckState = z.infer<typeof CheckState>

/** What a look finds, as it is stored: what follows from the time that has gone by is added when it is told. */
export const Summary = z.object({
  manager: z.enum(['apt', 'apk', 'dnf', 'zypper', 'pacman']).nullable(),
  os: z.object({ id: text, version_id: text.nullable(), name: text, end_of_life: text.nullable() }).nullable(),
  counts: Counts,
  download_bytes: count.nullable(),
  disk_bytes: z.int().nullable(),
  findings: z.array(Finding),
  reboot: z.object({ required: z.boolean().nullable(), reasons: z.array(text) }),
  services: z.array(z.object({ name: text, reason: text })),
})
export type Summary = z.infer<typeof Summary>

/** A target as the last check found it, without its packages. */
export const CheckSummary = Summary.extend({
  target: Target,
  name: text,
  state: CheckState,
  checked_at: text.nullable(),
  lists_at: text.nullable(),
  job_id: JobId.nullable(),
  checking: z.boolean(),
  changed_at: text.nullable(),
  last_upgrade: z
    .object({
      job_id: JobId,
      outcome: z.enum(['done', 'failed', 'cancelled']),
      exit_code: z.int().nullable(),
      finished_at: text,
    })
    .nullable(),
})
export type CheckSummary = z.infer<typeof CheckSummary>

export const Check = CheckSummary.extend({ packages: z.array(PackageUpdate) })
export type Check = z.infer<typeof Check>

/** One, for the documents. */
export const EXAMPLE_CHECK: CheckSummary = {
  target: 'lxc:101',
  name: 'web',
  manager: 'apt',
  os: { id: 'debian', version_id: '12', name: 'Debian GNU/Linux 12 (bookworm)', end_of_life: null },
  state: 'ready',
  checked_at: '2026-03-01T12:00:00.000Z',
  lists_at: '2026-03-01T12:00:00.000Z',
  job_id: '1772366400-k3x9q2pa',
  counts: { ...NO_COUNTS, upgrade: 2, security: 1 },
  download_bytes: null,
  disk_bytes: null,
  findings: [],
  reboot: { required: null, reasons: [] },
  services: [],
  checking: false,
  changed_at: null,
  last_upgrade: null,
}

const NOTHING: Summary = {
  manager: null,
  os: null,
  counts: NO_COUNTS,
  download_bytes: null,
  disk_bytes: null,
  findings: [],
  reboot: { required: null, reasons: [] },
  services: [],
}

/** Lists that are older say nothing of what waits today. */
export const LISTS_STALE_MS = 24 * 60 * 60_000

/** The host before its first check. */
export const UNCHECKED_HOST: CheckRow = {
  target: 'host',
  vmid: null,
  name: '',
  status: 'running',
  checked_at: null,
  lists_at: null,
  job_id: null,
  unanswered: false,
  summary: null,
  checking: false,
  touched_at: null,
  own_id: null,
  own_status: null,
  own_code: null,
  own_error: null,
  own_at: null,
  all_id: null,
  all_status: null,
  all_code: null,
  all_error: null,
  all_at: null,
  all_launched: null,
  all_noted: false,
  all_state: null,
  all_part_code: null,
}

/** A stored check as it is told at that moment. */
export function checkOf(row: CheckRow, now: Date): CheckSummary {
  const read = row.summary === null ? undefined : Summary.safeParse(JSON.parse(row.summary))
  const stored = read?.data ?? NOTHING
  const last_upgrade = lastUpgradeOf(row)
  const changed_at = laterOf(row.touched_at, row.all_launched === 1 && !isLeftOut(row) ? row.all_at : null)
  const isStopped = row.vmid !== null && row.status !== 'running'
  const isOld = row.lists_at === null || now.getTime() - Date.parse(row.lists_at) > LISTS_STALE_MS
  const findings = [...stored.findings]
  if (isStopped) findings.push(findingOf('container_stopped'))
  const asked = row.checked_at !== null && stored.manager === 'apt'
  if (asked && isOld && !findings.some(({ code }) => code === 'lists_stale')) findings.push(findingOf('lists_stale'))
  const { target, checked_at, lists_at, job_id, checking } = row
  return {
    ...stored,
    target,
    name: row.vmid === null ? 'Hôte' : row.name,
    state: stateOf(),
    checked_at,
    lists_at,
    job_id,
    checking,
    findings,
    changed_at: changed_at !== null && (checked_at === null || changed_at > checked_at) ? changed_at : null,
    last_upgrade,
  }

  function stateOf(): CheckState {
    if (isStopped) return 'stopped'
    if (checked_at === null || row.unanswered || read?.success === false) return 'unknown'
    // What was found before an upgrade says nothing of what is there after it.
    if (changed_at !== null && changed_at > checked_at) return 'unknown'
    if (stored.manager !== 'apt') return 'unsupported'
    if (findings.some(({ severity }) => severity === 'blocking')) return 'blocked'
    if (findings.some(({ severity }) => severity === 'warning') || last_upgrade?.outcome === 'failed')
      return 'attention'
    const { upgrade, install, kept_back } = stored.counts
    return upgrade + install + kept_back > 0 ? 'ready' : 'up_to_date'
  }
}

/** The packages that were found with a check. */
export async function packagesOf(db: Database, target: string): Promise<PackageUpdate[]> {
  const stored = await readCheckedPackages(db, target)
  return stored === undefined ? [] : z.array(PackageUpdate).parse(JSON.parse(stored))
}

function laterOf(one: string | null, other: string | null): string | null {
  return one === null || (other !== null && other > one) ? other : one
}

/** Whether the last upgrade of every container did not come to this one, or passed it by because it was not running. */
function isLeftOut({ all_noted, all_state }: CheckRow): boolean {
  return all_noted && all_state !== 'done' && all_state !== 'failed'
}

/**
 * The newest upgrade that has ended, of the target alone or of every container, whose exit code is 0 whatever became of each: what was
 * noted of this one counts.
 */
function lastUpgradeOf(row: CheckRow): CheckSummary['last_upgrade'] {
  const { own_id, own_at, all_id, all_at, all_noted, all_part_code } = row
  const isNewer = own_at === null || (all_at !== null && all_at > own_at)
  const isAll = all_noted ? isNewer && !isLeftOut(row) : own_at === null
  const [job_id, finished_at, status, exit_code, error] = !isAll
    ? [own_id, own_at, row.own_status, row.own_code, row.own_error]
    : all_noted
      ? [all_id, all_at, row.all_state === 'failed' ? 'error' : 'success', all_part_code, null]
      : [all_id, all_at, row.all_status, row.all_code, row.all_error]
  if (job_id === null || finished_at === null) return null
  const failed = status === 'error' || (exit_code ?? 0) !== 0
  return { job_id, finished_at, exit_code, outcome: error === 'cancelled' ? 'cancelled' : failed ? 'failed' : 'done' }
}
