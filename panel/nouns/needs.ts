import { type Check, isHarmed, isPressing, isUnanswered } from './checked.ts'

/** How much a target needs somebody: `broken` cannot be upgraded or has failed, `attention` has something to read or decide. */
export type Need = 'broken' | 'attention'

/**
 * Returns why somebody has to look at a target; undefined when nobody has to, or when it does not run. The dashboard, the page of updates
 * and the menu all ask here. Services to restart need nobody.
 */
export function needsOf(check: Check): Need | undefined {
  const { state, checking, harm } = check
  // An upgrade may have stopped it.
  if (isHarmed(check)) return 'broken'
  if (state === 'stopped') return undefined
  if (state === 'unsupported') return check.used === undefined ? undefined : 'attention'
  if (state === 'blocked' || hasFailed(check)) return 'broken'
  if (state === 'attention' || isPressing(check) || hasWarned(check) || harm) return 'attention'
  return isUnanswered(check) && !checking ? 'attention' : undefined
}

/** Whether the last upgrade failed and no later check has shown that the target is well. */
export function hasFailed({ state, last_upgrade }: Pick<Check, 'state' | 'last_upgrade'>): boolean {
  if (last_upgrade?.outcome !== 'failed') return false
  return state === 'attention' || state === 'blocked' || state === 'unknown'
}

/** Whether the last upgrade ended with warnings. The findings of a later check take their place: they are about package lists. */
export function hasWarned({ state, checked_at, last_upgrade: last }: Check): boolean {
  if (last?.outcome !== 'warned' || state === 'unsupported' || state === 'stopped') return false
  return state === 'unknown' || checked_at === null || Date.parse(checked_at) <= Date.parse(last.finished_at)
}

/** The number of targets that need somebody, and whether one of them is broken. */
export function needsIn(checks: readonly Check[]): { count: number; isBroken: boolean } {
  const needs = checks.map(needsOf).filter((need) => need !== undefined)
  return { count: needs.length, isBroken: needs.includes('broken') }
}

interface Disk {
  disk: number | null
  maxdisk: number | null
}

export interface Figures {
  host?: (Disk & { reboot_required: boolean }) | undefined
  containers: readonly (Disk & { vmid: number })[]
}

const NEARLY_FULL = 0.9

/** The used share of each disk that is nearly full, by target. A disk of unknown size is not full. */
export function fullDisks({ host, containers }: Figures): Map<string, number> {
  const full = new Map<string, number>()
  const note = (target: string, { disk, maxdisk }: Disk) => {
    const used = disk !== null && maxdisk ? disk / maxdisk : 0
    if (used >= NEARLY_FULL) full.set(target, used)
  }
  if (host) note('host', host)
  for (const each of containers) note(`lxc:${each.vmid}`, each)
  return full
}

/** The results together with the newest figures: full disks, and the restart that the host asks for. */
export function withFigures(checks: readonly Check[], figures: Figures): Check[] {
  const full = fullDisks(figures)
  return checks.map((check) => {
    const used = full.get(check.target)
    const asks = check.target === 'host' && figures.host?.reboot_required === true && check.reboot.required !== true
    if (used === undefined && !asks) return check
    return { ...check, used, ...(asks && { reboot: { ...check.reboot, required: true } }) }
  })
}
