import type { Account } from './account.ts'
import { manyContainers, type Place, type Upgradable } from './place.ts'

/** What Linux, DNS and Proxmox VE take at most: 253 characters for a host, 63 for a container. */
const HOST = `${'hypervisor-of-the-second-datacentre-in-the-north.'.repeat(5)}example.internal`.slice(0, 253)
const CONTAINERS = [
  'customer-portal-staging-environment-with-a-rather-long-name-0001',
  'postgresqlprimarywithoutanyplaceatwhichitcouldbebrokenintwoparts',
  'old-backup-server-of-the-accounting-department-kept-for-ten-years',
].map((name) => name.slice(0, 63))
const PACKAGES: readonly Partial<Upgradable>[] = [
  {
    name: 'linux-headers-6.1.0-37-cloud-amd64-with-a-very-long-flavour-name',
    old: '1:2024.10.12+dfsg1-3+deb12u1~bpo12+1',
    version: '1:2025.01.30+really2024.10.12+dfsg1-3+deb12u2~bpo12+1',
  },
  { name: 'golang-github-prometheus-community-pgbouncer-exporter-dev' },
]

/** A user name as directories have them. */
export const LONG_USER = 'maximiliane-alexandra.oberhuber-schwarzenberg@administration.example.internal'

/** The imitated host with names as long as they may be: for what has to hold them. */
export function longNames(): { name: string; containers: Place[]; users: Record<string, Account> } {
  const containers = manyContainers().map((place, n) => ({
    ...place,
    name: CONTAINERS[n] ?? place.name,
    upgradable: place.upgradable.map((each, at) => ({ ...each, ...(n < 2 && PACKAGES[at]) })),
  }))
  const users = { [LONG_USER]: { password: 'demo', uid: 1002, groups: ['demo', 'sudo'], sudo: 'password' as const } }
  return { name: HOST, containers, users }
}
