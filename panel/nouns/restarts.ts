import type { Check } from './checked.ts'

/** A program that still uses files which an upgrade has replaced. */
export type Outdated = Check['services'][number]
/** The part that is away while a service restarts: the panel, its way to the host, or both. */
export type Interrupted = NonNullable<Outdated['interrupts']>

type Of = Pick<Check, 'state' | 'services'>

/** The services that one request may restart. */
const MOST = 50
const ORDER = ['service', 'session', 'none', 'container', 'reboot'] as const

/** The outdated services of a target, those that a button restarts first. A stopped container runs none. */
export function outdatedIn({ state, services }: Of): Outdated[] {
  if (state === 'stopped') return []
  return ORDER.flatMap((way) => services.filter(({ restart }) => restart === way))
}

/** The services that one request can restart. */
export function restartable(check: Of): Outdated[] {
  return outdatedIn(check)
    .filter(({ restart }) => restart === 'service')
    .slice(0, MOST)
}

/** The services that run their new code only after a restart of the whole target. */
export function withTarget(check: Of): Outdated[] {
  return outdatedIn(check).filter(({ restart }) => restart === 'container' || restart === 'reboot')
}

/** Whether one restart of services leaves no outdated one on a target. */
export function canRestartAll(check: Of): boolean {
  const count = restartable(check).length
  return count > 0 && count === outdatedIn(check).length
}

/** Whether the list is from before a change that a running check looks at: its services may have restarted since. */
export function isBeingRenewed({ checking, changed_at }: Pick<Check, 'checking' | 'changed_at'>): boolean {
  return checking && changed_at !== null
}

/** Returns the part that is away while these services restart; undefined where nobody notices it here. */
export function interruptedBy(services: readonly Pick<Outdated, 'interrupts'>[]): Interrupted | undefined {
  const all = new Set(services.map(({ interrupts }) => interrupts))
  if (all.has('both') || (all.has('panel') && all.has('host'))) return 'both'
  return all.has('panel') ? 'panel' : all.has('host') ? 'host' : undefined
}
