import { createHash } from 'node:crypto'
import * as z from 'zod'
import type { PlanRow } from '../../db/plans.ts'
import { JobId } from '../../jobs/jobs.ts'
import type { User } from '../../runtime/context.ts'
import { Counts } from '../checks/check.ts'
import { MANAGER_NAMES } from '../managers/manager.ts'
import { PackageUpdate } from '../managers/package-update.ts'
import { Finding } from '../findings/finding.ts'
import { Target } from '../hypervisor/target.ts'
import { Conffile, conffilesOf, shownTo } from './conffile.ts'

/** The id of a plan. The schema accepts any string; a lookup in the database decides whether the plan exists. */
export const PlanId = z.string().meta({
  id: 'PlanId',
  description: 'Names a plan.',
  examples: ['5f0c1e2d3b4a59687766554f'],
})

/**
 * The name of a package, with its architecture where a foreign one is meant. The host helper takes no others. rpm and
 * pacman have capital letters, `_` and `@` in their names.
 */
export const PackageName = z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9_+.@-]{0,199}(:[A-Za-z0-9][A-Za-z0-9_-]{0,49})?$/)

/** Most names of packages in one list of a request. */
export const MOST_NAMES = 900
/** Characters of all names of a request. A command of them, with chosen files, must fit into the 128 KiB of one argument. */
export const NAMES_LENGTH = 40_000

/** The choice of a plan as it is stored, and as its job passes it on. */
export const PlanSelection = z.object({
  only: z.enum(['all', 'security']),
  packages: z.array(z.string()).nullable(),
  exclude: z.array(z.string()),
  allow_remove: z.boolean(),
  // Plans of earlier versions are of apt.
  manager: z.enum(MANAGER_NAMES).default('apt'),
})

export const Plan = z.object({
  id: PlanId,
  target: Target,
  hash: z.string(),
  made_at: z.string(),
  made_by: z.string(),
  expires_at: z.string(),
  ...PlanSelection.shape,
  actions: z.array(PackageUpdate),
  counts: Counts,
  download_bytes: z.int().min(0).nullable(),
  disk_bytes: z.int().nullable(),
  findings: z.array(Finding),
  conffiles: z.array(Conffile),
  protection: z.null(),
  state: z.enum(['current', 'used', 'expired']),
  job_id: JobId.nullable(),
})
export type Plan = z.infer<typeof Plan>

/** How long a plan may be run after it was made. */
export const LASTS_MS = 60 * 60_000

/**
 * Returns the changes of a plan as the lines of its hash, `action name:arch from to`, sorted by their bytes. An absent
 * version is `-`. Another build of the same version is an upgrade for apt too, also in what it tells its hooks.
 */
export function planLines(actions: readonly PackageUpdate[]): string[] {
  return actions
    .map(({ action, name, arch, from, to }) => Buffer.from(`${action} ${name}:${arch} ${from ?? '-'} ${to ?? '-'}`))
    .sort(Buffer.compare)
    .map(String)
}

/** Returns the SHA-256 of the lines, each ended by a newline, in hexadecimal. */
export function planHash(lines: readonly string[]): string {
  return createHash('sha256')
    .update(lines.map((line) => `${line}\n`).join(''))
    .digest('hex')
}

/** Returns whether a plan can be run at `now`. */
export function planState({ job_id, expires_at }: Pick<PlanRow, 'job_id' | 'expires_at'>, now: Date): Plan['state'] {
  if (job_id !== null) return 'used'
  return now.getTime() < Date.parse(expires_at) ? 'current' : 'expired'
}

/** The upgrades that the last check has found and the plan leaves alone, by the reason. */
export const LeftAlone = Counts.pick({ held: true, phased: true, kept_back: true })
export type LeftAlone = z.infer<typeof LeftAlone>

export const NONE_LEFT: LeftAlone = { held: 0, phased: 0, kept_back: 0 }

/** Counts the changes of a plan by their kind; `security` counts those that come from a security update. */
function countsOf(actions: readonly PackageUpdate[], left: LeftAlone): Plan['counts'] {
  const counts = { upgrade: 0, security: 0, install: 0, remove: 0, ...left }
  for (const { action, security } of actions) {
    counts[action === 'downgrade' ? 'upgrade' : action] += 1
    if (security && action !== 'remove') counts.security += 1
  }
  return counts
}

const Actions = z.array(PackageUpdate)
const Findings = z.array(Finding)
/** The column `findings`: the findings, with what is left alone beside them; alone in a plan of an older version. */
const Told = z.union([
  z.object({ findings: Findings, left: LeftAlone }),
  Findings.transform((findings) => ({ findings, left: NONE_LEFT })),
])

/** Returns findings and what is left alone as a plan stores them. */
export function storedFindings(findings: readonly Finding[], left: LeftAlone): string {
  return JSON.stringify({ findings, left })
}

/** Returns a stored plan as a user sees it at `now`. */
export function planOf(row: PlanRow, now: Date, { role }: Pick<User, 'role'>): Plan {
  const { id, target, hash, made_at, made_by, expires_at, download_bytes, disk_bytes, job_id } = row
  const actions = Actions.parse(JSON.parse(row.actions))
  const { findings, left } = Told.parse(JSON.parse(row.findings))
  return {
    id,
    target,
    hash,
    made_at,
    made_by,
    expires_at,
    ...selectionOf(row),
    actions,
    counts: countsOf(actions, left),
    download_bytes,
    disk_bytes,
    findings,
    conffiles: conffilesOf(row).map((file) => shownTo(file, role === 'admin')),
    protection: null,
    state: planState(row, now),
    job_id,
  }
}

/** Returns the choice of a stored plan. */
export function selectionOf({ selection }: Pick<PlanRow, 'selection'>): z.infer<typeof PlanSelection> {
  return PlanSelection.parse(JSON.parse(selection))
}

/** The example of the documents. */
export const EXAMPLE_PLAN: Plan = {
  id: '5f0c1e2d3b4a59687766554f',
  target: 'lxc:101',
  hash: '1f4b8c0f0f6f2b5ad0d3f2f0a8a0ce8a3ec1f1e2a8ad6a2d9c4a0f7b1f0f7a63',
  made_at: '2026-03-01T12:00:00.000Z',
  made_by: 'alice',
  expires_at: '2026-03-01T13:00:00.000Z',
  only: 'all',
  packages: null,
  exclude: [],
  allow_remove: false,
  manager: 'apt',
  actions: [
    {
      name: 'librig2',
      arch: 'amd64',
      from: '1.4.2-1+b1',
      to: '1:2.0~rc1-1+deb12u3',
      action: 'upgrade',
      origin: 'Debian:12.15/oldstable',
      security: false,
      size: 1_482_752,
      source: 'rig',
      cves: [],
      status: 'planned',
      reason: null,
    },
  ],
  counts: { upgrade: 1, security: 0, install: 0, remove: 0, held: 0, phased: 0, kept_back: 0 },
  download_bytes: 1_482_752,
  disk_bytes: 24_576,
  findings: [],
  conffiles: [],
  protection: null,
  state: 'current',
  job_id: null,
}
