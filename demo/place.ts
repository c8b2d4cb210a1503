/** A package that can be upgraded. */
export interface Upgradable {
  name: string
  arch: 'amd64' | 'all'
  /** The suite from which apt takes the new version. */
  suite: 'stable' | 'stable-security'
  old: string
  version: string
  /** Size of the archive in kB. */
  size: number
}

/** A place where apt runs: the host or one of its containers. */
export interface Place {
  /** `host`, or the container's number. */
  id: string
  name: string
  running: boolean
  upgradable: Upgradable[]
  /** Settles when the upgrade that holds dpkg's lock has ended; undefined while the lock is free. */
  lock: Promise<void> | undefined
  /** Packages that dpkg has not finished installing. */
  unfinished?: string[]
  /** A repository that does not answer. */
  silent?: string
}

const SECURITY = 'stable-security'
const DEBIAN = 'stable'

const OPENSSL = entry('openssl', SECURITY, '3.0.15-1~deb12u1', '3.0.17-1~deb12u2', 1430)
const LIBSSL = entry('libssl3', SECURITY, '3.0.15-1~deb12u1', '3.0.17-1~deb12u2', 2026)
const TZDATA = entry('tzdata', DEBIAN, '2024a-0+deb12u1', '2025b-0+deb12u1', 299, 'all')
const BASE = entry('base-files', DEBIAN, '12.4+deb12u8', '12.4+deb12u11', 70.6)
const CURL = entry('curl', DEBIAN, '7.88.1-10+deb12u8', '7.88.1-10+deb12u12', 315)
const LIBCURL = entry('libcurl4', DEBIAN, '7.88.1-10+deb12u8', '7.88.1-10+deb12u12', 391)

const HOST = [
  BASE,
  CURL,
  LIBCURL,
  LIBSSL,
  entry('linux-image-6.1.0-37-amd64', SECURITY, '6.1.137-1', '6.1.140-1', 69_100),
  entry('openssh-server', DEBIAN, '1:9.2p1-2+deb12u3', '1:9.2p1-2+deb12u6', 456),
  OPENSSL,
  TZDATA,
]

const WEB = [
  LIBSSL,
  entry('nginx', DEBIAN, '1.22.1-9', '1.22.1-9+deb12u2', 527),
  entry('nginx-common', DEBIAN, '1.22.1-9', '1.22.1-9+deb12u2', 113, 'all'),
  OPENSSL,
  TZDATA,
]

const DATABASE = [
  entry('libpq5', SECURITY, '15.10-0+deb12u1', '15.13-0+deb12u1', 191),
  LIBSSL,
  entry('postgresql-15', SECURITY, '15.10-0+deb12u1', '15.13-0+deb12u1', 16_900),
  entry('postgresql-client-15', SECURITY, '15.10-0+deb12u1', '15.13-0+deb12u1', 1730),
  TZDATA,
]

/** The host before any upgrade. */
export function newHost(): Place {
  return { id: 'host', name: 'pve', running: true, upgradable: [...HOST], lock: undefined }
}

/** Its containers before any upgrade; the last one is stopped. */
export function newContainers(): Place[] {
  return [
    { id: '101', name: 'web', running: true, upgradable: [...WEB], lock: undefined },
    { id: '102', name: 'db', running: true, upgradable: [...DATABASE], lock: undefined },
    {
      id: '103',
      name: 'old-backup',
      running: false,
      upgradable: [BASE, CURL, LIBCURL, LIBSSL, OPENSSL],
      lock: undefined,
    },
  ]
}

/**
 * The containers of `newContainers` and five more, as on a host in use: one has an unreachable repository, and one an
 * unfinished package. So many have upgrades that one job upgrades all targets; it leaves the stopped container out.
 */
export function manyContainers(): Place[] {
  return [
    ...newContainers(),
    {
      id: '104',
      name: 'dns',
      running: true,
      upgradable: [BASE, TZDATA, LIBSSL],
      lock: undefined,
      silent: 'http://packages.example/dns',
    },
    { id: '105', name: 'mail', running: true, upgradable: [], lock: undefined },
    {
      id: '106',
      name: 'git',
      running: true,
      upgradable: [CURL, LIBCURL, OPENSSL, LIBSSL],
      lock: undefined,
      unfinished: ['git-lfs'],
    },
    { id: '107', name: 'wiki', running: true, upgradable: [CURL, LIBCURL, TZDATA], lock: undefined },
    { id: '108', name: 'cache', running: true, upgradable: [BASE, LIBSSL], lock: undefined },
  ]
}

function entry(
  name: string,
  suite: Upgradable['suite'],
  old: string,
  version: string,
  size: number,
  arch: Upgradable['arch'] = 'amd64',
): Upgradable {
  return { name, arch, suite, old, version, size }
}
