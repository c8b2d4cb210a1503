import type { run as fr } from '../fr/schedule-run.ts'

export const run: typeof fr = {
  title: (name, state) => `${name}: ${state.toLowerCase()}`,
  of: (when) => `Due ${when}`,
  byHand: (name, when) => `Started by ${name} ${when}`,
  took: (duration) => `in ${duration}`,
  closes: (time) => `nothing new begins after ${time}`,
  cancelledBy: (name) => `cancelled by ${name}`,
  missed: (count) => (count === 1 ? '1 time missed' : `${count} times missed`),
  whyMissed: (reason) => `Nothing was done: ${reason}.`,
  whyStopped: (reason, isCut) => `Stopped: ${reason}.${isCut ? ' The later waves have not begun.' : ''}`,
  whyClosed: 'The window closed before the end. What has not begun waits for the next time.',
  whyPartial:
    'Targets were left out, and will be each time: a schedule of security fixes alone does nothing there. Upgrade them by a schedule of all packages.',
  pingFailed: (reason) => `The monitoring address could not be called: ${reason}`,
  whyCancelled: 'What had begun went to its end, and nothing else began.',
  stations: { done: 'done', now: 'running', fail: 'failed', ahead: 'to come', off: 'not reached' },
  packages: (count) => (count === 1 ? '1 package' : `${count} packages`),
  decided: {
    keep: (name) => `${name} keeps the upgrade`,
    rollback: (name) => `${name} chose to roll it back`,
  },
  night: {
    title: 'Timeline',
    axis: (day, from, to) => `${day}, ${from} to ${to}`,
    span: (from, to) => (to === undefined ? `since ${from}` : `${from} – ${to}`),
    closes: (time) => `the window closes at ${time}`,
  },
  history: 'All runs',
  historyOf: (name) => `All runs: ${name}`,
  noRuns: 'No runs yet. The first one will appear here.',
  older: 'Show older ones',
  kept: 'The last 200 are kept.',
  startedBy: (name) => `started by ${name}`,
  queued: 'Waiting',
  planning: 'Plans are made',
  pauseUntil: (time) => `Waits until ${time}`,
  pauseOf: (duration) => `then ${duration} of waiting`,
  noTargets: 'No targets yet.',
  notReached: 'This wave has not begun.',
  ahead: 'This wave waits for those before it.',
  target: 'Target',
  state: 'State',
  reason: 'Detail',
  job: 'Upgrade',
  check: 'Check',
  together: 'All its upgrades',
  reboot: 'Restart of the host',
  rebootCheck: 'The check that decides',
  rebootJob: 'Follow the restart',
  rebootOutcome: (outcome) =>
    outcome === null
      ? 'Running'
      : outcome === 'rebooted'
        ? 'Restarted'
        : outcome === 'not_required'
          ? 'Not needed'
          : /^(not_started|skipped)$/.test(outcome)
            ? 'Not begun'
            : 'Failed',
  cancel: 'Cancel this run',
  cancelling: {
    title: 'Cancel this run?',
    text: 'Nothing else begins. What runs goes to its end.',
    verb: 'Cancel the run',
  },
  keep: 'Let it go on',
  cancelAsked: (name) => `${name} cancels it: what runs goes to its end.`,
  toSchedule: 'Schedule',
  toAll: 'All schedules',
}
