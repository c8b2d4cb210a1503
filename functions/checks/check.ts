import * as z from 'zod'
import { type CheckRow, runningCheck, type UpgradeOfAll } from '../../db/checks.ts'
import type { JobRow } from '../../db/jobs.ts'
import type { Database } from '../../db/libsql/database.ts'
import { JobId } from '../../jobs/jobs.ts'
import { FoundApplication, MOST_APPLICATIONS } from '../applications/application.ts'
import { endOfLifeFindings, placeFindings } from '../findings/current-findings.ts'
import { Finding, findingOf, Interrupted } from '../findings/finding.ts'
import { Target } from '../hypervisor/target.ts'
import { MANAGER_NAMES } from '../managers/manager.ts'
import { PackageUpdate } from '../managers/package-update.ts'
import { protectionFindings } from '../protection/storage-facts.ts'
import { OutdatedService } from '../restarts/outdated-services.ts'
import { type Standing, standingAt, UNKNOWN_STANDING } from '../restarts/standing.ts'
import { interruptedBy, standingFindings } from '../restarts/standing-findings.ts'
import { isOpen, LastUpgrade, lastUpgradeOf, mayHaveReached } from './last-upgrade.ts'

const text = z.string()
const count = z.int().min(0)

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
  manager: z.enum(MANAGER_NAMES).nullable(),
  /** Whether the manager could say what an upgrade would change. Earlier versions could ask apt alone. */
  supported: z.boolean().nullable().default(null),
  os: z
    .object({
      id: text,
      version_id: text.nullable(),
      name: text,
      codename: text.nullable().default(null),
      end_of_life: text.nullable(),
    })
    .nullable(),
  counts: Counts,
  /** The number of planned packages that fix a vulnerability which is known to be exploited. */
  exploited: count.default(0),
  download_bytes: count.nullable(),
  disk_bytes: z.int().nullable(),
  findings: z.array(Finding),
  reboot: z.object({ required: z.boolean().nullable(), reasons: z.array(text) }),
  services: z.array(OutdatedService),
  services_unseen: z.boolean().default(false).meta({
    description:
      'Whether services may be missing, because the service account sees only its own processes, or because not every process could be read.',
  }),
  /** The changed packages that the panel itself may depend on. */
  vital: z.array(PackageUpdate.pick({ name: true, from: true, to: true, action: true, status: true })).default([]),
  /** The applications beside the packages, which `GET /api/updates/applications` shows. */
  applications: z.array(FoundApplication).max(MOST_APPLICATIONS).default([]),
})
export type Summary = z.infer<typeof Summary>

/** The state of a target after its last check, without its packages. */
export const CheckSummary = Summary.omit({ vital: true, supported: true, applications: true }).extend({
  services: z.array(Summary.shape.services.element.extend({ interrupts: Interrupted.nullable() })),
  target: Target,
  name: text,
  state: CheckState,
  checked_at: text.nullable(),
  lists_at: text.nullable(),
  job_id: JobId.nullable(),
  checking: z.boolean(),
  changed_at: text.nullable(),
  last_upgrade: LastUpgrade.nullable(),
})
export type CheckSummary = z.infer<typeof CheckSummary>

export const Check = CheckSummary.extend({ packages: z.array(PackageUpdate) })
export type Check = z.infer<typeof Check>

/** The example of the documents. */
export const EXAMPLE_CHECK: CheckSummary = {
  target: 'lxc:101',
  name: 'web',
  manager: 'apt',
  os: {
    id: 'debian',
    version_id: '12',
    name: 'Debian GNU/Linux 12 (bookworm)',
    codename: 'bookworm',
    end_of_life: '2028-06-30',
  },
  state: 'ready',
  checked_at: '2026-03-01T12:00:00.000Z',
  lists_at: '2026-03-01T12:00:00.000Z',
  job_id: '1772366400-k3x9q2pa',
  counts: { ...NO_COUNTS, upgrade: 2, security: 1 },
  exploited: 0,
  download_bytes: 1_482_752,
  disk_bytes: 24_576,
  findings: [],
  reboot: { required: null, reasons: [] },
  services: [],
  services_unseen: false,
  checking: false,
  changed_at: null,
  last_upgrade: null,
}

const EMPTY_SUMMARY: Summary = {
  manager: null,
  supported: null,
  os: null,
  counts: NO_COUNTS,
  exploited: 0,
  download_bytes: null,
  disk_bytes: null,
  findings: [],
  reboot: { required: null, reasons: [] },
  services: [],
  services_unseen: false,
  vital: [],
  applications: [],
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
  lock: null,
  template: false,
  checked_at: null,
  lists_at: null,
  job_id: null,
  unanswered: false,
  summary: null,
  checking: false,
  touched_at: null,
  repaired_at: null,
  own_id: null,
  own_application: null,
  own_status: null,
  own_code: null,
  own_error: null,
  own_at: null,
  own_warned: false,
  own_outcome: null,
  own_protected: null,
  storage: null,
  before: null,
}

/** Replaces the result of a check whose date lies in the future: it would never become stale. */
const NOT_CHECKED = { checked_at: null, lists_at: null, job_id: null, unanswered: false, summary: null }
/** The clocks of two instances may differ by less than this. */
const SKEW_MS = 5 * 60_000

function isAhead(at: string | null, now: Date): boolean {
  return at !== null && Date.parse(at) - now.getTime() > SKEW_MS
}

/**
 * Returns the check as it stands at `now`. `ofAll` holds the last jobs with the target `all`, newest first; `standing` is
 * the ground that the panel stands on.
 */
export function checkOf(
  storedRow: CheckRow,
  ofAll: readonly UpgradeOfAll[],
  now: Date,
  standing: Standing = UNKNOWN_STANDING,
): CheckSummary {
  const row = {
    ...storedRow,
    ...(isAhead(storedRow.lists_at, now) && { lists_at: null }),
    ...(isAhead(storedRow.touched_at, now) && { touched_at: null }),
    ...(isAhead(storedRow.checked_at, now) && NOT_CHECKED),
  }
  const read = row.summary === null ? undefined : Summary.safeParse(JSON.parse(row.summary))
  const { vital, supported, applications: _, ...stored } = read?.data ?? EMPTY_SUMMARY
  const isSupported = supported ?? stored.manager === 'apt'
  const stands = standingAt(standing, row.target)
  const reachedBy = row.vmid === null ? [] : ofAll.filter((each) => mayHaveReached(each, String(row.vmid)))
  const last_upgrade = lastUpgradeOf(row, reachedBy)
  const ofAllAt = reachedBy.find(({ launched, finished_at }) => launched && !isAhead(finished_at, now))?.finished_at
  const changed_at = laterOf(row.touched_at, ofAllAt ?? null)
  const isStopped = row.vmid !== null && row.status !== 'running'
  const isOld = row.lists_at === null || now.getTime() - Date.parse(row.lists_at) > LISTS_STALE_MS
  const findings = [
    ...placeFindings(row),
    ...stored.findings,
    ...protectionFindings(row),
    ...standingFindings(stands, vital),
    ...endOfLifeFindings(stored.os, now),
  ]
  const asked = row.checked_at !== null && isSupported
  if (asked && isOld && !findings.some(({ code, repository }) => code === 'lists_stale' && repository === null))
    findings.push(findingOf('lists_stale'))
  const { target, checked_at, lists_at, job_id, checking } = row
  const services = stored.services.map((each) => ({ ...each, interrupts: interruptedBy(each.name, stands) }))
  return {
    ...stored,
    services,
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
    if (!isSupported) return 'unsupported'
    if (findings.some(({ severity }) => severity === 'blocking')) return 'blocked'
    if (findings.some(({ severity }) => severity === 'warning')) return 'attention'
    const { upgrade, install } = stored.counts
    // A later repair, or a later check that finds nothing left to upgrade, proves that a failure is over.
    const failed_at =
      last_upgrade?.outcome === 'failed' && !isAhead(last_upgrade.finished_at, now) ? last_upgrade.finished_at : null
    const isRepaired = failed_at !== null && row.repaired_at !== null && row.repaired_at > failed_at
    // Packages prove nothing about an application.
    const isOfPackages = last_upgrade?.application === null
    const isProven =
      failed_at !== null && isOfPackages && failed_at < checked_at && (isRepaired || upgrade + install === 0)
    if (failed_at !== null && !isProven) return 'attention'
    // No check can see what an upgrade broke.
    if (last_upgrade && isOpen(last_upgrade, checked_at)) return 'attention'
    const needsRemoval = findings.some(({ code }) => code === 'kept_back_remove')
    return upgrade + install > 0 || needsRemoval ? 'ready' : 'up_to_date'
  }
}

function laterOf(one: string | null, other: string | null): string | null {
  return one === null || (other !== null && other > one) ? other : one
}

/** The state of a target of which a check brought no new result. */
export const UNANSWERED = 'unanswered'

/** Returns the targets that did not respond to a check, or that it did not reach before it was cancelled. */
export function uncheckedIn({ parts }: Pick<JobRow, 'parts'>): string[] {
  return parts?.flatMap(({ id, state }) => (state === UNANSWERED ? [id] : [])) ?? []
}
