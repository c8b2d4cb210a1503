import type { access } from './fr/access.ts'
import { account } from './fr/account.ts'
import type { applications } from './fr/applications.ts'
import type { audit } from './fr/audit.ts'
import { containers } from './fr/containers.ts'
import { dashboard } from './fr/dashboard.ts'
import { errors } from './fr/errors.ts'
import { findings } from './fr/findings.ts'
import type { forge } from './fr/forge.ts'
import { job } from './fr/job.ts'
import { keys } from './fr/keys.ts'
import type { logs } from './fr/logs.ts'
import { modules } from './fr/modules.ts'
import type { laterErrors } from './fr/later-errors.ts'
import type { module } from './fr/module.ts'
import type { notifications } from './fr/notifications.ts'
import { output } from './fr/output.ts'
import { palette } from './fr/palette.ts'
import { plan } from './fr/plan.ts'
import type { protection } from './fr/protection.ts'
import { reboot } from './fr/reboot.ts'
import type { registry } from './fr/registry.ts'
import { restarts } from './fr/restarts.ts'
import { run } from './fr/run.ts'
import type { schedules } from './fr/schedules.ts'
import type { serviceKey } from './fr/service-key.ts'
import { settings } from './fr/settings.ts'
import type { setup } from './fr/setup.ts'
import { shell } from './fr/shell.ts'
import { signIn } from './fr/signIn.ts'
import type { terminal } from './fr/terminal.ts'
import { titles } from './fr/titles.ts'
import { updates } from './fr/updates.ts'

/** French. Its type makes every other language have the same keys. */
export const fr = {
  ...titles,
  account,
  containers,
  dashboard,
  findings,
  job,
  keys,
  modules,
  output,
  palette,
  plan,
  reboot,
  restarts,
  run,
  settings,
  signIn,
  updates,
  errors,
  shell,
}

export type Words = typeof fr

/** The words that the first load does not contain. */
export interface LaterWords {
  access: typeof access
  applications: typeof applications
  audit: typeof audit
  forge: typeof forge
  laterErrors: typeof laterErrors
  logs: typeof logs
  module: typeof module
  notifications: typeof notifications
  protection: typeof protection
  registry: typeof registry
  schedules: typeof schedules
  serviceKey: typeof serviceKey
  setup: typeof setup
  terminal: typeof terminal
}
