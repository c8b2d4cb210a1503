import type { Account } from './account.ts'
import type { Upgradable } from './packages.ts'
import { manyContainers, type Place } from './place.ts'

/** Names of the maximum length in Linux, DNS and Proxmox VE: 253 characters for a host, 63 for a container. */
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

/** A long user name from a directory service. */
export const LONG_USER = 'maximiliane-alexandra.oberhuber-schwarzenberg@administration.example.internal'

/** Names of the maximum length for the imitated host, to test layouts with. */
export function longNames(): { name: string; containers: Place[]; users: Record<string, Account> } {
  const containers = manyContainers().map((place, n) => ({
    ...place,
    name: CONTAINERS[n] ?? place.name,
    upgradable: place.upgradable.map((each, at) => ({ ...each, ...(n < 2 && PACKAGES[at]) })),
  }))
  const users = { [LONG_USER]: { password: 'demo', uid: 1002, groups: ['demo', 'sudo'], sudo: 'password' as const } }
  return { name: HOST, containers, users }
}
