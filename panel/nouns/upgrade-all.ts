/** A target that can be upgraded. */
export interface Upgradable {
  id: string
  name: string
  /** How many packages wait there; undefined when that is not known. */
  packages: number | undefined
}

/** So many containers are upgraded at the same time; more one after another, by the one job that the service has for all. */
const AT_ONCE = 4

/** The jobs that upgrade everything that has something to upgrade, and every target that they touch. */
export function upgradeAll(targets: readonly Upgradable[]): { jobs: string[]; touched: Upgradable[] } {
  const waiting = targets.filter(({ packages }) => packages !== 0)
  const host = waiting.filter(({ id }) => id === 'host')
  const containers = waiting.filter(({ id }) => id !== 'host')
  if (containers.length <= AT_ONCE) return { jobs: waiting.map(({ id }) => id), touched: waiting }
  // The job for all takes in those that are up to date, too: apt has nothing to do there.
  return {
    jobs: [...host.map(({ id }) => id), 'all'],
    touched: [...host, ...targets.filter(({ id }) => id !== 'host')],
  }
}
