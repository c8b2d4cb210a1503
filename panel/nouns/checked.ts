import type { Answer } from '../../client/index.ts'
import type { Ending } from './ending.ts'

type Told = Answer<'GET /api/updates/checks'>['checks'][number]
/** An upgrade of a target that has ended. */
export type LastUpgrade = NonNullable<Told['last_upgrade']>
/**
 * The last result of a target. `used` is the share of its disk that is used, only where the disk is nearly full. `unfit` is the newest
 * upgrade if it changed nothing, because its plan did not fit any more. `harm` is the newest upgrade if something did not work any more after
 * it, and nobody has accepted that.
 */
export type Check = Told & { used?: number | undefined; unfit?: LastUpgrade | undefined; harm?: Harm | undefined }

/** An upgrade after which something did not work any more. */
export interface Harm {
  job_id: string
  ending: Exclude<Ending, 'kept'>
  finished_at: string
  /** The things that did not work any more; empty where only their count is known. */
  regressions: readonly { kind: RegressionKind; name: string }[]
  count: number
}

export type RegressionKind = NonNullable<Answer<'GET /api/updates/jobs'>['jobs']>[number]['regressions'][number]['kind']

export type Finding = Check['findings'][number]

/** How a row shows a target: its shape and its word. */
export interface Shown {
  kind: 'ok' | 'ready' | 'warn' | 'stale' | 'err' | 'off' | 'unknown' | 'barred' | 'back'
  word:
    | 'stopped'
    | 'unsupported'
    | 'unknown'
    | 'blocked'
    | 'failed'
    | 'stale'
    | 'attention'
    | 'ready'
    | 'upToDate'
    | 'broken'
    | 'back'
}

/** The number of installed packages with a newer version that an upgrade installs, those behind a removal included. */
export function updatesIn({ counts, findings }: Check): number {
  const behind = findings.find(({ code }) => code === 'kept_back_remove')
  return counts.upgrade + (behind ? Math.min(counts.kept_back, behind.packages.length || counts.kept_back) : 0)
}

/** Whether the package manager has left packages unfinished on this target. */
export function isUnfinished({ findings }: Check): boolean {
  return findings.some(({ code }) => code === 'dpkg_interrupted')
}

/** Whether a running target must not be shown as healthy. */
export function isBroken(check: Check): boolean {
  if (check.state === 'unsupported') return false
  return isHarmed(check) || check.last_upgrade?.outcome === 'failed' || check.state === 'blocked'
}

/** Whether something does not work since an upgrade, and somebody has to decide or to help. */
export function isHarmed({ harm }: Check): boolean {
  return harm !== undefined && harm.ending !== 'back'
}

/** Whether a target has to be restarted for its updates to take effect. */
export function needsReboot({ reboot, findings }: Check): boolean {
  return reboot.required === true || findings.some(({ code }) => code === 'reboot_required')
}

/** Whether a target needs somebody although its packages are in order: a full disk, a restart, an exploited vulnerability. */
export function isPressing(check: Check): boolean {
  if (check.state === 'stopped') return false
  return check.used !== undefined || needsReboot(check) || check.exploited > 0
}

/** Whether an upgrade can start: the target runs, has a known package manager, and has no blocking problem, as far as is known. */
export function canBeUpgraded({ state }: Pick<Check, 'state'>): boolean {
  return state !== 'stopped' && state !== 'unsupported' && state !== 'blocked'
}

export function canBeRepaired({ state, findings }: Check): boolean {
  return state !== 'stopped' && findings.some(({ remedy }) => remedy?.action === 'repair_dpkg')
}

/** Whether the updates of a running target are unknown today. */
export function isUncertain({ state }: Check): boolean {
  return state === 'unknown' || state === 'attention' || state === 'blocked'
}

/** Whether the target did not answer its last check. */
export function isUnanswered({ state, changed_at, checked_at, job_id }: Check): boolean {
  return state === 'unknown' && changed_at === null && (checked_at !== null || job_id !== null)
}

/** Shows the state that the service gives, with a more exact word for some reasons. Only `up_to_date` shows as ok. */
export function shownOf(check: Check): Shown {
  const { state, findings, last_upgrade, harm } = check
  if (isHarmed(check)) return { kind: 'err', word: 'broken' }
  if (state === 'stopped') return { kind: 'off', word: 'stopped' }
  // An upgrade of all tries these containers too; their failure says nothing about them, and a retry does not help.
  if (state === 'unsupported') return { kind: 'barred', word: 'unsupported' }
  if (state === 'blocked') return { kind: 'err', word: 'blocked' }
  if (last_upgrade?.outcome === 'failed' && (state === 'attention' || state === 'unknown'))
    return { kind: 'err', word: 'failed' }
  if (harm) return { kind: 'back', word: 'back' }
  if (state === 'unknown') return { kind: 'unknown', word: 'unknown' }
  if (state !== 'attention' && isPressing(check)) return { kind: 'warn', word: 'attention' }
  if (state === 'ready') return { kind: 'ready', word: 'ready' }
  if (state === 'up_to_date') return { kind: 'ok', word: 'upToDate' }
  const warnings = findings.filter(({ severity }) => severity === 'warning')
  const isOld = warnings.length > 0 && warnings.every(({ code }) => code === 'lists_stale')
  return isOld ? { kind: 'stale', word: 'stale' } : { kind: 'warn', word: 'attention' }
}

/** A visit to the page starts a new check after this time. */
const DUE_MS = 6 * 60 * 60_000

/** Whether a target is due for an automatic check. */
export function isDue(check: Check, now: number): boolean {
  const { state, checking, checked_at, changed_at } = check
  if (checking || state === 'stopped') return false
  return checked_at === null || changed_at !== null || metUpgrade(check) || now - Date.parse(checked_at) > DUE_MS
}

/** Whether the last check has met an upgrade that has ended since: what it says about a running package manager is over. */
function metUpgrade({ checked_at, findings, last_upgrade }: Check): boolean {
  if (!findings.some(({ code }) => code === 'manager_locked') || checked_at === null) return false
  return last_upgrade !== null && last_upgrade.finished_at > checked_at
}

/** Oldest times; undefined when there are none. */
interface Ages {
  checked: number | undefined
  lists: number | undefined
}

/** The age of the known results: the oldest check, and the oldest refresh of package lists. */
export function oldestOf(checks: readonly Check[]): Ages {
  const seen = checks.filter(({ state, checked_at }) => state !== 'stopped' && checked_at !== null)
  const listed = seen.filter(({ state, manager }) => state !== 'unsupported' && manager !== null)
  const oldest = (times: (string | null)[]) => {
    const known = times.flatMap((at) => (at === null ? [] : [Date.parse(at)]))
    return known.length === 0 ? undefined : Math.min(...known)
  }
  return {
    checked: oldest(seen.map((each) => each.checked_at)),
    lists: oldest(listed.map((each) => each.lists_at)),
  }
}
