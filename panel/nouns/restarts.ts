import type { Check } from './checked.ts'

/** A program that still uses files which an upgrade has replaced. */
export type Outdated = Check['services'][number]

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
