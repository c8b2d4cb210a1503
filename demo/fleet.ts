import { VERSION } from '../platform/program.ts'
import { OF_RUNNER, OF_VAULTWARDEN, withScript } from './applications.ts'
import {
  BASE,
  CONTAINERD,
  CURL,
  DOCKER,
  GIT,
  GLIBC,
  LIBCURL,
  LIBSSL,
  NGINX,
  NGINX_COMMON,
  OPENSSL,
  POSTGRES,
  SSH_SERVER,
  TZDATA,
  upgradable,
} from './packages.ts'
import { ALPINE, ARCH, BUSTER, container, type Loaded, newHost, NIXOS, type Place } from './place.ts'
import { withSnapshot } from './protection/snapshots.ts'
import { type Breakage, docker, socket, unit, type Vital } from './protection/vital.ts'

const GIB = 2 ** 30
const MIB = 2 ** 20
const MINUTE_MS = 60_000
/** DNS and Proxmox VE allow 63 characters. */
const LONG_NAME = 'customer-portal-staging-eu-west-backend-worker-with-legacy-cron'

const PANEL = upgradable('ops-panel', 'third', VERSION, '0.3.0', 42_100)
const GRAFANA = upgradable('grafana', 'third', '12.2.0', '12.2.1', 204_000)
const CHANGED_NGINX = {
  ...NGINX_COMMON,
  changedFile: {
    file: '/etc/nginx/nginx.conf',
    diff: `@@ -1,4 +1,4 @@
 user www-data;
-worker_processes 2;
+worker_processes auto;
 pid /run/nginx.pid;
 error_log /var/log/nginx/error.log;
@@ -27,8 +27,7 @@ http {
 \t# SSL Settings
 \t##
 
-\tssl_protocols TLSv1.2 TLSv1.3; # only these, see the audit of March
-\tclient_max_body_size 64m;
+\tssl_protocols TLSv1 TLSv1.1 TLSv1.2 TLSv1.3; # Dropping SSLv3, ref: POODLE
 \tssl_prefer_server_ciphers on;
 
 \t##
`,
  },
}
const MUSL = [
  upgradable('busybox', 'stable', '1.37.0-r18', '1.37.0-r19', 514),
  upgradable('busybox-binsh', 'stable', '1.37.0-r18', '1.37.0-r19', 1.6, { source: 'busybox' }),
  upgradable('libcrypto3', 'stable', '3.5.1-r0', '3.5.4-r0', 2_010, { source: 'openssl' }),
  upgradable('libssl3', 'stable', '3.5.1-r0', '3.5.4-r0', 385, { source: 'openssl' }),
]
const ROLLING = [
  upgradable('openssl', 'stable', '3.5.4-1', '3.6.0-1', 5_470),
  upgradable('linux-api-headers', 'stable', '6.16-2', '6.17-1', 1_480),
  upgradable('tzdata', 'stable', '2025a-1', '2025b-1', 352, { arch: 'all' }),
]
const WEB: readonly Vital[] = [unit('nginx.service'), socket('tcp/80', 'nginx'), socket('tcp/443', 'nginx')]
const DATABASE: readonly Vital[] = [unit('postgresql@15-main.service'), socket('tcp/5432', 'postgres')]
const CLOUD: readonly Vital[] = [
  ...WEB,
  ...['php8.2-fpm', 'mariadb', 'redis-server'].map((name) => unit(`${name}.service`)),
  socket('tcp/3306', 'mariadbd'),
  socket('tcp/6379', 'redis-server'),
]
const loaded = (name: string, file: string, from: string): Loaded => {
  return { name, file: `/usr/lib/x86_64-linux-gnu/${file}`, from }
}
const WITH_SSL = [loaded('nginx', 'libssl.so.3', 'libssl3'), loaded('ssh', 'libcrypto.so.3', 'libssl3')]
/** PHP does not find the new library, so the web server has no one behind it and stops. */
const WITHOUT_PHP: readonly Breakage[] = [
  { kind: 'unit', name: 'php8.2-fpm.service', becomes: 'failed failed' },
  { kind: 'socket', name: 'tcp/443' },
]
/** The engine starts no container any more, although apt and dpkg end well. */
const withoutContainers = (...names: readonly string[]): Breakage[] =>
  names.map((name) => ({ kind: 'docker', name, becomes: 'exited 128' }))
const PHASED = upgradable('prometheus', 'stable', '2.42.0+ds-5+b5', '2.42.0+ds-5+deb12u1', 47_300, { kept: 'phased' })
const WAITING = upgradable('mongodb-org-server', 'third', '4.4.18', '7.0.14', 38_100, { kept: 'dependencies' })
const WITH_PYTHON = upgradable('certbot', 'stable', '2.1.0-2', '2.1.0-4', 104, {
  arch: 'all',
  source: 'python-certbot',
  brings: [{ name: 'python3-acme', arch: 'all', suite: 'stable', version: '2.1.0-1', size: 45.6 }],
})

/** The host of `fleet`: upgraded packages wait for a restart. */
export function fleetHost(): Partial<Place> {
  return {
    upgradable: [...newHost().upgradable, ...GIT],
    reboot: ['dbus', 'libc6'],
    services: [loaded('pvedaemon', 'libssl.so.3', 'libssl3'), loaded('pveproxy', 'libssl.so.3', 'libssl3')],
  }
}

/**
 * Twenty-one containers of a host in use, numbered from 101. Some of them have each obstacle that a check can find; the
 * others are well. A plan of 110 is soon out of date, and 106 has an upgrade that removes packages. The upgrades of 107,
 * 112 and 115 break what runs there, and a service of 119 is slow to come back. Snapshots of 103, 108 and 117 are impossible.
 * 112 and 119 have stacks of Docker Compose, 114 and 116 community scripts, of which the second asks a question.
 * The panel is said to run in 118. unattended-upgrades is on in 111. 114 does not start with the host.
 */
export function fleet(): Place[] {
  return [
    container('101', 'web', {
      upgradable: [LIBSSL, NGINX, NGINX_COMMON, OPENSSL, TZDATA],
      vitals: WEB,
      loads: WITH_SSL,
      tags: 'prod;web',
    }),
    withSnapshot(
      container('102', 'db', { upgradable: [LIBSSL, ...POSTGRES, TZDATA], vitals: DATABASE, tags: 'prod' }),
      'before-pg15',
      41,
      'before the migration to PostgreSQL 15',
    ),
    container('103', 'old-backup', {
      running: false,
      upgradable: [BASE, CURL, LIBCURL, LIBSSL, OPENSSL],
      storage: 'local',
    }),
    container('104', 'dns', { upgradable: [BASE, TZDATA, LIBSSL], silent: 'http://packages.example/dns' }),
    container('105', 'mail', {
      upgradable: [OPENSSL, LIBSSL, SSH_SERVER, ...GLIBC],
      disk: { size: 8 * GIB, free: 3 * MIB },
      cached: 412 * MIB,
    }),
    container('106', 'git', { upgradable: [...GIT, CONTAINERD, OPENSSL] }),
    container('107', 'nextcloud', {
      upgradable: [CURL, LIBCURL, LIBSSL],
      changed: 'http://packages.example/nextcloud',
      vitals: CLOUD,
      breaks: WITHOUT_PHP,
    }),
    container('108', 'jellyfin', {
      upgradable: [BASE],
      unsigned: 'http://packages.example/jellyfin',
      mounts: { mp0: '/tank/media,mp=/media' },
      vitals: [unit('jellyfin.service'), socket('tcp/8096', 'jellyfin')],
    }),
    container('109', 'homeassistant', {
      upgradable: [NGINX, CHANGED_NGINX, OPENSSL, LIBSSL],
      storage: 'local-zfs',
      vitals: WEB,
    }),
    container('110', 'grafana', {
      upgradable: [GRAFANA, TZDATA],
      newer: { of: GRAFANA, version: '12.2.2', afterMs: MINUTE_MS },
      tags: 'test',
    }),
    container('111', 'prometheus', { upgradable: [PHASED], upgraders: ['unattended'] }),
    container('112', 'vaultwarden', {
      upgradable: [...DOCKER, WITH_PYTHON],
      vitals: docker('caddy', 'vaultwarden'),
      applications: OF_VAULTWARDEN,
      breaks: withoutContainers('caddy', 'vaultwarden'),
    }),
    container('113', 'unifi-controller', { os: BUSTER, upgradable: [WAITING] }),
    container('114', 'paperless-ngx', {
      expired: 'http://packages.example/paperless',
      onboot: false,
      applications: withScript('paperless-ngx', 'Paperless-ngx', ['2.18.4', '2.19.0']),
    }),
    container('115', 'immich', {
      upgradable: [...DOCKER, ...POSTGRES],
      unfinished: ['docker-ce', 'containerd.io'],
      mounts: { mp0: 'local-lvm:vm-115-disk-1,mp=/data,size=64G,backup=1' },
      vitals: docker('immich-postgres', 'immich-redis', 'immich-server'),
      breaks: withoutContainers('immich-postgres', 'immich-redis', 'immich-server'),
    }),
    container('116', 'adguard', {
      os: ALPINE,
      upgradable: MUSL,
      applications: withScript(
        'adguard',
        'AdGuard Home',
        ['0.107.64', '0.107.67'],
        'Choose an action: 1 update, 2 keep',
      ),
    }),
    container('117', 'wireguard', {
      services: [
        loaded('ssh', 'libcrypto.so.3', 'libssl3'),
        loaded('wg-dashboard', 'libssl.so.3', 'libssl3'),
        loaded('dbus', 'libc.so.6', 'libc6'),
        { ...loaded('alice', 'libc.so.6', 'libc6'), kind: 'session' },
      ],
      storage: 'local',
    }),
    container('118', 'reverse-proxy', { upgradable: [PANEL], hasPanel: true, vitals: WEB }),
    container('119', 'gitea-runner-01', {
      upgradable: [...GIT, TZDATA],
      applications: OF_RUNNER,
      vitals: [unit('act_runner.service')],
      breaks: [{ kind: 'unit', name: 'act_runner.service', looks: 2 }],
    }),
    container('120', LONG_NAME, { upgradable: [...POSTGRES, OPENSSL], held: ['postgresql-15'] }),
    container('121', 'archive', { os: ARCH, upgradable: ROLLING, tags: 'test' }),
    container('122', 'builds', { os: NIXOS }),
    container('900', 'debian-12-template', { running: false, template: true }),
  ]
}
