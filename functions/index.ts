import type { AnyJobKind } from '../jobs/jobs.ts'
import type { CliCommand } from '../runtime/command.ts'
import type { AnyFunction } from '../runtime/function.ts'
import type { AnySocket } from '../runtime/socket.ts'
import type { Task } from '../runtime/task.ts'
import { applicationJob } from './applications/application-job.ts'
import withdrawAgreement from './applications/agreement.delete.ts'
import agreeToApplication from './applications/agreement.put.ts'
import applications from './applications/applications.get.ts'
import runApplication from './applications/run.post.ts'
import applicationSource from './applications/source.post.ts'
import audit from './audit/audit.get.ts'
import jwks from './auth/jwks.get.ts'
import keysList from './auth/keys-list.command.ts'
import keysRotate from './auth/keys-rotate.command.ts'
import login from './auth/login.post.ts'
import logout from './auth/logout.post.ts'
import me from './auth/me.get.ts'
import preferencesRead from './auth/preferences.get.ts'
import preferences from './auth/preferences.patch.ts'
import pruneAttempts from './auth/prune-attempts.task.ts'
import pruneSessions from './auth/prune-sessions.task.ts'
import refresh from './auth/refresh.post.ts'
import revokeSession from './auth/session.delete.ts'
import sessionsEnd from './auth/sessions-end.command.ts'
import sessions from './auth/sessions.get.ts'
import syncEndedSessions from './auth/sync-ended-sessions.task.ts'
import users from './auth/users.command.ts'
import backup from './backup/backup.command.ts'
import restore from './backup/restore.command.ts'
import checkDue from './checks/check-due.task.ts'
import { checkJob } from './checks/check-job.ts'
import check from './checks/check.get.ts'
import checks from './checks/checks.get.ts'
import startChecks from './checks/checks.post.ts'
import checkChanges from './checks/checks.ws.ts'
import remedies from './checks/remedies.post.ts'
import { remedyJob } from './checks/remedy-job.ts'
import searchChecks from './checks/search.get.ts'
import layout from './dashboard/layout.get.ts'
import saveLayout from './dashboard/layout.put.ts'
import asyncApi from './documents/asyncapi.get.ts'
import docsFile from './documents/docs-file.get.ts'
import docsSlash from './documents/docs-slash.get.ts'
import docs from './documents/docs.get.ts'
import openApi from './documents/openapi.get.ts'
import checkHealth from './health/health.command.ts'
import health from './health/health.get.ts'
import monitorDatabase from './health/monitor-database.task.ts'
import containerAction from './hypervisor/action.post.ts'
import { containerJob } from './hypervisor/container-job.ts'
import containers from './hypervisor/containers.get.ts'
import hypervisorHost from './hypervisor/host.get.ts'
import containerTask from './hypervisor/task.get.ts'
import checkInstall from './install/check.post.ts'
import doctor from './install/doctor.command.ts'
import hostHelper from './install/host-helper.command.ts'
import install from './install/install.post.ts'
import setup from './install/setup.command.ts'
import installStatus from './install/status.get.ts'
import cancel from './jobs/cancel.post.ts'
import history from './jobs/history.get.ts'
import jobOutput from './jobs/job-output.get.ts'
import job from './jobs/job.get.ts'
import jobs from './jobs/jobs.get.ts'
import maintainJobs from './jobs/maintain-jobs.task.ts'
import output from './jobs/output.ws.ts'
import pruneJobs from './jobs/prune-jobs.task.ts'
import metrics from './metrics/metrics.get.ts'
import disableModule from './modules/disable.post.ts'
import enableModule from './modules/enable.post.ts'
import modulesDisable from './modules/modules-disable.command.ts'
import modulesEnable from './modules/modules-enable.command.ts'
import modulesList from './modules/modules-list.command.ts'
import modulesRemove from './modules/modules-remove.command.ts'
import modules from './modules/modules.get.ts'
import deliver from './notifications/deliver.task.ts'
import removeChannel from './notifications/channel.delete.ts'
import changeChannel from './notifications/channel.patch.ts'
import channels from './notifications/channels.get.ts'
import addChannel from './notifications/channels.post.ts'
import notices from './notifications/notices.get.ts'
import testChannel from './notifications/test.post.ts'
import panelFile from './panel/file.get.ts'
import panelPage from './panel/page.get.ts'
import chooseConffiles from './plans/conffiles.put.ts'
import compareConffiles from './plans/conffiles.post.ts'
import holds from './plans/holds.put.ts'
import plan from './plans/plan.get.ts'
import makePlan from './plans/plans.post.ts'
import dropProtection from './protection/protection.delete.ts'
import protection from './protection/protection.get.ts'
import setProtection from './protection/protection.put.ts'
import deployment from './registry/deployment.get.ts'
import deploymentProgress from './registry/deployment.ws.ts'
import installModule from './registry/install.post.ts'
import modulesInstall from './registry/modules-install.command.ts'
import registry from './registry/modules.get.ts'
import pruneDeployments from './registry/prune-deployments.task.ts'
import removeModule from './repair/module.delete.ts'
import repair from './repair/modules.get.ts'
import noteStanding from './restarts/note-standing.task.ts'
import keepUpgrade from './runs/keep.post.ts'
import { rebootJob } from './restarts/reboot-job.ts'
import reboot from './restarts/reboot.post.ts'
import { restartJob } from './restarts/restart-job.ts'
import restart from './restarts/restarts.post.ts'
import { rollbackJob, snapshotJob } from './runs/rollback-job.ts'
import rollback from './runs/rollback.post.ts'
import runOfPlans from './runs/run.get.ts'
import run from './runs/run.post.ts'
import runPlans from './runs/runs.post.ts'
import removeSnapshot from './runs/snapshot.delete.ts'
import { upgradeJob } from './runs/upgrade-job.ts'
import cancelScheduleRun from './schedules/cancel.post.ts'
import schedulesDue from './schedules/schedules-due.task.ts'
import previewSchedule from './schedules/preview.get.ts'
import scheduleRun from './schedules/run.get.ts'
import runSchedule from './schedules/run.post.ts'
import scheduleRuns from './schedules/runs.get.ts'
import dropSchedule from './schedules/schedule.delete.ts'
import schedule from './schedules/schedule.get.ts'
import changeSchedule from './schedules/schedule.patch.ts'
import schedules from './schedules/schedules.get.ts'
import addSchedule from './schedules/schedules.post.ts'
import pauseSchedules from './schedules/schedules.put.ts'
import type { Services, Settings } from './services.ts'
import hostKey from './settings/host-key.post.ts'
import logs from './settings/logs.get.ts'
import publicSettings from './settings/public.get.ts'
import savePublicSettings from './settings/public.put.ts'
import settingsGet from './settings/settings-get.command.ts'
import settingsSet from './settings/settings-set.command.ts'
import settings from './settings/settings.get.ts'
import changeSettings from './settings/settings.patch.ts'
import terminal from './terminal/terminal.ws.ts'
import changelog from './updates/changelog.get.ts'
import packages from './updates/packages.get.ts'
import targets from './updates/targets.get.ts'
import refreshData from './vulnerabilities/refresh-data.task.ts'
import carrySchedules from './waves/carry-schedules.task.ts'
import schedulePings from './waves/schedule-pings.task.ts'

export { areas } from './documents/areas.ts'

/** Every endpoint of the service, by address: the public surface on one page. */
export const functions: readonly AnyFunction[] = [
  panelPage, //     GET    / and the other addresses of panel/routes.ts
  jwks, //          GET    /.well-known/jwks.json
  asyncApi, //      GET    /api/asyncapi.json
  audit, //         GET    /api/audit
  login, //         POST   /api/auth/login
  logout, //        POST   /api/auth/logout
  me, //            GET    /api/auth/me
  preferencesRead, // GET   /api/auth/preferences
  preferences, //   PATCH  /api/auth/preferences
  refresh, //       POST   /api/auth/refresh
  sessions, //      GET    /api/auth/sessions
  revokeSession, // DELETE /api/auth/sessions/:id
  layout, //        GET    /api/dashboard/layout
  saveLayout, //    PUT    /api/dashboard/layout
  docs, //          GET    /api/docs
  docsSlash, //     GET    /api/docs/
  docsFile, //      GET    /api/docs/:file
  health, //        GET    /api/health
  containers, //    GET    /api/hypervisor/containers
  containerAction, // POST /api/hypervisor/containers/:vmid/:action
  hypervisorHost, // GET   /api/hypervisor/host
  reboot, //        POST   /api/hypervisor/host/reboot
  containerTask, // GET    /api/hypervisor/tasks/:task
  install, //       POST   /api/install
  checkInstall, //  POST   /api/install/check
  installStatus, // GET    /api/install/status
  modules, //       GET    /api/modules
  disableModule, // POST   /api/modules/:id/disable
  enableModule, //  POST   /api/modules/:id/enable
  channels, //      GET    /api/notifications/channels
  addChannel, //    POST   /api/notifications/channels
  removeChannel, // DELETE /api/notifications/channels/:id
  changeChannel, // PATCH  /api/notifications/channels/:id
  testChannel, //   POST   /api/notifications/channels/:id/test
  notices, //       GET    /api/notifications/notices
  openApi, //       GET    /api/openapi.json
  deployment, //    GET    /api/registry/deployments/:id
  registry, //      GET    /api/registry/modules
  installModule, // POST   /api/registry/modules/:id/install
  repair, //        GET    /api/repair/modules
  removeModule, //  DELETE /api/repair/modules/:id
  schedules, //     GET    /api/schedules
  addSchedule, //   POST   /api/schedules
  pauseSchedules, // PUT   /api/schedules
  dropSchedule, //  DELETE /api/schedules/:id
  schedule, //      GET    /api/schedules/:id
  changeSchedule, // PATCH /api/schedules/:id
  runSchedule, //   POST   /api/schedules/:id/run
  scheduleRuns, //  GET    /api/schedules/:id/runs
  previewSchedule, // GET  /api/schedules/preview
  scheduleRun, //   GET    /api/schedules/runs/:id
  cancelScheduleRun, // POST /api/schedules/runs/:id/cancel
  settings, //      GET    /api/settings
  changeSettings, // PATCH /api/settings
  hostKey, //       POST   /api/settings/host-key
  logs, //          GET    /api/settings/logs
  publicSettings, // GET   /api/settings/public
  savePublicSettings, // PUT /api/settings/public
  applications, //  GET    /api/updates/applications
  withdrawAgreement, // DELETE /api/updates/applications/agreement
  agreeToApplication, // PUT /api/updates/applications/agreement
  runApplication, // POST  /api/updates/applications/run
  applicationSource, // POST /api/updates/applications/source
  changelog, //     GET    /api/updates/changelog
  checks, //        GET    /api/updates/checks
  startChecks, //   POST   /api/updates/checks
  check, //         GET    /api/updates/checks/:target
  history, //       GET    /api/updates/history
  holds, //         PUT    /api/updates/holds
  jobs, //          GET    /api/updates/jobs
  job, //           GET    /api/updates/jobs/:id
  cancel, //        POST   /api/updates/jobs/:id/cancel
  keepUpgrade, //   POST   /api/updates/jobs/:id/keep
  jobOutput, //     GET    /api/updates/jobs/:id/output
  rollback, //      POST   /api/updates/jobs/:id/rollback
  removeSnapshot, // DELETE /api/updates/jobs/:id/snapshot
  packages, //      GET    /api/updates/packages
  makePlan, //      POST   /api/updates/plans
  plan, //          GET    /api/updates/plans/:id
  compareConffiles, // POST /api/updates/plans/:id/conffiles
  chooseConffiles, // PUT  /api/updates/plans/:id/conffiles
  protection, //    GET    /api/updates/protection
  dropProtection, // DELETE /api/updates/protection/:target
  setProtection, // PUT    /api/updates/protection/:target
  remedies, //      POST   /api/updates/remedies
  restart, //       POST   /api/updates/restarts
  run, //           POST   /api/updates/run
  runPlans, //      POST   /api/updates/runs
  runOfPlans, //    GET    /api/updates/runs/:id
  searchChecks, //  GET    /api/updates/search
  targets, //       GET    /api/updates/targets
  metrics, //       GET    /metrics
  panelFile, //     GET    /panel/:file
]

export const sockets: readonly AnySocket[] = [
  checkChanges, //  GET    /ws/checks
  deploymentProgress, // GET /ws/deployments/:id
  terminal, //      GET    /ws/terminal
  output, //        GET    /ws/updates/:jobId
]

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
  maintainJobs, //      every 2 s
  monitorDatabase, //   every 20 s
  noteStanding, //      every minute
  pruneAttempts, //     every minute
  pruneDeployments, //  every hour
  pruneJobs, //         every 10 minutes
  pruneSessions, //     every hour
  refreshData, //       every minute
  schedulePings, //     every 2 s
  schedulesDue, //      every 2 s
  syncEndedSessions, // every 20 s
]

/** The commands of the command line, other than starting the service. */
export const commands: readonly CliCommand[] = [
  backup, //      ops-panel backup <file>
  doctor, //      ops-panel doctor
  checkHealth, // ops-panel health
  hostHelper, //  ops-panel host helper
  keysList, //    ops-panel keys list
  keysRotate, //  ops-panel keys rotate
  modulesDisable, // ops-panel modules disable <module>
  modulesEnable, //  ops-panel modules enable <module>
  modulesInstall, // ops-panel modules install <folder>
  modulesList, //    ops-panel modules list
  modulesRemove, //  ops-panel modules remove <module>
  restore, //     ops-panel restore <file>
  sessionsEnd, // ops-panel sessions end <user>
  settingsGet, // ops-panel settings get [key]
  settingsSet, // ops-panel settings set <key> [value]
  setup, //       ops-panel setup
  users, //       ops-panel users
]
