/**
 * The platform holds what every room needs of its surroundings: configuration, files, secrets, log, clock and small
 * data structures. It promises checked values: a wrong setting stops the start with a ConfigError that names the
 * variable, and not only the feature that reads it later. It must not know requests, sessions, jobs or any other room.
 */
import { isIP } from 'node:net'
import { join, resolve } from 'node:path'
import * as z from 'zod'
import { blockList, isNetwork, parseAddress } from './addresses.ts'
import { fileUrl, namesFile } from './files.ts'
import { hasCredentials, type LinkProblem, linkProblems } from './links.ts'
import { OIDC_VARIABLES, oidcOf, type OidcSettings } from './oidc-variables.ts'
import { type GroupTargets, operatorGroups } from './operator-groups.ts'
import { dataUrl, groupList, integerText, isRsaKey, list, onOff, origin, SECRET_PARAMETERS } from './variables.ts'

const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

const ADMIN_GROUPS = ['sudo', 'admin']
/** Some systems give `wheel` all rights, others none. */
const SUDO_GROUPS = ['wheel']

const FORGE_URL_TEXTS: Readonly<Record<LinkProblem, string>> = {
  notation: 'une adresse http: ou https:',
  unreadable: 'une adresse http: ou https:',
  credentials: 'une adresse sans identifiants : le jeton va dans PANEL_FORGE_TOKEN',
}

const Environment = z.object({
  // An IPv6 address may be in brackets, as in a URL.
  PANEL_HOST: z
    .string()
    .transform((text) => /^\[(.*)\]$/.exec(text)?.[1] ?? text)
    .default('127.0.0.1'),
  PANEL_PORT: integerText(0, 65_535).default(8080),
  PANEL_DATA_DIR: z.string().default('./data'),
  PANEL_DATABASE_URL: z
    .string()
    .regex(/^(file:|https?:|libsql:|wss?:)/, 'une adresse file:, http:, https:, libsql:, ws: ou wss:')
    .refine(
      (text) => !hasCredentials(text, SECRET_PARAMETERS),
      'une adresse sans identifiants : le jeton va dans PANEL_DATABASE_TOKEN',
    )
    .refine(
      (text) => !text.startsWith('file:') || namesFile(text),
      'le chemin d’un fichier après file:, où %, ? et # s’écrivent %25, %3F et %23',
    )
    .optional(),
  PANEL_DATABASE_TOKEN: z.string().optional(),
  PANEL_SECRET_KEY: z
    .string()
    .refine((text) => Buffer.from(text, 'base64').length === 32, '32 octets en base64 (openssl rand -base64 32)')
    .optional(),
  PANEL_JWT_KEY: z
    .string()
    .transform((text) => text.replaceAll('\\n', '\n'))
    .refine(isRsaKey, 'une clé privée RSA d’au moins 2048 bits, PEM PKCS #8')
    .optional(),
  PANEL_SSH_HOST: z
    .string()
    .refine((text) => parseAddress(text) !== undefined, 'hôte, hôte:port ou [adresse IPv6]:port')
    .optional(),
  PANEL_SSH_USERNAME: z.string().optional(),
  PANEL_SSH_PASSWORD: z.string().optional(),
  PANEL_SSH_KEY: z.string().optional(),
  PANEL_SSH_HOST_KEY: z
    .string()
    .regex(/^([\w@.-]+ )?SHA256:[A-Za-z0-9+/]{43}$/, 'une empreinte « SHA256:… », précédée ou non du type de clé')
    .optional(),
  PANEL_ADMIN_GROUPS: groupList.optional(),
  PANEL_SIGN_IN_GROUPS: groupList.optional(),
  PANEL_VIEWER_GROUPS: groupList.optional(),
  PANEL_OPERATOR_GROUPS: z
    .string()
    .refine(
      (text) => operatorGroups(text) !== undefined,
      'des groupes, chacun suivi ou non de ses cibles, séparés par des points-virgules (web:lxc/101,lxc/102;db:host;ops)',
    )
    .optional(),
  PANEL_REQUIRE_FACTOR: z.enum(['off', 'admins', 'all'], 'off, admins ou all').default('off'),
  PANEL_PASSKEY_SIGN_IN: onOff.default(false),
  ...OIDC_VARIABLES,
  PANEL_UNCONFIRMED_ADMINISTRATORS: onOff.default(false),
  PANEL_REFRESH_DAYS: integerText(1, 400).default(7),
  PANEL_KEEP_JOBS: integerText(50, 1_000_000).default(500),
  PANEL_JOB_OUTPUT_MIB: integerText(1, 4096).default(64),
  PANEL_TERMINAL_IDLE_MINUTES: integerText(1, 1440).default(30),
  PANEL_TRUSTED_PROXIES: list
    .refine((items) => items.every(isNetwork), 'des adresses ou des réseaux (10.0.0.0/8), séparés par des virgules')
    .default([]),
  PANEL_ORIGINS: list
    .refine(
      (items) => items.every((item) => origin.safeParse(item).success),
      'des origines (https://panel.example, sans barre oblique à la fin), séparées par des virgules',
    )
    .default([]),
  PANEL_PUBLIC_URL: z
    .string()
    .refine(
      (text) => /^https?:/.test(text) && origin.safeParse(text).success,
      'l’origine du panneau (https://panel.example, sans barre oblique à la fin)',
    )
    .optional(),
  PANEL_ANONYMOUS_OUTPUT: onOff.default(true),
  PANEL_FORGE_URL: z
    .string()
    .superRefine((text, { addIssue }) => {
      for (const problem of linkProblems(text, { notation: 'prefix', secrets: SECRET_PARAMETERS }))
        addIssue(FORGE_URL_TEXTS[problem])
    })
    .optional(),
  PANEL_FORGE_ORG: z
    .string()
    .regex(/^[\w.-]{1,100}$/, 'le nom d’une organisation de la forge')
    .optional(),
  PANEL_FORGE_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]+$/, 'un jeton sans espace')
    .optional(),
  PANEL_CVE_URL: dataUrl().optional(),
  PANEL_ALPINE_SECDB_URL: dataUrl().optional(),
  PANEL_ARCH_SECURITY_URL: dataUrl().optional(),
  PANEL_KEV_URL: dataUrl().optional(),
  PANEL_MODULES_DIR: z.string().optional(),
  PANEL_DEPLOYER: z.enum(['docker', 'process', 'none'], 'docker, process ou none').optional(),
  PANEL_DOCKER_SOCKET: z.string().default('/var/run/docker.sock'),
  PANEL_UI: onOff.default(true),
  PANEL_METRICS: onOff.default(false),
  PANEL_TLS_CERT: z.string().optional(),
  PANEL_TLS_KEY: z.string().optional(),
  PANEL_LOG_LEVEL: z.enum(LEVELS, LEVELS.join(', ')).default('info'),
})

const Together = Environment.refine(({ PANEL_TLS_CERT, PANEL_TLS_KEY }) => !PANEL_TLS_CERT === !PANEL_TLS_KEY, {
  path: ['PANEL_TLS_CERT, PANEL_TLS_KEY'],
  message: 'les deux fichiers PEM ensemble, ou aucun',
}).refine((env) => env.PANEL_OIDC_ISSUER === undefined || oidcOf(env, env.PANEL_PUBLIC_URL) !== undefined, {
  path: ['PANEL_OIDC_ISSUER'],
  message: 'PANEL_OIDC_CLIENT_ID et PANEL_PUBLIC_URL en plus',
})

/** The names of all variables that the service knows. */
export const VARIABLES: ReadonlySet<string> = new Set(Object.keys(Environment.shape))

export interface Config {
  host: string
  port: number
  dataDir: string
  databaseUrl: string
  databaseToken: string | undefined
  secretKey: Buffer | undefined
  jwtKey: string | undefined
  /** `keyFile` is the path of a private key of the service account. */
  ssh: { host: string; username: string; password: string; keyFile?: string | undefined; hostKey: string }
  /** Members of these groups are administrators. */
  adminGroups: readonly string[]
  /** Members of these groups are administrators if sudo lets them become root on the host. */
  sudoGroups: readonly string[]
  /** Only members of these groups may sign in; undefined: every account of the host may. */
  signInGroups: readonly string[] | undefined
  /** Members of these groups only read. */
  viewerGroups: readonly string[] | undefined
  /** Members of these groups work on the targets of the group. */
  operatorGroups: ReadonlyMap<string, GroupTargets> | undefined
  /** The accounts that must have a second factor of the panel. */
  requireFactor: 'off' | 'admins' | 'all'
  /** Whether a passkey alone signs in, without a password of the host. */
  passkeySignIn: boolean
  /** The provider by which people may sign in as accounts of the host; `redirect` is where it sends them back. */
  oidc: OidcSettings | undefined
  /** Whether an account's own claim makes it an administrator while there is no service account to confirm it. */
  unconfirmedAdministrators: boolean
  refreshDays: number
  /** The number of newest jobs whose output is kept. */
  keepJobs: number
  /** The number of bytes kept of a job's output. */
  jobOutputBytes: number
  /** A terminal without input and output is closed after this time. */
  terminalIdleMs: number
  isTrustedProxy(address: string): boolean
  /** Whether some proxy is trusted, so that the `Host` header may be the proxy's own. */
  trustsProxies: boolean
  origins: ReadonlySet<string>
  /** The origin at which people open the panel, for links in messages. */
  publicUrl: string | undefined
  anonymousOutput: boolean
  /** The forge from which modules are installed. */
  forge: { url: string; org: string; token: string | undefined } | undefined
  /** The address below which each Debian release has its list of vulnerabilities. */
  cveUrl: string | undefined
  /** The address below which each branch of Alpine has its lists of fixed vulnerabilities. */
  alpineSecdbUrl: string | undefined
  /** The address below which Arch has the list of its security tracker. */
  archSecurityUrl: string | undefined
  /** The address of the list of vulnerabilities that are known to be exploited. */
  kevUrl: string | undefined
  /** The folder with the code of the installed modules. */
  modulesDir: string
  /**
   * How the service restarts with a changed module: in another container, by the process that owns the port, or not at
   * all.
   */
  deployer: 'docker' | 'process' | 'none' | undefined
  /** The path of the Docker Engine's socket. */
  dockerSocket: string
  servesPanel: boolean
  metrics: boolean
  /** The most bytes of a job's output in one answer. */
  outputBytes: number
  /** Paths of PEM files; undefined for plain HTTP. */
  tls: { cert: string; key: string } | undefined
  logLevel: (typeof LEVELS)[number]
}

/** An invalid value in the environment; the message names each variable and the expected value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** Reads `PANEL_*`; an empty variable counts as absent. Throws a ConfigError that names every invalid variable. */
export function readConfig(environment: Record<string, string | undefined>): Config {
  const given = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  )
  // The schema is used once, and compiling a parser for it would take longer.
  const parsed = Together.safeParse(given, { jitless: true })
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `  ${issue.path.join('.')} : attendu ${issue.message}`)
    throw new ConfigError(`Configuration invalide :\n${lines.join('\n')}`)
  }
  const env = parsed.data
  const { PANEL_TLS_CERT: cert, PANEL_TLS_KEY: key, PANEL_FORGE_URL: forgeUrl, PANEL_FORGE_ORG: forgeOrg } = env
  const dataDir = resolve(env.PANEL_DATA_DIR)
  const proxies = blockList(env.PANEL_TRUSTED_PROXIES)
  return {
    host: env.PANEL_HOST,
    port: env.PANEL_PORT,
    dataDir,
    databaseUrl: env.PANEL_DATABASE_URL ?? fileUrl(join(dataDir, 'panel.db')),
    databaseToken: env.PANEL_DATABASE_TOKEN,
    secretKey: env.PANEL_SECRET_KEY === undefined ? undefined : Buffer.from(env.PANEL_SECRET_KEY, 'base64'),
    jwtKey: env.PANEL_JWT_KEY,
    ssh: {
      host: env.PANEL_SSH_HOST ?? '',
      username: env.PANEL_SSH_USERNAME ?? '',
      password: env.PANEL_SSH_PASSWORD ?? '',
      keyFile: env.PANEL_SSH_KEY && resolve(env.PANEL_SSH_KEY),
      hostKey: env.PANEL_SSH_HOST_KEY ?? '',
    },
    adminGroups: env.PANEL_ADMIN_GROUPS ?? ADMIN_GROUPS,
    sudoGroups: env.PANEL_ADMIN_GROUPS === undefined ? SUDO_GROUPS : [],
    signInGroups: env.PANEL_SIGN_IN_GROUPS,
    viewerGroups: env.PANEL_VIEWER_GROUPS,
    operatorGroups: env.PANEL_OPERATOR_GROUPS === undefined ? undefined : operatorGroups(env.PANEL_OPERATOR_GROUPS),
    requireFactor: env.PANEL_REQUIRE_FACTOR,
    passkeySignIn: env.PANEL_PASSKEY_SIGN_IN,
    oidc: oidcOf(env, env.PANEL_PUBLIC_URL),
    unconfirmedAdministrators: env.PANEL_UNCONFIRMED_ADMINISTRATORS,
    refreshDays: env.PANEL_REFRESH_DAYS,
    keepJobs: env.PANEL_KEEP_JOBS,
    jobOutputBytes: env.PANEL_JOB_OUTPUT_MIB * 1024 * 1024,
    terminalIdleMs: env.PANEL_TERMINAL_IDLE_MINUTES * 60_000,
    isTrustedProxy: (address) => proxies.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4'),
    trustsProxies: env.PANEL_TRUSTED_PROXIES.length > 0,
    origins: new Set(env.PANEL_ORIGINS),
    publicUrl: env.PANEL_PUBLIC_URL,
    anonymousOutput: env.PANEL_ANONYMOUS_OUTPUT,
    forge: forgeUrl && forgeOrg ? { url: forgeUrl, org: forgeOrg, token: env.PANEL_FORGE_TOKEN } : undefined,
    cveUrl: env.PANEL_CVE_URL,
    alpineSecdbUrl: env.PANEL_ALPINE_SECDB_URL,
    archSecurityUrl: env.PANEL_ARCH_SECURITY_URL,
    kevUrl: env.PANEL_KEV_URL,
    modulesDir: env.PANEL_MODULES_DIR === undefined ? join(dataDir, 'modules') : resolve(env.PANEL_MODULES_DIR),
    deployer: env.PANEL_DEPLOYER,
    dockerSocket: resolve(env.PANEL_DOCKER_SOCKET),
    servesPanel: env.PANEL_UI,
    metrics: env.PANEL_METRICS,
    outputBytes: 1024 * 1024,
    tls: cert !== undefined && key !== undefined ? { cert: resolve(cert), key: resolve(key) } : undefined,
    logLevel: env.PANEL_LOG_LEVEL,
  }
}

/** Returns the `PANEL_*` variables that the service does not know; most likely they are misspelt. */
export function unknownVariables(environment: Record<string, string | undefined>): string[] {
  return Object.keys(environment)
    .filter((name) => name.startsWith('PANEL_') && !VARIABLES.has(name))
    .sort()
}
