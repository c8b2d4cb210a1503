import { english } from './english.ts'
import { DETAILS, type Details } from './event.ts'
import { listing, type Told, telling, type Words, zoned } from './words.ts'

const some = (count: number, one: string, more: string) => `${count} ${count === 1 ? one : more}`
const andMore = (count: number) => `and ${count} more`
const list = listing(andMore)

function place(name: string, target: string | null): string {
  if (target === null) return name || 'All containers'
  if (target === 'host') return name || 'Host'
  return name === '' ? target : `${name} (${target})`
}

type Upgraded = Details<'upgrade_done'>

function subject({ name, application }: Upgraded, target: string | null): string {
  return application === null ? place(name, target) : `${place(name, target)}, ${application}`
}

function startedBy({ by, schedule }: Upgraded): string[] {
  if (schedule) return [`Started by the schedule “${schedule.name}”.`]
  return by === null ? [] : [`Started by ${by}.`]
}

function installed({ packages, security }: Upgraded): string[] {
  if (packages === null || packages === 0) return []
  if (security === packages) return [`${some(packages, 'security update', 'security updates')}.`]
  const part = security === null || security === 0 ? '' : `, ${security} of them security`
  return [`${some(packages, 'package', 'packages')}${part}.`]
}

function whyFailed({ reason, code }: Upgraded): string[] {
  if (reason !== null) return [english(reason)]
  return code === null || code === 0 ? [] : [`The command ended with exit code ${code}.`]
}

function regressions({ regressions: all, worse }: Upgraded): string[] {
  const said = all.map(english)
  return worse > all.length ? [...said, `${andMore(worse - all.length)}.`] : said
}

function updates({ name, upgrades, security, news, packages }: Details<'updates_available'>, target: string | null) {
  const counts =
    security === upgrades
      ? some(upgrades, 'security update', 'security updates')
      : `${some(upgrades, 'update', 'updates')}${security > 0 ? `, ${security} of them security` : ''}`
  return { title: `${place(name, target)}: ${counts}`, lines: [`New: ${list(packages, news)}.`] }
}

const MISSED: Readonly<Record<string, string>> = {
  service_away: 'The service was stopped, and the window closed in the meantime.',
  former_run: 'The previous run of this schedule had not ended.',
  all_paused: 'All schedules are paused.',
}

const STOPPED: Readonly<Record<string, string>> = {
  regressed: 'An upgrade broke something',
  failed: 'An upgrade failed',
  creator_kept_out: 'The account that made this schedule may not start upgrades any more, so the schedule is paused',
  host_away: 'The host could not be reached',
  reboot_failed: 'The reboot of the host has failed',
  internal_error: 'An error of the service itself, which its log has, lasted until the window closed',
}

const HAPPENED: Readonly<Record<string, string>> = {
  regressed: 'something is broken after the upgrade',
  rolled_back: 'rolled back to before the upgrade',
  rollback_failed: 'the rollback failed',
  failed: 'the upgrade failed',
  plan_changed: 'not upgraded: something else than the plan was about to be done',
  impossible: 'no upgrade was possible',
  cancelled: 'cancelled',
  check_failed: 'the check failed',
}

function stopped({ name, wave, waves, reason, targets, happened }: Details<'schedule_stopped'>): Told {
  const others = targets.filter((each) => !happened.some(({ target }) => target === each))
  const because = others.length > 0 ? `: ${list(others)}` : ''
  const left = wave === null ? 0 : waves - wave
  return {
    title: `Schedule “${name}” stopped${wave === null ? '' : ` at wave ${wave} of ${waves}`}`,
    lines: [
      `${STOPPED[reason] ?? reason}${because}.`,
      ...happened.map(
        (of) =>
          `${place(of.name, of.target)}: ${HAPPENED[of.outcome] ?? of.outcome}${of.reason ? ` (${english(of.reason)})` : ''}`,
      ),
      ...(left > 0 ? [`${left > 1 ? `The next ${left} waves were` : 'The next wave was'} not started.`] : []),
    ],
    advice:
      reason === 'creator_kept_out'
        ? 'An administrator who changes the schedule becomes its owner.'
        : 'First repair what is broken: the next run begins with the first wave again.',
  }
}

export const en: Words = {
  events: {
    updates_available: telling(DETAILS.updates_available, updates),
    security_updates_available: telling(DETAILS.security_updates_available, updates),
    upgrade_done: telling(DETAILS.upgrade_done, (of, target) => ({
      title: `${subject(of, target)}: upgraded`,
      lines: [...installed(of), ...startedBy(of)],
    })),
    upgrade_failed: telling(DETAILS.upgrade_failed, (of, target) => ({
      title: `${subject(of, target)}: the upgrade failed`,
      lines: [...whyFailed(of), ...startedBy(of)],
      advice: 'The output of the job says where it stopped.',
    })),
    regressed: telling(DETAILS.regressed, (of, target) => ({
      title: `${subject(of, target)}: ${some(of.worse, 'thing', 'things')} broken after the upgrade`,
      lines: [...regressions(of), ...startedBy(of)],
      advice: 'Roll back, or keep the upgrade.',
    })),
    rolled_back: telling(DETAILS.rolled_back, (of, target) => ({
      title: `${subject(of, target)}: rolled back to before the upgrade`,
      lines: [...regressions(of), 'All that was written in it since is lost.', ...startedBy(of)],
      advice: 'The upgrade still has to be made: first find out why it failed.',
    })),
    rollback_failed: telling(DETAILS.rollback_failed, (of, target) => ({
      title: `${subject(of, target)}: the rollback failed`,
      lines: [...whyFailed(of), ...regressions(of), ...startedBy(of)],
      advice: 'The container may be stopped or locked: look at it now.',
    })),
    reboot_required: telling(DETAILS.reboot_required, ({ name, reasons }, target) => ({
      title: `${place(name, target)}: reboot required`,
      lines: reasons.length > 0 ? [`For: ${list(reasons.map(english))}.`] : [],
    })),
    schedule_missed: telling(DETAILS.schedule_missed, ({ name, due_at, timezone, count, reason }) => ({
      title: `Schedule “${name}”: ${some(count, 'run', 'runs')} missed`,
      lines: [`${count > 1 ? 'The last one' : 'It'} was due at ${zoned(due_at, timezone)}.`, MISSED[reason] ?? reason],
    })),
    schedule_stopped: telling(DETAILS.schedule_stopped, stopped),
    check_failed: telling(DETAILS.check_failed, ({ name, message }, target) => ({
      title: `${place(name, target)}: checks fail`,
      lines: [message === null ? 'The target did not answer, or not completely.' : english(message)],
      advice: 'As long as they fail, the panel does not know which updates there are.',
    })),
    host_unreachable: telling(DETAILS.host_unreachable, ({ name, message }) => ({
      title: `${place(name, 'host')}: cannot be reached`,
      lines: [english(message)],
      advice: 'Nothing is checked or upgraded until the host answers the service.',
    })),
    sign_in_from_new_address: telling(DETAILS.sign_in_from_new_address, ({ username, address }) => ({
      title: `${username}: sign-in from a new address`,
      lines: [`Address: ${address}.`],
      advice: `If this was not ${username}, change the password on the host and end the sessions.`,
    })),
    settings_changed: telling(DETAILS.settings_changed, ({ username, keys }) => ({
      title: `Settings changed by ${username}`,
      lines: [`${list(keys, keys.length, 20)}.`],
    })),
    disk_low: telling(DETAILS.disk_low, ({ name, message }, target) => ({
      title: `${place(name, target)}: low on disk space`,
      lines: [english(message)],
    })),
    module_taken_out: telling(DETAILS.module_taken_out, ({ name, message }) => ({
      title: `Module “${name}” was taken out`,
      lines: [english(message)],
      advice: 'The service works without it. Try it again on the page of modules, or install another version.',
    })),
  },
  counted: {
    updates_available: (count) => `updates for ${some(count, 'target', 'targets')}`,
    security_updates_available: (count) => `security updates for ${some(count, 'target', 'targets')}`,
    upgrade_done: (count) => some(count, 'upgrade done', 'upgrades done'),
    upgrade_failed: (count) => some(count, 'upgrade failed', 'upgrades failed'),
    regressed: (count) => some(count, 'regression', 'regressions'),
    rolled_back: (count) => some(count, 'rollback', 'rollbacks'),
    rollback_failed: (count) => some(count, 'rollback failed', 'rollbacks failed'),
    reboot_required: () => 'reboot required',
    schedule_missed: (count) => some(count, 'run missed', 'runs missed'),
    schedule_stopped: () => 'schedule stopped',
    check_failed: (count) => some(count, 'check failed', 'checks failed'),
    host_unreachable: () => 'host cannot be reached',
    sign_in_from_new_address: (count) => some(count, 'unusual sign-in', 'unusual sign-ins'),
    settings_changed: (count) => some(count, 'change of settings', 'changes of settings'),
    disk_low: (count) => `low disk space on ${some(count, 'target', 'targets')}`,
    module_taken_out: (count) => `${some(count, 'module', 'modules')} taken out`,
  },
  and: '; ',
  more: (count) => `… ${andMore(count)}.`,
  output: (where) => `End of the output, ${where}:`,
  place,
  at: zoned,
}
