import * as z from 'zod'
import { FindingCode } from '../findings/finding.ts'

const text = z.string()

/** The finding that explains a package: why it is left alone, or which packages come with it. */
const Reason = FindingCode.extract([
  'held',
  'phased',
  'kept_back_install',
  'kept_back_remove',
  'kept_back_dependencies',
])

/**
 * A change of one package. An upgrade without removals makes the `planned` ones. With `kept_back_remove`, an upgrade
 * that may remove packages makes it too.
 */
export const PackageUpdate = z.object({
  name: text,
  arch: text,
  from: text.nullable(),
  to: text.nullable(),
  action: z.enum(['upgrade', 'install', 'remove', 'downgrade']),
  origin: text.nullable(),
  security: z.boolean(),
  size: z.int().min(0).nullable(),
  source: text.nullable(),
  cves: z.array(z.object({ id: text, urgency: text.nullable(), known_exploited: z.boolean() })),
  status: z.enum(['planned', 'held', 'phased', 'kept_back']),
  reason: Reason.nullable(),
})
export type PackageUpdate = z.infer<typeof PackageUpdate>

/** No machine has so many updates available. A longer report is rejected. */
export const MOST_PACKAGES = 10_000

/** The versions of the source package before and after a change; CVE data name source packages. */
export interface SourceChange {
  source: string
  from: string
  to: string
}

/** The packages of one target, with the change of the source package where both versions are known. */
export interface ReportedPackages {
  packages: PackageUpdate[]
  changes: ReadonlyMap<PackageUpdate, SourceChange>
}

/** Cuts a text that a target reports: no real name, version or list of origins is longer. */
export const short = (text: string) => text.slice(0, 256)
