import type { updates as fr } from '../fr/updates.ts'

function some(packages: readonly string[]): string {
  const more = packages.length - 8
  return packages.slice(0, 8).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

export const updates: typeof fr = {
  title: 'Updates',
  targets: 'Targets',
  check: 'Check',
  checking: 'Checking…',
  checked: (ago: string) => `checked ${ago}`,
  lists: (ago: string) => `lists refreshed ${ago}`,
  listsMissing: 'no complete refresh of the lists known',
  unsure: (targets: number) => (targets === 1 ? 'not certain on 1 target' : `not certain on ${targets} targets`),
  lastKnown: (ago: string) => `Last known state, checked ${ago}.`,
  awayBlocks: 'Nothing can be started while the host does not answer.',
  failed: (ago: string) => `The last upgrade failed ${ago}`,
  changed: (ago: string) => `Changed ${ago}, not checked since`,
  unanswered: (ago: string) => `Did not answer the last check; checked ${ago}`,
  neverAnswered: 'Did not answer the last check',
  seeCheck: 'Show that check',
  repair: 'Repair',
  repairOf: (name: string) => `Repair the packages of ${name}`,
  states: {
    stopped: 'Stopped',
    unsupported: 'Package manager not supported',
    blocked: 'An upgrade cannot succeed',
    unfinished: 'dpkg has not finished; the next upgrade repairs first',
    attention: 'Not certain to be up to date',
    upToDate: 'Up to date',
  },
  findings: {
    repository_unreachable: (repository) => `The repository ${repository ?? '?'} did not answer.`,
    repository_changed: (repository) => `The repository ${repository ?? '?'} has changed its name or release.`,
    repository_unsigned: (repository) => `The signature of the repository ${repository ?? '?'} is not recognised.`,
    repository_expired: (repository) => `The lists of the repository ${repository ?? '?'}, or its key, have expired.`,
    lists_stale: (file) =>
      file === null
        ? 'The package lists could not be refreshed.'
        : `The service account cannot read ${file}: what waits there is not known.`,
    held: (_, packages) => `Held: ${some(packages)}`,
    dpkg_interrupted: (_, packages) => `Unfinished: ${some(packages) || 'dpkg was interrupted'}`,
    dependencies_broken: (_, packages) => `Unmet dependencies: ${some(packages) || '?'}`,
    manager_locked: () => 'apt or dpkg is at work already: check again in a moment.',
  },
  packageStates: { held: 'held', phased: 'phased', kept_back: 'kept back' },
  upgrade: 'Upgrade',
  upgradeOf: (name: string) => `Upgrade ${name}`,
  show: 'Show output',
  showOf: (name: string) => `Show the output of ${name}`,
  upgradeHostTitle: 'Upgrade the host?',
  upgradeHostText: (packages: string) =>
    `On the host itself, apt upgrades all of its packages (${packages}). Its containers are not upgraded, but what they need may restart.`,
  upgradeHostUnknown: 'their number is not known',
  upgradeHost: 'Upgrade the host',
  upgradeAll: 'Upgrade all',
  upgradeAllTitle: 'Upgrade all of these targets?',
  upgradeAllText: 'On each, apt upgrades all of its packages:',
  triedInVain: (names: string) => `Also tried, where it cannot succeed: ${names}`,
  summary: (packages: number, targets: number) =>
    packages === 0
      ? 'No packages waiting'
      : `${packages === 1 ? '1 package' : `${packages} packages`} on ${targets === 1 ? '1 target' : `${targets} targets`}`,
  packages: (count: number) => (count === 1 ? '1 package' : `${count} packages`),
  upToDate: 'Up to date',
  running: 'Upgrade running',
  repairing: 'Repair running',
  runningWithAll: 'In its turn, with the upgrade of all containers',
  unknown: 'Not checked yet',
  again: 'Check again',
  againOf: (name: string) => `Check ${name} again`,
  showPackages: (name: string) => `Packages of ${name}`,
  name: 'Package',
  installed: 'Installed',
  available: 'Available',
  filter: 'Filter packages',
  noMatch: 'No package matches.',
  noJob: 'The output of an upgrade is shown here, live, as soon as you start one.',
  outputs: 'Running jobs',
  history: 'History',
  noHistory: 'No upgrade was started yet.',
  state: 'State',
  target: 'Target',
  when: 'Started',
  duration: 'Duration',
  open: (target: string) => `Show the upgrade of ${target}`,
  more: 'Show more',
}
