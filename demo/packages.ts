/** The suites of the imitated repositories; `third` is that of a vendor. */
export type Suite = 'stable' | 'stable-security' | 'third'

/** A package that apt can install. */
export interface Offered {
  name: string
  arch: 'amd64' | 'all'
  /** The suite from which apt takes the version. */
  suite: Suite
  version: string
  /** Size of the archive in kB. */
  size: number
  /** The source package, if it has another name. */
  source?: string
}

/** A package that can be upgraded. */
export interface Upgradable extends Offered {
  old: string
  /** The reason for which apt leaves it alone. A held package is among the holds of its place instead. */
  kept?: 'phased' | 'dependencies'
  /** New packages that the upgrade brings. */
  brings?: readonly Offered[]
  /** Installed packages that the upgrade removes: only a full upgrade makes it. */
  removes?: readonly Installed[]
  /** Packages that cannot stay at their version when this one is upgraded. */
  needs?: readonly string[]
  /** A configuration file of it that somebody has changed, and how the new version differs from it. */
  changedFile?: { file: string; diff: string }
}

export interface Installed {
  name: string
  version: string
}

type More = Partial<Omit<Upgradable, 'name' | 'suite' | 'old' | 'version' | 'size'>>

const SECURITY = 'stable-security'
const DEBIAN = 'stable'

export const OPENSSL = upgradable('openssl', SECURITY, '3.0.15-1~deb12u1', '3.0.17-1~deb12u2', 1430)
export const LIBSSL = upgradable('libssl3', SECURITY, '3.0.15-1~deb12u1', '3.0.17-1~deb12u2', 2026, {
  source: 'openssl',
})
export const TZDATA = upgradable('tzdata', DEBIAN, '2024a-0+deb12u1', '2025b-0+deb12u1', 299, { arch: 'all' })
export const BASE = upgradable('base-files', DEBIAN, '12.4+deb12u8', '12.4+deb12u11', 70.6)
export const CURL = upgradable('curl', DEBIAN, '7.88.1-10+deb12u8', '7.88.1-10+deb12u12', 315, { needs: ['libcurl4'] })
export const LIBCURL = upgradable('libcurl4', DEBIAN, '7.88.1-10+deb12u8', '7.88.1-10+deb12u12', 391, {
  source: 'curl',
})
export const KERNEL = upgradable('linux-image-6.1.0-37-amd64', SECURITY, '6.1.137-1', '6.1.140-1', 69_100, {
  source: 'linux-signed-amd64',
})
export const SSH_SERVER = upgradable('openssh-server', DEBIAN, '1:9.2p1-2+deb12u3', '1:9.2p1-2+deb12u6', 456, {
  source: 'openssh',
})
export const NGINX = upgradable('nginx', DEBIAN, '1.22.1-9', '1.22.1-9+deb12u2', 527, { needs: ['nginx-common'] })
export const NGINX_COMMON = upgradable('nginx-common', DEBIAN, '1.22.1-9', '1.22.1-9+deb12u2', 113, {
  arch: 'all',
  source: 'nginx',
})

const OF_POSTGRES = { source: 'postgresql-15' }
export const POSTGRES: readonly Upgradable[] = [
  upgradable('libpq5', SECURITY, '15.10-0+deb12u1', '15.13-0+deb12u1', 191, OF_POSTGRES),
  upgradable('postgresql-15', SECURITY, '15.10-0+deb12u1', '15.13-0+deb12u1', 16_900),
  upgradable('postgresql-client-15', SECURITY, '15.10-0+deb12u1', '15.13-0+deb12u1', 1730, OF_POSTGRES),
]

const OF_GLIBC = { source: 'glibc' }
export const GLIBC: readonly Upgradable[] = [
  upgradable('libc-bin', DEBIAN, '2.36-9+deb12u9', '2.36-9+deb12u10', 610, OF_GLIBC),
  upgradable('libc6', DEBIAN, '2.36-9+deb12u9', '2.36-9+deb12u10', 2757, OF_GLIBC),
]

export const GIT: readonly Upgradable[] = [
  upgradable('git', SECURITY, '1:2.39.5-0+deb12u1', '1:2.39.5-0+deb12u2', 7264, { needs: ['git-man'] }),
  upgradable('git-man', SECURITY, '1:2.39.5-0+deb12u1', '1:2.39.5-0+deb12u2', 2054, { arch: 'all', source: 'git' }),
]

const [DOCKER_OLD, DOCKER_NEW] = ['5:28.5.1-1~debian.12~bookworm', '5:28.5.2-1~debian.12~bookworm']
const OF_DOCKER = { source: 'docker-ce' }
export const DOCKER: readonly Upgradable[] = [
  upgradable('docker-ce', 'third', DOCKER_OLD, DOCKER_NEW, 20_400),
  upgradable('docker-ce-cli', 'third', DOCKER_OLD, DOCKER_NEW, 16_500, OF_DOCKER),
  upgradable('docker-ce-rootless-extras', 'third', DOCKER_OLD, DOCKER_NEW, 6430, OF_DOCKER),
]

/** An upgrade that only the removal of the older engine lets through. */
export const CONTAINERD: Upgradable = upgradable('containerd', 'third', '1.6.20~ds1-1+deb12u1', '2.1.5-1', 23_800, {
  removes: [
    { name: 'docker.io', version: '20.10.24+dfsg1-1+deb12u1' },
    { name: 'runc', version: '1.1.5+ds1-1+deb12u1' },
  ],
  brings: [{ name: 'containerd-shim', arch: 'amd64', suite: 'third', version: '2.1.5-1', size: 8120 }],
})

/** Makes a package that can be upgraded from `old` to `version`; `size` in kB. */
export function upgradable(
  name: string,
  suite: Suite,
  old: string,
  version: string,
  size: number,
  more: More = {},
): Upgradable {
  return { name, arch: 'amd64', suite, old, version, size, ...more }
}
