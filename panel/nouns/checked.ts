import type { Answer } from '../../client/index.ts'

export type Check = Answer<'GET /api/updates/checks'>['checks'][number]
export type Finding = Check['findings'][number]

/** How a target is shown: its shape, and the sentence that goes with it. */
export interface Shown {
  kind: 'ok' | 'warn' | 'err' | 'off' | 'unknown'
  text:
    | 'stopped'
    | 'never'
    | 'unanswered'
    | 'changed'
    | 'unsupported'
    | 'failed'
    | 'blocked'
    | 'unfinished'
    | 'attention'
    | 'ready'
    | 'upToDate'
}

/** How many installed packages have a newer version that an upgrade may take. */
export function waitingIn({ counts }: Check): number {
  return counts.upgrade + counts.kept_back
}

/** What a target is in the middle of: dpkg has not finished there. */
export function isUnfinished({ findings }: Check): boolean {
  return findings.some(({ code }) => code === 'dpkg_interrupted')
}

/** Whether it would be untrue to show a target as one that is well, wherever it stands. */
export function isBroken(check: Check): boolean {
  if (check.state === 'unsupported') return false
  return check.last_upgrade?.outcome === 'failed' || isUnfinished(check) || check.state === 'blocked'
}

/** Whether an upgrade can be started there, as far as that is known: it runs, its packages are apt's, and none is in the way of all. */
export function canBeUpgraded({ state }: Pick<Check, 'state'>): boolean {
  return state !== 'stopped' && state !== 'unsupported' && state !== 'blocked'
}

/** The containers that an upgrade of all tries too, though no upgrade can be made there. */
export function triedInVain(checks: readonly Check[]): string[] {
  return checks
    .filter((check) => check.target !== 'host' && check.state !== 'stopped' && !canBeUpgraded(check))
    .map(({ name }) => name)
}

export function canBeRepaired({ state, findings }: Check): boolean {
  return state !== 'stopped' && findings.some(({ remedy }) => remedy?.action === 'repair_dpkg')
}

/** Whether it is not known of a target that runs what waits there today. */
export function isUnsure({ state }: Check): boolean {
  return state === 'unknown' || state === 'attention' || state === 'blocked'
}

/** Whether it did not answer when it was looked at last. */
export function isUnanswered({ state, changed_at, checked_at, job_id }: Check): boolean {
  return state === 'unknown' && changed_at === null && (checked_at !== null || job_id !== null)
}

/** The worst first: what is green is known, of this day, and unharmed. */
export function shownOf(check: Check): Shown {
  const { state, checked_at, changed_at, last_upgrade } = check
  if (state === 'stopped') return { kind: 'off', text: 'stopped' }
  // An upgrade of all tries these in vain; that is no failure of the container, and trying again does not help.
  if (state === 'unsupported') return { kind: 'off', text: 'unsupported' }
  if (last_upgrade?.outcome === 'failed') return { kind: 'err', text: 'failed' }
  if (isUnfinished(check)) return { kind: 'err', text: 'unfinished' }
  if (state === 'blocked') return { kind: 'err', text: 'blocked' }
  if (state === 'unknown' && changed_at !== null) return { kind: 'unknown', text: 'changed' }
  if (state === 'unknown') return { kind: 'unknown', text: checked_at === null ? 'never' : 'unanswered' }
  if (state === 'attention') return { kind: 'warn', text: waitingIn(check) > 0 ? 'ready' : 'attention' }
  return state === 'ready' ? { kind: 'warn', text: 'ready' } : { kind: 'ok', text: 'upToDate' }
}

/** After so long a check is made again by itself, as soon as somebody looks. */
const DUE_MS = 6 * 60 * 60_000

/** Whether a target is to be looked at again without being asked for. */
export function isDue({ state, checking, checked_at, changed_at }: Check, now: number): boolean {
  if (checking || state === 'stopped') return false
  return checked_at === null || changed_at !== null || now - Date.parse(checked_at) > DUE_MS
}

/** When the oldest of these was; undefined of none. */
interface Ages {
  checked: number | undefined
  lists: number | undefined
}

/** How old is what is known: since when each was looked at, and its lists refreshed. */
export function oldestOf(checks: readonly Check[]): Ages {
  const seen = checks.filter(({ state, checked_at }) => state !== 'stopped' && checked_at !== null)
  const listed = seen.filter(({ manager }) => manager === 'apt')
  const oldest = (times: (string | null)[]) => {
    const known = times.flatMap((at) => (at === null ? [] : [Date.parse(at)]))
    return known.length === 0 ? undefined : Math.min(...known)
  }
  return {
    checked: oldest(seen.map((each) => each.checked_at)),
    lists: oldest(listed.map((each) => each.lists_at)),
  }
}
