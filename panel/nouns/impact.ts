import type { Finding } from './checked.ts'

/** The part that is away for a moment during a run: the panel, its way to the host, or both. */
export type Interrupted = NonNullable<NonNullable<Finding['impact']>['away']>

type Told = Pick<Finding, 'code' | 'severity' | 'impact'>

const isImpact = ({ code }: Told) => code === 'self_impact'

/** Returns what an upgrade of a target with these findings takes away for a moment; undefined when the panel does not notice it. */
export function interruptedIn(findings: readonly Told[]): Interrupted | undefined {
  const warned = findings.filter((finding) => isImpact(finding) && finding.severity !== 'info')
  // A warning in a plan of an earlier version says it in its sentence alone.
  const [away] = warned.map(({ impact }) => impact?.away ?? 'panel')
  return away
}

/** Returns what several interruptions take away together. */
export function awayWith(several: Iterable<Interrupted | null | undefined>): Interrupted | undefined {
  const all = new Set(several)
  if (all.has('both') || (all.has('panel') && all.has('host'))) return 'both'
  return all.has('panel') ? 'panel' : all.has('host') ? 'host' : undefined
}

/** How late a target with these findings comes among several ones, as in the service: from 0 to 3 for the host. */
export function latenessOf(target: string, findings: readonly Told[]): number {
  return target === 'host' ? 3 : (findings.find(isImpact)?.impact?.late ?? 0)
}

/** Whether the panel, its proxy or its database goes away with these targets, or with the host that has them. */
export function standsOn(checks: readonly { findings: readonly Told[] }[]): boolean {
  return checks.some(({ findings }) => findings.some(({ impact }) => impact?.panel === true))
}
