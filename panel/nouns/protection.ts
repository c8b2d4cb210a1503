import type { Answer } from '../../client/index.ts'

/** The policies of all containers, with what each can and the snapshots it has. */
export type Protections = Answer<'GET /api/updates/protection'>
/** A policy: the snapshot or backup before an upgrade, the comparison of health, and the way of dealing with a regression. */
export type Protection = Protections['default']
export type Probe = Protection['probes'][number]
/** A container with its policy. */
export type Guarded = Protections['targets'][number]
/** A snapshot or backup of a container, of the panel or of somebody else. */
export type Snapshot = Guarded['snapshots'][number]

/**
 * The kind of protection that an upgrade of a target has. `without`: the policy wants a snapshot where it can be, and it cannot. `impossible`: what the
 * policy demands cannot be made, so nothing is upgraded. `none`: the policy wants nothing. `host`: the host has no protection.
 */
export type GuardKind = 'snapshot' | 'backup' | 'without' | 'impossible' | 'none' | 'host'

export interface Guard {
  kind: GuardKind
  /** The service’s reason why a snapshot or backup cannot be made. */
  why: string | null
  /** The policy; null for the host. */
  protection: Protection | null
}

/** Returns the protection that an upgrade of the target has; undefined while it is unknown. */
export function guardOf(target: string, told: Protections | undefined): Guard | undefined {
  if (target === 'host') return { kind: 'host', why: null, protection: null }
  const found = told?.targets.find((each) => each.target === target)
  if (!told) return undefined
  // A new container has the default policy, and what it can is not known yet.
  const { protection, can } = found ?? { protection: told.default, can: { snapshot: null, backup: null, why: null } }
  return { kind: kindOf(protection, can), why: can.why, protection }
}

function kindOf({ before }: Protection, { snapshot, backup }: Guarded['can']): GuardKind {
  if (before === 'none') return 'none'
  if (before === 'backup') return backup === false ? 'impossible' : 'backup'
  if (snapshot === false) return before === 'auto' ? 'without' : 'impossible'
  return 'snapshot'
}

/**
 * Returns why a running upgrade goes on without a snapshot, as the last check of the storage foresees it: its record tells that only at the
 * end. Null where it has one, or where nothing is upgraded without.
 */
export function foreseenLack(
  { target, protection, snapshot }: { target: string; protection: Protection | null; snapshot: object | null },
  told: Protections | undefined,
): string | null {
  if (protection?.before !== 'auto' || snapshot !== null) return null
  const can = told?.targets.find((each) => each.target === target)?.can
  return can?.snapshot === false ? (can.why ?? '') : null
}

/** Whether the guard looks at the health of the target before and after. */
export function comparesHealth({ kind }: Guard): boolean {
  return kind !== 'none' && kind !== 'host'
}

/** Whether an upgrade has no snapshot or backup although its policy wants one. */
export function isWithout(guard: Guard | undefined): boolean {
  return guard?.kind === 'without' || guard?.kind === 'impossible'
}

/** The snapshots that the container still has, newest first. */
export function presentOf(snapshots: readonly Snapshot[]): Snapshot[] {
  return snapshots.filter(({ present }) => present).sort((one, other) => (one.made_at < other.made_at ? 1 : -1))
}

/** The job that made a snapshot of the panel; the name contains it. */
export function jobOf({ name, job_id, ours }: Snapshot): string | undefined {
  if (!ours) return undefined
  return job_id ?? /^panel-(\d{9,11}-[a-z0-9]{8})$/.exec(name)?.[1]
}
