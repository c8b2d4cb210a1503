import { setImmediate as nextTurn } from 'node:timers/promises'
import * as z from 'zod'
import { type CheckSummary, PackageUpdate } from '../checks/check.ts'
import { type Finding, findingOf } from '../findings/finding.ts'

/** Findings of the last check that a plan repeats. The simulation of a plan tells the others itself, and newer. */
const REPEATED: ReadonlySet<Finding['code']> = new Set<Finding['code']>([
  'repository_unreachable',
  'repository_changed',
  'repository_unsigned',
  'repository_expired',
  'network_missing',
  'lists_stale',
  'conffile_changed',
  'container_locked',
  'root_read_only',
  'end_of_life',
])

/**
 * Returns the findings of a plan: those of its simulation, those of the last check that matter for an upgrade, and
 * whether it changes what the panel stands on.
 */
export function planFindings(
  own: readonly Finding[],
  check: Pick<CheckSummary, 'findings'> | undefined,
  actions: readonly PackageUpdate[],
  place: 'host' | 'container',
): Finding[] {
  const told = new Set(own.map(({ code }) => code))
  const changed = new Set(actions.map(({ name }) => name))
  const repeated = (check?.findings ?? []).filter(({ code, packages }) => {
    if (told.has(code) || !REPEATED.has(code)) return false
    return code !== 'conffile_changed' || packages.length === 0 || packages.some((name) => changed.has(bare(name)))
  })
  const standing = actions.filter(({ name }) => isStoodOn(name, place)).map(({ name }) => name)
  const impact =
    standing.length > 0 && !told.has('self_impact') ? [findingOf('self_impact', { packages: standing })] : []
  return [...own, ...repeated, ...impact]
}

/** The package of the panel itself, which may be installed in a container. */
const PANEL = 'ops-panel'
/** The way to the host, and the tools of the hypervisor with which the panel works. */
const OF_HOST = new Set(['openssh-server', 'lxc', 'lxc-pve', 'lxcfs'])
/** These have the names of the hypervisor, and are not in use before a reboot, or by nobody. */
const UNUSED = /^(pve|proxmox)-(kernel|headers|default-kernel|default-headers|firmware|docs)\b/

function isStoodOn(name: string, place: 'host' | 'container'): boolean {
  if (name === PANEL) return true
  return place === 'host' && (OF_HOST.has(name) || (/^(pve|proxmox)-/.test(name) && !UNUSED.test(name)))
}

function bare(name: string): string {
  return name.split(':')[0] ?? name
}

const Known = z.array(PackageUpdate.pick({ name: true, arch: true, to: true, security: true, cves: true }))
/** Characters of a check's packages that are read again. */
const MOST_READ = 4 * 1024 * 1024

/** Adds the vulnerabilities that the last check found each change to fix. `packages` is the check's list as JSON. */
export async function withKnownVulnerabilities(
  actions: readonly PackageUpdate[],
  packages: string | undefined,
): Promise<PackageUpdate[]> {
  if (packages === undefined || packages.length > MOST_READ) return [...actions]
  const listed = Known.safeParse(JSON.parse(packages)).data ?? []
  await nextTurn()
  const key = ({ name, arch, to }: Pick<PackageUpdate, 'name' | 'arch' | 'to'>) => `${name}:${arch} ${to ?? ''}`
  const known = new Map(listed.map((each) => [key(each), each]))
  return actions.map((action) => {
    const found = action.to === null ? undefined : known.get(key(action))
    return found ? { ...action, cves: found.cves, security: action.security || found.security } : action
  })
}
