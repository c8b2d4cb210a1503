import * as z from 'zod'
import { type CheckRow, runningCheck, type UpgradeOfAll } from '../../db/checks.ts'
import type { JobRow } from '../../db/jobs.ts'
import type { Database } from '../../db/libsql/database.ts'
import { JobId } from '../../jobs/jobs.ts'
import { Target } from '../hypervisor/target.ts'
import { Finding, findingOf } from './finding.ts'

const text = z.string()
const count = z.int().min(0)

/** A package with a newer version. `status` says whether an upgrade would install it; `reason` says why not. */
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

/** The stored results of an inspection. Findings that depend on the current time are added when a response is built. */
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

/** The state of a target after its last check, without its packages. */
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

/** The example of the documents. */
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

const EMPTY_SUMMARY: Summary = {
  manager: null,
  os: null,
  counts: NO_COUNTS,
  download_bytes: null,
  disk_bytes: null,
  findings: [],
  reboot: { required: null, reasons: [] },
  services: [],
}

/** Package lists older than this are out of date. */
export const LISTS_STALE_MS = 24 * 60 * 60_000

/** Returns the row of the host before its first check has ended. */
export async function uncheckedHost(db: Database): Promise<CheckRow> {
  return { ...UNCHECKED_HOST, checking: (await runningCheck(db, 'host')) !== undefined }
}

const UNCHECKED_HOST: CheckRow = {
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
}

/** Replaces the result of a check whose date lies in the future: it would never become stale. */
const NOT_CHECKED = { checked_at: null, lists_at: null, job_id: null, unanswered: false, summary: null }
/** The clocks of two instances may differ by less than this. */
const SKEW_MS = 5 * 60_000

function isAhead(at: string | null, now: Date): boolean {
  return at !== null && Date.parse(at) - now.getTime() > SKEW_MS
}

/** Returns the check as it stands at `now`. `ofAll` holds the last jobs with the target `all`, newest first. */
export function checkOf(storedRow: CheckRow, ofAll: readonly UpgradeOfAll[], now: Date): CheckSummary {
  const row = {
    ...storedRow,
    ...(isAhead(storedRow.lists_at, now) && { lists_at: null }),
    ...(isAhead(storedRow.checked_at, now) && NOT_CHECKED),
  }
  const read = row.summary === null ? undefined : Summary.safeParse(JSON.parse(row.summary))
  const stored = read?.data ?? EMPTY_SUMMARY
  const reachedBy = row.vmid === null ? [] : ofAll.filter((each) => mayHaveReached(each, String(row.vmid)))
  const last_upgrade = lastUpgradeOf(row, reachedBy)
  const changed_at = laterOf(row.touched_at, reachedBy.find(({ launched }) => launched)?.finished_at ?? null)
  const isStopped = row.vmid !== null && row.status !== 'running'
  const isOld = row.lists_at === null || now.getTime() - Date.parse(row.lists_at) > LISTS_STALE_MS
  const findings = [...stored.findings]
  if (isStopped) findings.push(findingOf('container_stopped'))
  const asked = row.checked_at !== null && stored.manager === 'apt'
  if (asked && isOld && !findings.some(({ code, repository }) => code === 'lists_stale' && repository === null))
    findings.push(findingOf('lists_stale'))
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
    // The findings are from before the last upgrade.
    if (changed_at !== null && changed_at > checked_at) return 'unknown'
    if (stored.manager !== 'apt') return 'unsupported'
    if (findings.some(({ severity }) => severity === 'blocking')) return 'blocked'
    if (findings.some(({ severity }) => severity === 'warning') || last_upgrade?.outcome === 'failed')
      return 'attention'
    const { upgrade, install, kept_back } = stored.counts
    return upgrade + install + kept_back > 0 ? 'ready' : 'up_to_date'
  }
}

function laterOf(one: string | null, other: string | null): string | null {
  return one === null || (other !== null && other > one) ? other : one
}

/**
 * Whether an upgrade of all containers may have reached this one: its part ended, or it was the current one when the
 * job ended.
 */
function mayHaveReached({ status, parts }: UpgradeOfAll, id: string): boolean {
  if (parts === null) return true
  const state = parts.find((part) => part.id === id)?.state
  if (state !== 'waiting') return state === 'done' || state === 'failed'
  // Containers are upgraded in this order, so the first part without a result was the last one reached. A successful
  // job has reached every container.
  return status === 'success' || parts.find((part) => part.state === 'waiting')?.id === id
}

/**
 * Returns the newest finished upgrade of the target, alone or with all containers. An upgrade of all containers exits
 * with 0 whatever each result is, so the part of this container decides.
 */
function lastUpgradeOf(row: CheckRow, reachedBy: readonly UpgradeOfAll[]): CheckSummary['last_upgrade'] {
  const { own_id, own_at, own_status, own_code, own_error } = row
  const isAlone = own_id !== null && own_at !== null
  // An upgrade without recorded parts may not have reached this target, so it counts only where the target has no
  // upgrade of its own.
  const among = isAlone
    ? reachedBy.find(({ parts, finished_at }) => parts !== null && finished_at > own_at)
    : reachedBy[0]
  if (among) {
    const part = among.parts?.find(({ id }) => id === String(row.vmid))
    const { id: job_id, finished_at, status, exit_code, error_code } = among
    if (part?.state === 'done') return { job_id, finished_at, exit_code: part.code, outcome: 'done' }
    if (part?.state === 'failed') return { job_id, finished_at, exit_code: part.code, outcome: 'failed' }
    const ended = outcomeOf(status, part ? null : exit_code, error_code)
    if (!part || ended !== 'done') return { job_id, finished_at, exit_code: part ? null : exit_code, outcome: ended }
  }
  if (!isAlone) return null
  const outcome = outcomeOf(own_status, own_code, own_error)
  return { job_id: own_id, finished_at: own_at, exit_code: own_code, outcome }
}

function outcomeOf(status: string | null, code: number | null, error: string | null): 'done' | 'failed' | 'cancelled' {
  if (error === 'cancelled') return 'cancelled'
  return status === 'error' || (code ?? 0) !== 0 ? 'failed' : 'done'
}

/** The state of a target that did not respond to a check. */
export const UNANSWERED = 'unanswered'

/** Returns the targets that did not respond to a check. */
export function uncheckedIn({ parts }: Pick<JobRow, 'parts'>): string[] {
  return parts?.flatMap(({ id, state }) => (state === UNANSWERED ? [id] : [])) ?? []
}
