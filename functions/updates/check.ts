import * as z from 'zod'
import { type CheckRow, runningCheck, type UpgradeOfAll } from '../../db/checks.ts'
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

/** The host before its first check has ended. */
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

/** A check that was dated by a clock ahead of time would never grow old: it counts as none. */
const NEVER = { checked_at: null, lists_at: null, job_id: null, unanswered: false, summary: null }
/** Instances differ by less. */
const SKEW_MS = 5 * 60_000

function isAhead(at: string | null, now: Date): boolean {
  return at !== null && Date.parse(at) - now.getTime() > SKEW_MS
}

/** A stored check as it is told at that moment; `ofAll` are the last upgrades of every container, newest first. */
export function checkOf(stated: CheckRow, ofAll: readonly UpgradeOfAll[], now: Date): CheckSummary {
  const row = {
    ...stated,
    ...(isAhead(stated.lists_at, now) && { lists_at: null }),
    ...(isAhead(stated.checked_at, now) && NEVER),
  }
  const read = row.summary === null ? undefined : Summary.safeParse(JSON.parse(row.summary))
  const stored = read?.data ?? NOTHING
  const came = row.vmid === null ? [] : ofAll.filter((each) => mayHaveCome(each, String(row.vmid)))
  const last_upgrade = lastUpgradeOf(row, came)
  const changed_at = laterOf(row.touched_at, came.find(({ launched }) => launched)?.finished_at ?? null)
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

function laterOf(one: string | null, other: string | null): string | null {
  return one === null || (other !== null && other > one) ? other : one
}

/** Whether an upgrade of every container has come to this one, as far as that is known: it ended there, or was there when it ended. */
function mayHaveCome({ status, parts }: UpgradeOfAll, id: string): boolean {
  if (parts === null) return true
  const state = parts.find((part) => part.id === id)?.state
  if (state !== 'waiting') return state === 'done' || state === 'failed'
  // They have their turns in this order, and one whose end was not noted was the last. What has come to its end has been at all of them.
  return status === 'success' || parts.find((part) => part.state === 'waiting')?.id === id
}

/**
 * The newest upgrade that has ended, of the target alone or of every container, whose exit code is 0 whatever became of each: what was
 * noted of this one counts.
 */
function lastUpgradeOf(row: CheckRow, came: readonly UpgradeOfAll[]): CheckSummary['last_upgrade'] {
  const { own_id, own_at, own_status, own_code, own_error } = row
  const isAlone = own_id !== null && own_at !== null
  // Of one that has noted nothing it is not known where it came: only where there was none of the target alone.
  const among = isAlone ? came.find(({ parts, finished_at }) => parts !== null && finished_at > own_at) : came[0]
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
