import type { updates as fr } from '../fr/updates.ts'

function some(packages: readonly string[]): string {
  const more = packages.length - 8
  return packages.slice(0, 8).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

export const updates: typeof fr = {
  title: 'Updates',
  targets: 'Targets',
  checkAll: 'Check all',
  check: 'Check',
  checking: 'Checking…',
  checked: (ago: string) => `checked ${ago}`,
  lists: (ago: string) => `lists refreshed ${ago}`,
  listsMissing: 'lists never fully refreshed',
  uncertain: (targets: number) => (targets === 1 ? 'uncertain on 1 target' : `uncertain on ${targets} targets`),
  lastKnown: (ago: string) => `Last known state, checked ${ago}.`,
  awayBlocks: 'You cannot start anything while the host does not answer.',
  failed: (ago: string) => `Last upgrade failed ${ago}`,
  changed: (ago: string) => `Changed ${ago}, not checked since`,
  unanswered: (ago: string) => `No answer to the last check; checked ${ago}`,
  neverAnswered: 'No answer to the last check',
  seeCheck: 'Show this check',
  repair: 'Repair',
  repairOf: (name: string) => `Repair the packages of ${name}`,
  states: {
    stopped: 'Stopped',
    unsupported: 'Package manager not supported',
    blocked: 'Blocked: an upgrade cannot succeed',
    unfinished: 'dpkg did not finish; the next upgrade repairs first',
    attention: 'May not be up to date',
    upToDate: 'Up to date',
  },
  findings: {
    repository_unreachable: (repository) => `Repository ${repository ?? '?'} did not answer.`,
    repository_changed: (repository) => `Repository ${repository ?? '?'} changed its name or release.`,
    repository_unsigned: (repository) => `The signature of repository ${repository ?? '?'} is not recognized.`,
    repository_expired: (repository) => `The lists or the key of repository ${repository ?? '?'} have expired.`,
    lists_stale: (file) =>
      file === null
        ? 'The package lists could not be refreshed.'
        : `The service account cannot read ${file}, so its updates are unknown.`,
    held: (_, packages) => `Held: ${some(packages)}`,
    dpkg_interrupted: (_, packages) => `Unfinished: ${some(packages) || 'dpkg was interrupted'}`,
    dependencies_broken: (_, packages) => `Unmet dependencies: ${some(packages) || '?'}`,
    manager_locked: () => 'apt or dpkg is already running. Check again in a moment.',
  },
  packageStates: { held: 'held', phased: 'phased', kept_back: 'kept back' },
  upgrade: 'Upgrade',
  upgradeOf: (name: string) => `Upgrade ${name}`,
  show: 'Show output',
  showOf: (name: string) => `Show the output of ${name}`,
  upgradeHostTitle: 'Upgrade the host?',
  upgradeHostText: (packages: string) =>
    `apt upgrades all packages on the host itself (${packages}). Its containers are not upgraded, but services they depend on may restart.`,
  upgradeHostUnknown: 'number unknown',
  upgradeHost: 'Upgrade host',
  upgradeAll: 'Upgrade all',
  upgradeAllTitle: 'Upgrade all these targets?',
  upgradeAllText: 'apt upgrades all packages on each of them:',
  alsoTried: (names: string) => `Also tried, but blocked: ${names}`,
  summary: (packages: number, targets: number) =>
    packages === 0
      ? 'No updates'
      : `${packages === 1 ? '1 update' : `${packages} updates`} on ${targets === 1 ? '1 target' : `${targets} targets`}`,
  packages: (count: number) => (count === 1 ? '1 update' : `${count} updates`),
  upToDate: 'Up to date',
  running: 'Upgrade running',
  repairing: 'Repair running',
  runningWithAll: 'Included in the upgrade of all containers',
  unknown: 'Not checked',
  againOf: (name: string) => `Check ${name} again`,
  showPackages: (name: string) => `Updates of ${name}`,
  name: 'Package',
  installed: 'Installed',
  available: 'Available',
  filter: 'Filter packages',
  noMatch: 'No package matches.',
  noJob: 'Start an upgrade to see its output here, live.',
  outputs: 'Running jobs',
  history: 'History',
  noHistory: 'No upgrades yet.',
  state: 'State',
  target: 'Target',
  when: 'Started',
  duration: 'Duration',
  open: (target: string) => `Show the upgrade of ${target}`,
  more: 'Show more',
}
