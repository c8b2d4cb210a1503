import type { Database } from '../../db/libsql/database.ts'
import { readInstances, readTargetStandings } from '../../db/standing.ts'
import {
  type InstanceFacts,
  instanceFactsFrom,
  isLoopback,
  type TargetFacts,
  targetFactsFrom,
} from './standing-facts.ts'

/**
 * The meaning of a target for the panel. `panel`: the panel runs there; `engine`: in a container of Docker or the like.
 * `proxy`: the proxy in front of it. `database`: its libSQL server. `relay`: its connections to the host go through it.
 * `ssh` and `tools`: the SSH server and the hypervisor's tools, which every host is.
 */
export type Role = 'panel' | 'engine' | 'proxy' | 'database' | 'relay' | 'ssh' | 'tools'

/** The ground that the panel stands on. */
export interface Standing {
  /** The roles of each target that were found. */
  roles: ReadonlyMap<string, ReadonlySet<Role>>
  /** The targets where instances of the panel were found to run; empty where that is not known. */
  places: readonly string[]
  /** The units as which they run there. */
  units: ReadonlySet<string>
}

/** Nothing is known. */
export const UNKNOWN_STANDING: Standing = { roles: new Map(), places: [], units: new Set() }

/** An instance tells every ten minutes that it is there. */
const GONE_MS = 60 * 60_000

/** Reads what checks and instances have told, and finds the roles of the targets. */
export async function readStanding(db: Database): Promise<Standing> {
  const stored = await readInstances(db)
  const newest = Math.max(...stored.map(({ seen_at }) => Date.parse(seen_at)))
  const instances = stored
    .filter(({ seen_at }) => newest - Date.parse(seen_at) < GONE_MS)
    .flatMap(({ facts }) => instanceFactsFrom(facts) ?? [])
  const targets = new Map<string, TargetFacts>()
  for (const [target, text] of await readTargetStandings(db)) {
    const facts = targetFactsFrom(text)
    if (facts) targets.set(target, facts)
  }
  return standingOf(instances, targets)
}

/** Finds the roles of targets by what they and the instances know. */
export function standingOf(instances: readonly InstanceFacts[], targets: ReadonlyMap<string, TargetFacts>): Standing {
  const roles = new Map<string, Set<Role>>()
  const places = new Set<string>()
  const units = new Set<string>()
  const add = (target: string, role: Role) => roles.set(target, (roles.get(target) ?? new Set()).add(role))
  for (const instance of instances) {
    const found = placesOf(instance, targets)
    for (const { target, engine } of found) {
      places.add(target)
      add(target, 'panel')
      if (engine) add(target, 'engine')
      else if (instance.unit !== null) units.add(instance.unit)
    }
    const own = found.map(({ target }) => target)
    const at = (addresses: readonly string[], role: Role) => {
      for (const address of addresses) for (const target of targetsAt(address, own, targets)) add(target, role)
    }
    at(
      instance.proxies.map(({ address }) => address),
      'proxy',
    )
    at(instance.database?.addresses ?? [], 'database')
    // The host itself always has the SSH server.
    for (const address of instance.ssh?.addresses ?? [])
      for (const target of targetsAt(address, [], targets)) if (target !== 'host') add(target, 'relay')
  }
  return { roles, places: [...places].sort(), units }
}

interface Found {
  target: string
  engine: boolean
}

/**
 * Finds the targets where an instance runs. A process in a target sees its boot id and pid namespace, and LXC gives each
 * container a boot id of its own, which no other one can guess. An engine like Docker shows the boot id of the kernel,
 * which root in any container can read. Where the host has told which container a namespace belongs to, or that it is its
 * own, the word of other containers does not count.
 */
function placesOf({ boot, namespace }: InstanceFacts, targets: ReadonlyMap<string, TargetFacts>): Found[] {
  if (boot === null || namespace === null) return []
  const host = targets.get('host')
  const seen = host?.inner.find((each) => each.namespace === namespace)
  const isHost = host?.boot === boot && host.namespace === namespace
  const allowed = isHost ? 'host' : seen && (seen.container === null ? 'host' : `lxc:${seen.container}`)
  const found = [...targets].flatMap(([target, facts]): Found[] => {
    if (facts.boot === boot && facts.namespace === namespace) return [{ target, engine: false }]
    const isInner = (each: TargetFacts['inner'][number]) =>
      each.namespace === namespace && each.engine && (target !== 'host' || each.container === null)
    const isHere = boot === facts.boot || boot === host?.boot
    return isHere && facts.inner.some(isInner) ? [{ target, engine: true }] : []
  })
  if (allowed === undefined) return found
  const agreed = found.filter(({ target }) => target === allowed)
  if (agreed.length > 0) return agreed
  return seen?.engine && boot === host?.boot ? [{ target: allowed, engine: true }] : []
}

/** Finds the targets that have an address. That of a loopback interface or of a bridge belongs to the place of the panel. */
function targetsAt(
  address: string,
  own: readonly string[],
  targets: ReadonlyMap<string, TargetFacts>,
): readonly string[] {
  if (isLoopback(address)) return own
  const here = own.filter((target) => targets.get(target)?.bridges.includes(address))
  if (here.length > 0) return here
  return [...targets].flatMap(([target, { addresses }]) => (addresses.includes(address) ? [target] : []))
}

/** The meaning of one target for the panel. */
export interface TargetStanding {
  target: string
  roles: ReadonlySet<Role>
  /** The targets where the panel was found to run; empty where that is not known. */
  places: readonly string[]
  /** The units as which it runs there. */
  units: ReadonlySet<string>
}

/** Returns what a target is for the panel: `host`, or `lxc:<id>`. */
export function standingAt({ roles, places, units }: Standing, target: string): TargetStanding {
  const found = roles.get(target) ?? []
  return { target, roles: new Set(target === 'host' ? [...found, 'ssh', 'tools'] : found), places, units }
}

/**
 * Tells how late a target with these roles comes among several ones: 0 where the panel does not stand, 1 for what it needs,
 * 2 where it runs, 3 for the host.
 */
export function latenessOf(target: string, roles: ReadonlySet<Role>): number {
  if (target === 'host') return 3
  return roles.size === 0 ? 0 : roles.has('panel') ? 2 : 1
}

/** Returns a function that tells how late a target comes among several ones. */
export function latenessIn({ roles }: Standing): (target: string) => number {
  return (target) => latenessOf(target, roles.get(target) ?? new Set())
}
