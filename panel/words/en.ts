import { access } from './en/access.ts'
import { account } from './en/account.ts'
import { applications } from './en/applications.ts'
import { audit } from './en/audit.ts'
import { containers } from './en/containers.ts'
import { dashboard } from './en/dashboard.ts'
import { errors } from './en/errors.ts'
import { findings } from './en/findings.ts'
import { forge } from './en/forge.ts'
import { job } from './en/job.ts'
import { keys } from './en/keys.ts'
import { laterErrors } from './en/later-errors.ts'
import { logs } from './en/logs.ts'
import { module } from './en/module.ts'
import { modules } from './en/modules.ts'
import { notifications } from './en/notifications.ts'
import { output } from './en/output.ts'
import { palette } from './en/palette.ts'
import { accessSentences } from './en/sentences/access.ts'
import { applicationSentences } from './en/sentences/applications.ts'
import { findingSentences } from './en/sentences/findings.ts'
import { formerSentences } from './en/sentences/former.ts'
import { forgeSentences } from './en/sentences/forge.ts'
import { hostSentences } from './en/sentences/host.ts'
import { jobSentences } from './en/sentences/jobs.ts'
import { modulePageSentences } from './en/sentences/module-pages.ts'
import { moduleSentences } from './en/sentences/modules.ts'
import { notificationSentences } from './en/sentences/notifications.ts'
import { protectionSentences } from './en/sentences/protection.ts'
import { restartSentences } from './en/sentences/restarts.ts'
import { scheduleSentences } from './en/sentences/schedules.ts'
import { serviceAccountSentences } from './en/sentences/service-account.ts'
import { waveSentences } from './en/sentences/waves.ts'
import { plan } from './en/plan.ts'
import { protection } from './en/protection.ts'
import { reboot } from './en/reboot.ts'
import { registry } from './en/registry.ts'
import { restarts } from './en/restarts.ts'
import { run } from './en/run.ts'
import { schedules } from './en/schedules.ts'
import { serviceKey } from './en/service-key.ts'
import { settings } from './en/settings.ts'
import { setup } from './en/setup.ts'
import { shell } from './en/shell.ts'
import { signIn } from './en/signIn.ts'
import { terminal } from './en/terminal.ts'
import { titles } from './en/titles.ts'
import { updates } from './en/updates.ts'
import type { Pair } from '../nouns/from-service.ts'
import type { LaterWords, Words } from './fr.ts'

/**
 * French sentences of the service that say more than an error code. `{}` stands for an inserted text, which is
 * translated too when it is a sentence; `{2}` is the second one. A test scans the sources of the service for missing
 * sentences.
 */
export const sentences: readonly Pair[] = [
  ...accessSentences,
  ...applicationSentences,
  ...findingSentences,
  ...forgeSentences,
  ...hostSentences,
  ...jobSentences,
  ...moduleSentences,
  ...modulePageSentences,
  ...notificationSentences,
  ...protectionSentences,
  ...restartSentences,
  ...scheduleSentences,
  ...serviceAccountSentences,
  ...waveSentences,
  ...formerSentences,
]

/** English: loaded only for users who choose it. */
export const en: Words = {
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

export const later: LaterWords = {
  access,
  applications,
  audit,
  forge,
  laterErrors,
  logs,
  module,
  notifications,
  protection,
  registry,
  schedules,
  serviceKey,
  setup,
  terminal,
}
