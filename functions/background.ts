import type { AnyJobKind } from '../jobs/jobs.ts'
import type { CliCommand } from '../runtime/command.ts'
import type { Task } from '../runtime/task.ts'
import factorsReset from './access/factors-reset.command.ts'
import recheckUsers from './access/recheck-users.task.ts'
import sessionsEnd from './access/sessions-end.command.ts'
import usersBar from './access/users-bar.command.ts'
import usersUnbar from './access/users-unbar.command.ts'
import users from './access/users.command.ts'
import { applicationJob } from './applications/application-job.ts'
import auditExport from './audit/audit-export.command.ts'
import auditVerify from './audit/audit-verify.command.ts'
import linkAudit from './audit/link-audit.task.ts'
import noteAudit from './audit/note-audit.task.ts'
import keysList from './auth/keys-list.command.ts'
import keysRotate from './auth/keys-rotate.command.ts'
import pruneAttempts from './auth/prune-attempts.task.ts'
import pruneSessions from './auth/prune-sessions.task.ts'
import syncEndedSessions from './auth/sync-ended-sessions.task.ts'
import backup from './backup/backup.command.ts'
import restore from './backup/restore.command.ts'
import checkDue from './checks/check-due.task.ts'
import { checkJob } from './checks/check-job.ts'
import { remedyJob } from './checks/remedy-job.ts'
import pruneChallenges from './factors/prune-challenges.task.ts'
import checkHealth from './health/health.command.ts'
import monitorDatabase from './health/monitor-database.task.ts'
import { containerJob } from './hypervisor/container-job.ts'
import doctor from './install/doctor.command.ts'
import hostHelper from './install/host-helper.command.ts'
import setup from './install/setup.command.ts'
import maintainJobs from './jobs/maintain-jobs.task.ts'
import pruneJobs from './jobs/prune-jobs.task.ts'
import modulesCheck from './authors/modules-check.command.ts'
import modulesDev from './authors/modules-dev.command.ts'
import modulesDisable from './modules/modules-disable.command.ts'
import modulesEnable from './modules/modules-enable.command.ts'
import modulesInit from './authors/modules-init.command.ts'
import modulesList from './modules/modules-list.command.ts'
import modulesRemove from './modules/modules-remove.command.ts'
import deliver from './notifications/deliver.task.ts'
import factorsEnrol from './passkeys/factors-enrol.command.ts'
import modulesInstall from './registry/modules-install.command.ts'
import modulesRestore from './releases/modules-restore.command.ts'
import pruneDeployments from './registry/prune-deployments.task.ts'
import noteStanding from './restarts/note-standing.task.ts'
import { rebootJob } from './restarts/reboot-job.ts'
import { restartJob } from './restarts/restart-job.ts'
import { rollbackJob, snapshotJob } from './runs/rollback-job.ts'
import { upgradeJob } from './runs/upgrade-job.ts'
import schedulesDue from './schedules/schedules-due.task.ts'
import type { Services, Settings } from './services.ts'
import settingsGet from './settings/settings-get.command.ts'
import settingsSet from './settings/settings-set.command.ts'
import tokensCreate from './tokens/tokens-create.command.ts'
import tokensRevoke from './tokens/tokens-revoke.command.ts'
import tokens from './tokens/tokens.command.ts'
import refreshData from './vulnerabilities/refresh-data.task.ts'
import carrySchedules from './waves/carry-schedules.task.ts'
import schedulePings from './waves/schedule-pings.task.ts'

/** The kinds of job that run on the host. */
export const jobKinds: readonly AnyJobKind<Settings>[] = [
  applicationJob,
  checkJob,
  containerJob,
  rebootJob,
  remedyJob,
  restartJob,
  rollbackJob,
  snapshotJob,
  upgradeJob,
]

/** Periodic work, by name. */
export const tasks: readonly Task<Services>[] = [
  carrySchedules, //    every 2 s
  checkDue, //          every 10 s
  deliver, //           every second
  linkAudit, //         every 10 s
  maintainJobs, //      every 2 s
  monitorDatabase, //   every 20 s
  noteAudit, //         every hour
  noteStanding, //      every minute
  pruneAttempts, //     every minute
  pruneChallenges, //   every 10 minutes
  pruneDeployments, //  every hour
  pruneJobs, //         every 10 minutes
  pruneSessions, //     every hour
  recheckUsers, //      every minute
  refreshData, //       every minute
  schedulePings, //     every 2 s
  schedulesDue, //      every 2 s
  syncEndedSessions, // every 2 s
]

/** The commands of the command line, other than starting the service. */
export const commands: readonly CliCommand[] = [
  auditExport, // ops-panel audit export <file>
  auditVerify, // ops-panel audit verify [id:hash] [copy]
  backup, //      ops-panel backup <file>
  doctor, //      ops-panel doctor
  factorsEnrol, // ops-panel factors enrol <user>
  factorsReset, // ops-panel factors reset <user>
  checkHealth, // ops-panel health
  hostHelper, //  ops-panel host helper
  keysList, //    ops-panel keys list
  keysRotate, //  ops-panel keys rotate
  modulesCheck, //   ops-panel modules check <folder>
  modulesDev, //     ops-panel modules dev <folder>
  modulesDisable, // ops-panel modules disable <module>
  modulesEnable, //  ops-panel modules enable <module>
  modulesInit, //    ops-panel modules init <folder>
  modulesInstall, // ops-panel modules install <folder>
  modulesList, //    ops-panel modules list
  modulesRemove, //  ops-panel modules remove <module>
  modulesRestore, // ops-panel modules restore [module]
  restore, //     ops-panel restore <file>
  sessionsEnd, // ops-panel sessions end <user>
  settingsGet, // ops-panel settings get [key]
  settingsSet, // ops-panel settings set <key> [value]
  setup, //       ops-panel setup
  tokens, //       ops-panel tokens
  tokensCreate, // ops-panel tokens create <user> <role> <name> [targets]
  tokensRevoke, // ops-panel tokens revoke <id>
  users, //       ops-panel users
  usersBar, //    ops-panel users bar <user>
  usersUnbar, //  ops-panel users unbar <user>
]
