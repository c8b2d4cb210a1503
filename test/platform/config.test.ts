import { generateKeyPairSync } from 'node:crypto'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { ConfigError, readConfig, unknownVariables } from '../../platform/config.ts'

const KEY = Buffer.alloc(32, 1).toString('base64')
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const PRINT = `SHA256:${'a'.repeat(43)}`

test('every setting has a default', () => {
  const { isTrustedProxy, ...rest } = readConfig({})

  expect(rest).toEqual({
    host: '127.0.0.1',
    port: 8080,
    dataDir: resolve('data'),
    databaseUrl: `file:${resolve('data')}/panel.db`,
    databaseToken: undefined,
    secretKey: undefined,
    jwtKey: undefined,
    ssh: { host: '', username: '', password: '', hostKey: '' },
    adminGroups: ['sudo', 'admin'],
    sudoGroups: ['wheel'],
    requireFactor: 'off',
    passkeySignIn: false,
    unconfirmedAdministrators: false,
    refreshDays: 7,
    keepJobs: 500,
    jobOutputBytes: 64 * 1024 * 1024,
    outputBytes: 1024 * 1024,
    terminalIdleMs: 1_800_000,
    trustsProxies: false,
    origins: new Set(),
    anonymousOutput: true,
    servesPanel: true,
    metrics: false,
    forge: undefined,
    deployer: undefined,
    dockerSocket: '/var/run/docker.sock',
    modulesDir: resolve('data/modules'),
    logLevel: 'info',
  })
  expect(isTrustedProxy('127.0.0.1')).toBe(false)
})

test('an empty variable counts as absent', () => {
  const config = readConfig({ PANEL_PORT: '', PANEL_SECRET_KEY: '', PANEL_SSH_HOST: '', PANEL_ANONYMOUS_OUTPUT: '' })

  expect(config).toMatchObject({ port: 8080, secretKey: undefined, anonymousOutput: true })
})

test.each([
  ['PANEL_HOST', '::', { host: '::' }],
  ['PANEL_HOST', '[::1]', { host: '::1' }],
  ['PANEL_HOST', 'localhost', { host: 'localhost' }],
  ['PANEL_PORT', '0', { port: 0 }],
  ['PANEL_PORT', '65535', { port: 65_535 }],
  [
    'PANEL_DATA_DIR',
    '/var/lib/ops-panel',
    { dataDir: '/var/lib/ops-panel', databaseUrl: 'file:/var/lib/ops-panel/panel.db' },
  ],
  ['PANEL_DATABASE_URL', 'libsql://db.example', { databaseUrl: 'libsql://db.example' }],
  ['PANEL_DATABASE_URL', 'file:panel.db', { databaseUrl: 'file:panel.db' }],
  ['PANEL_DATABASE_URL', 'file:///srv/100%25/panel.db', { databaseUrl: 'file:///srv/100%25/panel.db' }],
  ['PANEL_DATABASE_URL', 'file://localhost/srv/panel.db', { databaseUrl: 'file://localhost/srv/panel.db' }],
  ['PANEL_DATABASE_TOKEN', 'abc', { databaseToken: 'abc' }],
  ['PANEL_SECRET_KEY', KEY, { secretKey: Buffer.alloc(32, 1) }],
  ['PANEL_JWT_KEY', PEM, { jwtKey: PEM }],
  ['PANEL_JWT_KEY', PEM.replaceAll('\n', '\\n'), { jwtKey: PEM }],
  [
    'PANEL_SSH_HOST',
    'pve.example:2222',
    { ssh: { host: 'pve.example:2222', username: '', password: '', hostKey: '' } },
  ],
  ['PANEL_SSH_USERNAME', 'panel', { ssh: { host: '', username: 'panel', password: '', hostKey: '' } }],
  ['PANEL_SSH_PASSWORD', ' pâss ', { ssh: { host: '', username: '', password: ' pâss ', hostKey: '' } }],
  ['PANEL_SSH_HOST_KEY', PRINT, { ssh: { host: '', username: '', password: '', hostKey: PRINT } }],
  [
    'PANEL_SSH_HOST_KEY',
    `ssh-rsa ${PRINT}`,
    { ssh: { host: '', username: '', password: '', hostKey: `ssh-rsa ${PRINT}` } },
  ],
  ['PANEL_ADMIN_GROUPS', ' ops , root,', { adminGroups: ['ops', 'root'], sudoGroups: [] }],
  ['PANEL_ADMIN_GROUPS', 'wheel', { adminGroups: ['wheel'], sudoGroups: [] }],
  ['PANEL_UNCONFIRMED_ADMINISTRATORS', 'on', { unconfirmedAdministrators: true }],
  ['PANEL_REFRESH_DAYS', '400', { refreshDays: 400 }],
  ['PANEL_JOB_OUTPUT_MIB', '1', { jobOutputBytes: 1024 * 1024 }],
  ['PANEL_JOB_OUTPUT_MIB', '4096', { jobOutputBytes: 4096 * 1024 * 1024 }],
  ['PANEL_KEEP_JOBS', '50', { keepJobs: 50 }],
  ['PANEL_KEEP_JOBS', '1000000', { keepJobs: 1_000_000 }],
  ['PANEL_TERMINAL_IDLE_MINUTES', '1', { terminalIdleMs: 60_000 }],
  ['PANEL_TERMINAL_IDLE_MINUTES', '1440', { terminalIdleMs: 86_400_000 }],
  [
    'PANEL_ORIGINS',
    'https://a.example,http://b.example:8080',
    { origins: new Set(['https://a.example', 'http://b.example:8080']) },
  ],
  ['PANEL_PUBLIC_URL', 'https://panel.example:8443', { publicUrl: 'https://panel.example:8443' }],
  ['PANEL_CVE_URL', 'https://mirror.example/debsecan', { cveUrl: 'https://mirror.example/debsecan' }],
  ['PANEL_ALPINE_SECDB_URL', 'https://secdb.example', { alpineSecdbUrl: 'https://secdb.example' }],
  ['PANEL_ARCH_SECURITY_URL', 'https://arch.example', { archSecurityUrl: 'https://arch.example' }],
  ['PANEL_KEV_URL', 'http://mirror.example/kev.json', { kevUrl: 'http://mirror.example/kev.json' }],
  ['PANEL_MODULES_DIR', '/srv/modules', { modulesDir: '/srv/modules' }],
  ['PANEL_DEPLOYER', 'process', { deployer: 'process' }],
  ['PANEL_DEPLOYER', 'docker', { deployer: 'docker' }],
  ['PANEL_DOCKER_SOCKET', '/run/podman.sock', { dockerSocket: '/run/podman.sock' }],
  ['PANEL_ANONYMOUS_OUTPUT', 'off', { anonymousOutput: false }],
  ['PANEL_UI', 'off', { servesPanel: false }],
  ['PANEL_LOG_LEVEL', 'silent', { logLevel: 'silent' }],
])('%s may be %j', (name, value, expected) => {
  expect(readConfig({ [name]: value })).toMatchObject(expected)
})

test.each([
  ['PANEL_PORT', '-1', '0 à 65535'],
  ['PANEL_PORT', '65536', '0 à 65535'],
  ['PANEL_PORT', '80a', '0 à 65535'],
  ['PANEL_PORT', '8e3', '0 à 65535'],
  ['PANEL_DATABASE_URL', 'panel.db', 'file:'],
  ['PANEL_DATABASE_URL', 'postgres://x', 'libsql:'],
  ['PANEL_DATABASE_URL', 'file:', 'le chemin'],
  ['PANEL_DATABASE_URL', 'file:/srv/100%/panel.db', '%25'],
  ['PANEL_DATABASE_URL', 'file:/srv/%zz/panel.db', '%25'],
  ['PANEL_DATABASE_URL', 'file:/srv/%ff/panel.db', '%25'],
  ['PANEL_DATABASE_URL', 'file:/srv/a%00/panel.db', 'le chemin'],
  ['PANEL_DATABASE_URL', 'file:/srv/a#b/panel.db', '%23'],
  ['PANEL_DATABASE_URL', 'file:/srv/a?b/panel.db', '%3F'],
  ['PANEL_DATABASE_URL', 'file://server/srv/panel.db', 'le chemin'],
  ['PANEL_DATABASE_URL', 'https://panel:secret@db.example', 'PANEL_DATABASE_TOKEN'],
  ['PANEL_DATABASE_URL', 'libsql://db.example?authToken=secret', 'PANEL_DATABASE_TOKEN'],
  ['PANEL_SECRET_KEY', 'short', '32 octets'],
  ['PANEL_SECRET_KEY', Buffer.alloc(31).toString('base64'), '32 octets'],
  ['PANEL_JWT_KEY', 'not a key', 'PKCS #8'],
  ['PANEL_JWT_KEY', '-----BEGIN RSA PRIVATE KEY-----', 'PKCS #8'],
  ['PANEL_SSH_HOST', 'pve:port', 'hôte:port'],
  ['PANEL_SSH_HOST', 'ssh://pve', 'hôte:port'],
  ['PANEL_SSH_HOST_KEY', 'SHA256:short', 'SHA256:'],
  ['PANEL_SSH_HOST_KEY', 'MD5:00:11', 'SHA256:'],
  // The groups of operators are separated by semicolons, all others by commas: nobody would be in `staff;web`.
  ['PANEL_ADMIN_GROUPS', 'ops;root', 'séparés par des virgules'],
  ['PANEL_SIGN_IN_GROUPS', 'staff,web;db', 'séparés par des virgules'],
  ['PANEL_VIEWER_GROUPS', 'staff;web', 'séparés par des virgules'],
  ['PANEL_VIEWER_GROUPS', 'staff:lxc/101', 'séparés par des virgules'],
  ['PANEL_REFRESH_DAYS', '0', '1 à 400'],
  ['PANEL_REFRESH_DAYS', '401', '1 à 400'],
  ['PANEL_REFRESH_DAYS', '1.5', '1 à 400'],
  ['PANEL_JOB_OUTPUT_MIB', '0', '1 à 4096'],
  ['PANEL_JOB_OUTPUT_MIB', '4097', '1 à 4096'],
  ['PANEL_KEEP_JOBS', '49', '50 à 1000000'],
  ['PANEL_KEEP_JOBS', '1000001', '50 à 1000000'],
  ['PANEL_KEEP_JOBS', 'all', '50 à 1000000'],
  ['PANEL_TERMINAL_IDLE_MINUTES', '0', '1 à 1440'],
  ['PANEL_TERMINAL_IDLE_MINUTES', '1441', '1 à 1440'],
  ['PANEL_TRUSTED_PROXIES', 'localhost', 'réseaux'],
  ['PANEL_TRUSTED_PROXIES', '10.0.0.0/33', 'réseaux'],
  ['PANEL_TRUSTED_PROXIES', '10.0.0.0/8/8', 'réseaux'],
  ['PANEL_TRUSTED_PROXIES', '10.0.0.1,nonsense', 'réseaux'],
  ['PANEL_ORIGINS', 'panel.example', 'origines'],
  ['PANEL_ORIGINS', 'https://panel.example/', 'origines'],
  ['PANEL_ORIGINS', '*', 'origines'],
  ['PANEL_ANONYMOUS_OUTPUT', 'yes', 'on ou off'],
  ['PANEL_UI', 'no', 'on ou off'],
  ['PANEL_FORGE_URL', 'forge.example', 'http: ou https:'],
  ['PANEL_FORGE_URL', 'https://', 'http: ou https:'],
  ['PANEL_FORGE_URL', 'https://bob:secret@forge.example', 'PANEL_FORGE_TOKEN'],
  ['PANEL_FORGE_ORG', 'a/b', 'organisation'],
  ['PANEL_FORGE_TOKEN', 'to ken', 'sans espace'],
  ['PANEL_PUBLIC_URL', 'https://panel.example/', 'sans barre oblique'],
  ['PANEL_PUBLIC_URL', 'ftp://panel.example', 'sans barre oblique'],
  ['PANEL_PUBLIC_URL', 'panel.example', 'sans barre oblique'],
  ['PANEL_CVE_URL', 'file:///srv/debsecan', 'http: ou https:'],
  ['PANEL_CVE_URL', 'https://bob:secret@mirror.example', 'sans identifiants'],
  ['PANEL_ALPINE_SECDB_URL', 'https://bob:secret@secdb.example', 'sans identifiants'],
  ['PANEL_ARCH_SECURITY_URL', 'file:///srv/arch', 'http: ou https:'],
  ['PANEL_KEV_URL', 'mirror.example', 'http: ou https:'],
  ['PANEL_DEPLOYER', 'kubernetes', 'docker, process ou none'],
  ['PANEL_LOG_LEVEL', 'loud', 'info'],
])('%s may not be %j: the message names it and the expected value', (name, value, expected) => {
  expect(() => readConfig({ [name]: value })).toThrow(ConfigError)
  expect(() => readConfig({ [name]: value })).toThrow(new RegExp(`${name} : attendu .*${expected}`))
})

test('a malformed PANEL_JWT_KEY is refused at the start, by name', () => {
  const broken = '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n'
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const elliptic = ec.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

  expect(() => readConfig({ PANEL_JWT_KEY: broken })).toThrow(/PANEL_JWT_KEY : attendu .*RSA/)
  expect(() => readConfig({ PANEL_JWT_KEY: elliptic })).toThrow(/PANEL_JWT_KEY : attendu .*RSA/)
})

test('the error names every invalid variable, and reveals no secret', () => {
  const read = () => readConfig({ PANEL_PORT: 'x', PANEL_REFRESH_DAYS: 'y', PANEL_SECRET_KEY: 'hunter2' })

  expect(read).toThrow(/PANEL_PORT[\s\S]*PANEL_REFRESH_DAYS|PANEL_REFRESH_DAYS[\s\S]*PANEL_PORT/)
  expect(read).toThrow(/PANEL_SECRET_KEY/)
  expect(read).not.toThrow(/hunter2/)
})

test('trusted proxies are addresses and networks of both families', () => {
  const { isTrustedProxy } = readConfig({ PANEL_TRUSTED_PROXIES: '10.0.0.0/8, 192.0.2.7, fd00::/8, ::1' })

  expect(['10.255.0.1', '192.0.2.7', 'fd12::1', '::1'].map(isTrustedProxy)).toEqual([true, true, true, true])
  expect(['11.0.0.1', '192.0.2.8', 'fe80::1', '::2', ''].map(isTrustedProxy)).toEqual(Array(5).fill(false))
})

test('an unknown variable with the service’s prefix is reported, others are not', () => {
  const environment = { PANEL_PORT: '1', PANEL_PROT: '1', PANEL_A: '', PATH: '/bin', MY_PANEL_X: '' }

  expect(unknownVariables(environment)).toEqual(['PANEL_A', 'PANEL_PROT'])
  expect(() => readConfig({ PANEL_PROT: '1' })).not.toThrow()
})

test('a forge needs its address and its organisation', () => {
  const [PANEL_FORGE_URL, PANEL_FORGE_ORG] = ['https://forge.example/git/', 'panel-modules']
  expect(readConfig({ PANEL_FORGE_URL }).forge).toBeUndefined()
  expect(readConfig({ PANEL_FORGE_ORG, PANEL_FORGE_TOKEN: 'x' }).forge).toBeUndefined()
  expect(readConfig({ PANEL_FORGE_URL, PANEL_FORGE_ORG, PANEL_FORGE_TOKEN: 't' }).forge).toEqual({
    url: PANEL_FORGE_URL,
    org: PANEL_FORGE_ORG,
    token: 't',
  })
})
