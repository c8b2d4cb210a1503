import type { Applications } from './applications.ts'
import {
  BASE,
  CURL,
  KERNEL,
  LIBCURL,
  LIBSSL,
  NGINX,
  NGINX_COMMON,
  OPENSSL,
  type Offered,
  POSTGRES,
  SSH_SERVER,
  TZDATA,
  type Upgradable,
} from './packages.ts'
import type { Breakage, Vital } from './protection/vital.ts'

/** The fields of os-release(5). */
export interface Distribution {
  id: string
  version: string
  codename: string
  name: string
}

export const BOOKWORM: Distribution = {
  id: 'debian',
  version: '12',
  codename: 'bookworm',
  name: 'Debian GNU/Linux 12 (bookworm)',
}
/** Past its end of life. */
export const BUSTER: Distribution = {
  id: 'debian',
  version: '10',
  codename: 'buster',
  name: 'Debian GNU/Linux 10 (buster)',
}
/** With apk. */
export const ALPINE: Distribution = { id: 'alpine', version: '3.22.1', codename: '', name: 'Alpine Linux v3.22' }

/** With pacman. */
export const ARCH: Distribution = { id: 'arch', version: 'rolling', codename: '', name: 'Arch Linux' }

/** Without a package manager that the panel knows. */
export const NIXOS: Distribution = { id: 'nixos', version: '25.05', codename: 'warbler', name: 'NixOS 25.05 (Warbler)' }

/** The managers other than apt that are imitated. */
export type Managed = 'apk' | 'pacman'

/** Returns the package manager of a place without apt; undefined for one with apt, or with none. */
export function managedOf({ os = BOOKWORM }: Place): Managed | undefined {
  if (os.id === 'alpine') return 'apk'
  return os.id === 'arch' ? 'pacman' : undefined
}

/** A newer version of a package. It is offered so long after the first plan, or at the first refresh after that plan. */
export interface Newer {
  of: Upgradable
  version: string
  afterMs: number
  /** When the first plan was made, in milliseconds since 1970. */
  since?: number
}

/** The storages of the imitated host. */
export type Storage = 'local' | 'local-lvm' | 'local-zfs' | 'nas'

/** The part of a container that is on its disks, and comes back with a rollback. */
type OnDisk =
  | 'upgradable'
  | 'unfinished'
  | 'broken'
  | 'held'
  | 'newer'
  | 'disk'
  | 'cached'
  | 'services'
  | 'damage'
  | 'upgraders'
  | 'applications'
export type State = { [key in OnDisk]: Place[key] | undefined }

/** A service, or the sessions of a user, with a file that it has loaded, and the package that the file is from. */
export interface Loaded {
  /** `service` by default. */
  kind?: 'service' | 'session' | 'process'
  name: string
  file: string
  from: string
}

/** A snapshot of a container. */
export interface Snapshot {
  name: string
  /** Seconds since 1970. */
  at: number
  description?: string
  /** The settings of the container at that time, with `snaptime`. */
  settings: Readonly<Record<string, string>>
  state: State
}

/** An archive of a container. */
export interface Backup {
  /** Its path on the host. */
  file: string
  state: State
}

/** A place where a package manager runs: the host or one of its containers. */
export interface Place {
  /** `host`, or the container's number. */
  id: string
  name: string
  running: boolean
  upgradable: Upgradable[]
  /** Settles when the upgrade that holds dpkg's lock has ended; undefined while the lock is free. */
  lock: Promise<void> | undefined
  /** Debian 12 by default. */
  os?: Distribution
  /** Packages that dpkg has not finished installing. */
  unfinished?: string[]
  /** An installed package that lacks another one. */
  broken?: { name: string; needs: Offered } | undefined
  /** Held packages. */
  held?: string[]
  /** A repository that does not answer. */
  silent?: string
  /** A repository that calls itself otherwise than before, until that is accepted. */
  changed?: string | undefined
  /** A repository whose key is missing. */
  unsigned?: string
  /** A repository whose lists are no longer valid. */
  expired?: string
  /** A version that appears in a repository only after a plan was made here. */
  newer?: Newer | undefined
  readOnly?: boolean
  /** Bytes of the only file system. By default there is plenty of room. */
  disk?: { size: number; free: number }
  /** Bytes of downloaded packages, which `apt-get clean` removes. */
  cached?: number
  /** Whether a container that runs starts again with the host, as by default. */
  onboot?: boolean
  /** The other tools that upgrade it, as `UPGRADERS` tells them: `unattended`, or `cron <tool> <line> <file>`. */
  upgraders?: string[]
  /** Its applications beside the packages. */
  applications?: Applications
  /** Packages that ask for a restart of the host. */
  reboot?: string[]
  /** Whether the panel of the demo is said to run there. */
  hasPanel?: boolean
  /** Services that still use replaced files. */
  services?: Loaded[]
  /** The services whose files an upgrade replaces while they run. */
  loads?: readonly Loaded[]
  /** The operation for which the hypervisor has locked the container, such as `backup`. */
  lockedFor?: string
  /** A template is never started. */
  template?: boolean
  /** The tags of the hypervisor, with `;` between them. */
  tags?: string
  /** The storage of a container's root; `local-lvm` by default. */
  storage?: Storage
  /** Mount points by their key, as in the configuration: `/srv/media,mp=/media` is a folder of the host. */
  mounts?: Readonly<Record<string, string>>
  /** The oldest first. */
  snapshots?: Snapshot[]
  backups?: Backup[]
  /** The vitals of a container, besides those that each one has. */
  vitals?: readonly Vital[]
  /** Every upgrade of a container does this. */
  breaks?: readonly Breakage[]
  /** The breakages that have happened and last. */
  damage?: Breakage[]
  /** The hypervisor fails at these actions on a container, and says this. */
  faults?: Readonly<Partial<Record<'snapshot' | 'rollback' | 'delsnapshot', string>>>
  /** How full the host's thin pool is, in per cent. */
  pool?: { data: number; metadata: number }
}

/** Whether apt is the package manager of a place. */
export function hasApt(place: Place): boolean {
  return programOf(place) === 'apt-get'
}

/** The program by which the scripts find the package manager of a place, or `none`. */
export function programOf(place: Place): string {
  return place.os?.id === NIXOS.id ? 'none' : (managedOf(place) ?? 'apt-get')
}

const HOST = [BASE, CURL, LIBCURL, LIBSSL, KERNEL, SSH_SERVER, OPENSSL, TZDATA]
const WEB = [LIBSSL, NGINX, NGINX_COMMON, OPENSSL, TZDATA]
const [LIBPQ, ...DATABASES] = POSTGRES
const DATABASE = [...(LIBPQ ? [LIBPQ] : []), LIBSSL, ...DATABASES, TZDATA]

/** The host before any upgrade. */
export function newHost(): Place {
  return { id: 'host', name: 'pve', running: true, upgradable: [...HOST], lock: undefined }
}

/** Makes a running container without upgrades; the given fields replace its own. */
export function container(id: string, name: string, more: Partial<Place> = {}): Place {
  return { id, name, running: true, upgradable: [], lock: undefined, ...more }
}

/** Its containers before any upgrade; the last one is stopped. */
export function newContainers(): Place[] {
  return [
    container('101', 'web', { upgradable: [...WEB] }),
    container('102', 'db', { upgradable: [...DATABASE] }),
    container('103', 'old-backup', { running: false, upgradable: [BASE, CURL, LIBCURL, LIBSSL, OPENSSL] }),
  ]
}

/**
 * The containers of `newContainers` and five more, as on a host in use: one has an unreachable repository, and one an
 * unfinished package. So many have upgrades that one job upgrades all targets; it leaves the stopped container out.
 */
export function manyContainers(): Place[] {
  return [
    ...newContainers(),
    container('104', 'dns', { upgradable: [BASE, TZDATA, LIBSSL], silent: 'http://packages.example/dns' }),
    container('105', 'mail'),
    container('106', 'git', { upgradable: [CURL, LIBCURL, OPENSSL, LIBSSL], unfinished: ['git-lfs'] }),
    container('107', 'wiki', { upgradable: [CURL, LIBCURL, TZDATA] }),
    container('108', 'cache', { upgradable: [BASE, LIBSSL] }),
  ]
}
