import type { Check } from './checked.ts'

export type Manager = NonNullable<Check['manager']>
/** A choice of the plan: security updates alone, or a package that is left out. */
export type Choice = 'security' | 'exclude'

/** The choices that a package manager cannot make, for which a plan is refused. */
const IMPOSSIBLE: Readonly<Partial<Record<Manager, readonly Choice[]>>> = {
  apk: ['security'],
  pacman: ['security', 'exclude'],
}
/** Distributions of openSUSE that zypper upgrades whole. */
const ROLLING = /tumbleweed|slowroll|microos|aeon|kalpa/

/** Returns the manager of a target where it cannot make this choice; undefined where it can, as far as is known. */
export function unableTo(choice: Choice, check: Pick<Check, 'manager' | 'os'> | undefined): Manager | undefined {
  const manager = check?.manager ?? undefined
  if (!manager) return undefined
  if (manager === 'zypper') return ROLLING.test(check?.os?.id ?? '') ? manager : undefined
  return IMPOSSIBLE[manager]?.includes(choice) ? manager : undefined
}

/** Whether the panel can hold the packages of a target and release them, and has their changelogs: of apt alone. */
export function isApt({ manager }: Pick<Check, 'manager'>): boolean {
  return manager === null || manager === 'apt'
}

/** Whether nobody knows which of the updates are about security: no count of them is zero then. */
export function isSecurityUnknown(check: Pick<Check, 'findings'> | undefined): boolean {
  return check?.findings.some(({ code }) => code === 'security_unknown') === true
}

/** Security updates in numbers: those that are known may not be all. */
export function securitySaid(count: number, isUnknown: boolean): string {
  return isUnknown && count === 0 ? '—' : `${count}${isUnknown ? '+' : ''}`
}
