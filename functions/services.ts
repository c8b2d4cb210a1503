import type { Statement } from '../db/libsql/database.ts'
import { type Jobs, JOBS_ERRORS } from '../jobs/jobs.ts'
import { type Deployer, type Modules, MODULES_ACTIONS, MODULES_ERRORS } from '../modules/modules.ts'
import { NOTIFICATIONS_ERRORS, type Notifier } from '../notifications/notifications.ts'
import type { Documents } from '../openapi/openapi.ts'
import type { Hub } from '../platform/hub.ts'
import type { Secrets } from '../platform/secrets.ts'
import * as audit from '../runtime/audit.ts'
import type { AuditStatement } from '../runtime/audit.ts'
import type * as context from '../runtime/context.ts'
import { failuresOf, RUNTIME_ERRORS } from '../runtime/errors.ts'
import { functionDeclarations } from '../runtime/function.ts'
import { RUNTIME_ACTIONS } from '../runtime/refusals.ts'
import { socketDeclarations } from '../runtime/socket.ts'
import { taskDeclarations } from '../runtime/task.ts'
import type { Sessions } from '../sessions/sessions.ts'
import { createSettingsStore, type SettingsStore, type ShownOf, type ValuesOf } from '../settings/settings.ts'
import { createSshSettings, type Host, SSH_ERRORS, SSH_SETTINGS, type SshSettings } from '../ssh/ssh.ts'
import { ACCESS_ACTIONS, ACCESS_ERRORS } from './access/codes.ts'
import { APPLICATIONS_ACTIONS, APPLICATIONS_ERRORS } from './applications/codes.ts'
import { AUDIT_AREA_ACTIONS } from './audit/codes.ts'
import { AUTH_ACTIONS, AUTH_ERRORS } from './auth/codes.ts'
import type { CheckChanges } from './checks/changes.ts'
import { CHECKS_ACTIONS, CHECKS_ERRORS } from './checks/codes.ts'
import { CHECKS_SETTINGS, type ChecksSettings, createChecksSettings } from './checks/settings.ts'
import { DASHBOARD_SETTINGS } from './dashboard/shortcuts.ts'
import { FACTORS_ACTIONS, FACTORS_ERRORS } from './factors/codes.ts'
import { FORGE_ERRORS } from './forge/codes.ts'
import { createForgeSettings, FORGE_SETTINGS, type ForgeSettings } from './forge/settings.ts'
import { HYPERVISOR_ACTIONS, HYPERVISOR_ERRORS } from './hypervisor/codes.ts'
import { createHypervisorSettings, HYPERVISOR_SETTINGS, type HypervisorSettings } from './hypervisor/settings.ts'
import { INSTALL_ACTIONS, INSTALL_ERRORS } from './install/codes.ts'
import type { SetupToken } from './install/setup-token.ts'
import { JOBS_AREA_ACTIONS, JOBS_AREA_ERRORS } from './jobs/codes.ts'
import type { Metrics } from './metrics/metrics.ts'
import { CHANNELS_ACTIONS, CHANNELS_ERRORS } from './notifications/codes.ts'
import { PASSKEYS_ACTIONS, PASSKEYS_ERRORS } from './passkeys/codes.ts'
import { OIDC_ERRORS } from './oidc/codes.ts'
import { PLANS_ACTIONS, PLANS_ERRORS } from './plans/codes.ts'
import { PROTECTION_ACTIONS, PROTECTION_ERRORS } from './protection/codes.ts'
import { REGISTRY_ERRORS } from './registry/codes.ts'
import { RESTARTS_ACTIONS, RESTARTS_ERRORS } from './restarts/codes.ts'
import { SCHEDULES_ACTIONS, SCHEDULES_ERRORS } from './schedules/codes.ts'
import { SETTINGS_AREA_ACTIONS, SETTINGS_AREA_ERRORS } from './settings/codes.ts'
import { TERMINAL_ACTIONS } from './terminal/codes.ts'
import { TOKENS_ACTIONS, TOKENS_ERRORS } from './tokens/codes.ts'
import { UPDATES_ACTIONS, UPDATES_ERRORS } from './updates/codes.ts'

/** The services that every handler receives with its request: the runtime's, and one of each room. Created at the start. */
export interface Services extends context.RuntimeServices {
  host: Host
  hub: Hub
  jobs: Jobs
  /** Tells subscribers when stored checks or running jobs change. */
  checkChanges: CheckChanges
  modules: Modules
  /** Restarts the service with a changed module. */
  deployer: Deployer
  settings: Settings
  /** Tells people what happened, where they are. */
  notifications: Notifier
  documents: Documents
  setupToken: SetupToken
  sessions: Sessions
  /** Seals what areas store and must not show. */
  secrets: Secrets
  /** The newest lines of the log, the oldest of them first. */
  logLines(): string[]
  /** Undefined when metrics are off. */
  metrics: Metrics | undefined
  /** The id of this start of the service; every start has a new one. */
  boot: { id: string; startedAt: string; version: string }
}

/** Every error code of the service: each room and each area brings its own. */
export const ERRORS = {
  ...RUNTIME_ERRORS,
  ...SSH_ERRORS,
  ...JOBS_ERRORS,
  ...MODULES_ERRORS,
  ...NOTIFICATIONS_ERRORS,
  ...AUTH_ERRORS,
  ...ACCESS_ERRORS,
  ...FACTORS_ERRORS,
  ...TOKENS_ERRORS,
  ...SETTINGS_AREA_ERRORS,
  ...INSTALL_ERRORS,
  ...UPDATES_ERRORS,
  ...PASSKEYS_ERRORS,
  ...PLANS_ERRORS,
  ...PROTECTION_ERRORS,
  ...JOBS_AREA_ERRORS,
  ...CHECKS_ERRORS,
  ...HYPERVISOR_ERRORS,
  ...CHANNELS_ERRORS,
  ...RESTARTS_ERRORS,
  ...REGISTRY_ERRORS,
  ...FORGE_ERRORS,
  ...OIDC_ERRORS,
  ...SCHEDULES_ERRORS,
  ...APPLICATIONS_ERRORS,
}
export type ErrorCode = keyof typeof ERRORS

/** Every audit action. Names are stable: people search by them, and entries are never deleted. */
export const AUDIT_ACTIONS = [
  ...RUNTIME_ACTIONS,
  ...AUTH_ACTIONS,
  ...ACCESS_ACTIONS,
  ...AUDIT_AREA_ACTIONS,
  ...FACTORS_ACTIONS,
  ...TOKENS_ACTIONS,
  ...SETTINGS_AREA_ACTIONS,
  ...INSTALL_ACTIONS,
  ...PASSKEYS_ACTIONS,
  ...PLANS_ACTIONS,
  ...UPDATES_ACTIONS,
  ...PROTECTION_ACTIONS,
  ...JOBS_AREA_ACTIONS,
  ...CHECKS_ACTIONS,
  ...HYPERVISOR_ACTIONS,
  ...CHANNELS_ACTIONS,
  ...RESTARTS_ACTIONS,
  ...SCHEDULES_ACTIONS,
  ...APPLICATIONS_ACTIONS,
  ...TERMINAL_ACTIONS,
  ...MODULES_ACTIONS,
] as const
export type AuditAction = (typeof AUDIT_ACTIONS)[number]

/** Every setting: the rooms and areas that use one declare it. */
export const SETTINGS = {
  fields: {
    ...SSH_SETTINGS.fields,
    ...HYPERVISOR_SETTINGS.fields,
    ...FORGE_SETTINGS.fields,
    ...CHECKS_SETTINGS.fields,
    ...DASHBOARD_SETTINGS.fields,
  },
  secrets: [...SSH_SETTINGS.secrets, ...HYPERVISOR_SETTINGS.secrets, ...FORGE_SETTINGS.secrets],
  defaults: { ...CHECKS_SETTINGS.defaults, ...DASHBOARD_SETTINGS.defaults },
} as const
export type SettingKey = keyof typeof SETTINGS.fields
type SecretKey = (typeof SETTINGS.secrets)[number]
export type SettingValues = ValuesOf<SettingKey>
export type ShownSettings = ShownOf<SettingKey, SecretKey>

/** The stored settings, with the typed reading of each subject. */
export interface Settings
  extends Pick<SettingsStore<SettingKey, SecretKey>, 'show' | 'unreadable' | 'change' | 'onChange'>,
    SshSettings,
    HypervisorSettings,
    ForgeSettings,
    ChecksSettings {
  /** Stores the first settings; returns false and changes nothing when an SSH host is set already. */
  install(values: SettingValues & { ssh_host: string }, audit?: Statement): Promise<boolean>
}

export function createSettings(storage: Parameters<typeof createSettingsStore>[1]): Settings {
  const store = createSettingsStore(SETTINGS, storage)
  return {
    ...store,
    ...createSshSettings(store, storage.log),
    ...createHypervisorSettings(store),
    ...createForgeSettings(store),
    ...createChecksSettings(store),
    async install(values, audit) {
      // A key that the wizard has made counts if the installation uses it, as `ssh_key`.
      const waiting = (await store.read()).secret('ssh_key_next') !== ''
      return store.writeFirst('ssh_host', values, audit, waiting ? ['ssh_key_next'] : [])
    },
  }
}

/** The context of one handler. */
export type Context<user, code extends ErrorCode, action extends AuditAction> = context.Context<
  Services,
  user,
  code,
  action
>

/** An audit entry as a statement, for the transaction of the action that it records. */
export const auditStatement: AuditStatement<AuditAction> = audit.auditStatement

/** Creates a failure of the service, to be thrown. */
export const fail = failuresOf(ERRORS)

/** Declare an endpoint, a socket and a task of this service. */
export const defineFunction = functionDeclarations<Services, ErrorCode, AuditAction>()
export const defineSocket = socketDeclarations<Services, AuditAction>()
export const defineTask = taskDeclarations<Services>()
