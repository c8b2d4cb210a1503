import { type Answer, ApiError } from '../../client/index.ts'
import type { Check, Finding } from './checked.ts'

export type Plan = Answer<'POST /api/updates/plans'>
/** A change of one package. */
export type Change = Plan['actions'][number]
/** A configuration file of the plan that somebody has changed. */
export type Conffile = Plan['conffiles'][number]

/** Which of the available changes a plan takes. */
export interface Selection {
  only: 'all' | 'security'
  /** These packages alone; all of them where it is absent. */
  packages?: readonly string[]
  /** Packages that stay as they are. */
  exclude: readonly string[]
  allow_remove: boolean
}

/** The lists of a check may be older than this before a plan is made of them. */
const CHECK_MS = 60 * 60_000
/** Findings of a check whose lists are not whole. */
const NOT_WHOLE = /^(lists_stale|repository_|network_missing$)/

/** Whether a target must be checked before a plan is made: its last check is old or unknown, or not all of its lists were refreshed. */
export function needsCheck(check: Check | undefined, now: number): boolean {
  if (!check || check.checked_at === null || check.lists_at === null) return true
  if (check.state === 'unknown' || check.changed_at !== null) return true
  return now - Date.parse(check.checked_at) > CHECK_MS || check.findings.some(({ code }) => NOT_WHOLE.test(code))
}

/** The changes that the last check foresees for a selection, shown until the plan is there. */
export function foreseen(packages: readonly Change[], { only, exclude, allow_remove: removes }: Selection): Change[] {
  return packages.filter(
    ({ name, status, reason, security }) =>
      (status === 'planned' || (removes && reason === 'kept_back_remove')) &&
      (only === 'all' || security) &&
      !exclude.includes(name),
  )
}

/** The packages that only a removal lets through, and those that would be removed. */
export function behindRemoval(packages: readonly Change[]): { waiting: string[]; removed: string[] } {
  const behind = packages.filter(({ reason }) => reason === 'kept_back_remove')
  const named = (isRemoved: boolean) =>
    behind.filter(({ action }) => (action === 'remove') === isRemoved).map(({ name }) => name)
  return { waiting: named(false), removed: named(true) }
}

const GROUPS = ['removed', 'downgraded', 'added', 'security', 'upgraded'] as const
export type ChangeGroup = (typeof GROUPS)[number]

function groupOf({ action, security }: Change): ChangeGroup {
  if (action === 'remove') return 'removed'
  if (action === 'downgrade') return 'downgraded'
  if (action === 'install') return 'added'
  return security ? 'security' : 'upgraded'
}

/** Changes by what happens to their package, removals first, each group in the order of names. */
export function grouped(changes: readonly Change[]): { group: ChangeGroup; changes: Change[] }[] {
  const groups = new Map<ChangeGroup, Change[]>(GROUPS.map((group) => [group, []]))
  for (const change of changes) groups.get(groupOf(change))?.push(change)
  return [...groups].flatMap(([group, own]) =>
    own.length === 0 ? [] : [{ group, changes: own.sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1)) }],
  )
}

/** Identifies the package of a change. */
export function keyOf({ name, arch }: Pick<Change, 'name' | 'arch'>): string {
  return `${name}:${arch}`
}

/** Whether both lists make the same changes, in any order. */
export function isSame(one: readonly Change[], other: readonly Change[]): boolean {
  if (one.length !== other.length) return false
  const lineOf = (change: Change) => `${change.action} ${keyOf(change)} ${change.from} ${change.to}`
  const lines = new Set(one.map(lineOf))
  return other.every((change) => lines.has(lineOf(change)))
}

/** The new list with the objects of the old one where nothing of a change differs, so that its row need not be drawn again. */
export function reused(before: readonly Change[], now: readonly Change[]): Change[] {
  const old = new Map(before.map((change) => [`${change.action} ${keyOf(change)}`, change]))
  return now.map((change) => {
    const known = old.get(`${change.action} ${keyOf(change)}`)
    return known && isEqual(known, change) ? known : change
  })
}

/** Whether two JSON values are equal. A check and a plan have the fields of a change in different orders. */
function isEqual(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => isEqual(Reflect.get(one, name), Reflect.get(other, name)))
  )
}

export interface Figures {
  upgraded: number
  added: number
  removed: number
  security: number
  exploited: number
}

/** Counts changes; a downgrade counts as an upgrade. */
export function figuresOf(changes: readonly Change[]): Figures {
  const count = (is: (change: Change) => boolean) => changes.filter(is).length
  return {
    upgraded: count(({ action }) => action === 'upgrade' || action === 'downgrade'),
    added: count(({ action }) => action === 'install'),
    removed: count(({ action }) => action === 'remove'),
    security: count(({ security }) => security),
    exploited: count(({ cves }) => cves.some(({ known_exploited }) => known_exploited)),
  }
}

const KERNEL = /^(linux-image-|linux-image$|proxmox-kernel-|pve-kernel-)/

/** Whether a kernel changes, which is in use only after a restart. Containers use the host’s. */
export function hasKernel(target: string, changes: readonly Change[]): boolean {
  return target === 'host' && changes.some(({ name, action }) => action !== 'remove' && KERNEL.test(name))
}

/** The first eight digits of a hash, in two groups. */
export function shortHash(hash: string): string {
  return `${hash.slice(0, 4)} ${hash.slice(4, 8)}`
}

/** The minutes that a plan has left, by the service’s clock; `arrived` and `now` are in ms since 1970 by the browser’s. */
export function minutesLeft({ made_at, expires_at }: Plan, arrived: number, now: number): number {
  const left = Date.parse(expires_at) - Date.parse(made_at) - Math.max(0, now - arrived)
  return Math.max(0, Math.ceil(left / 60_000))
}

/** The findings that an answer gives as the reason why there is no plan. */
export function findingsOf(error: unknown): Finding[] {
  if (!(error instanceof ApiError)) return []
  return error.findings
}

/** Whether a plan cannot be started any more: it was used, has expired or is gone. */
export function isPlanRefused(error: unknown): boolean {
  return error instanceof ApiError && error.code.startsWith('plan_')
}
