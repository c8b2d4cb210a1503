import type { findings as fr } from '../fr/findings.ts'
import { newerApplication, selfImpact } from './impact.ts'

type Sentences = Record<keyof typeof fr.short, (told: Told) => string>
interface Told {
  repository: string
  names: string
  message: string
}

const many = (count: number, one: string, more: string) => (count === 1 ? `1 ${one}` : `${count} ${more}`)
const at = (repository: string | null) => (repository === null ? '' : `: ${repository}`)

/** The words of the package manager behind the French sentence, where it is another one than apt with its exit code. */
const cause = (message: string) => {
  const [, by, code, said] =
    /^Le dépôt .{0,400}?(?: \(([a-z]{1,10}), code (\d{1,5})\))?\s: (.{1,400})$/.exec(message) ?? []
  return said === undefined ? '' : ` ${by === undefined ? 'apt' : `${by} (code ${code})`} says: ${said}`
}
/** The other package manager that a French sentence begins with, and the words of it behind the sentence. */
const managed = (message: string) => {
  const [, manager, said] = /^(apk|dnf|zypper|pacman) (?:.{0,200}?)(?:\s: (.{1,400}))?$/.exec(message) ?? []
  return { manager, said: said ?? '?' }
}
const files = (message: string) =>
  /^Vous avez modifié (.{1,2000}?)\s: /.exec(message)?.[1]?.replace(/ et (\d+) autres$/, ' and $1 more')
const spaces = (message: string) =>
  /^La place manque sur (\S+)\s: la mise à jour demande ([\d,.]+\s[MG]i?o), il reste ([\d,.]+\s[MG]i?o)/.exec(message)
const left = (message: string) => /plus de place sur (\S+)\s: ([\d,.]+\s[MG]i?o)/.exec(message)
const cronLines = (message: string) =>
  /^Cron lance des mises à jour .{1,60}\s: (ligne .{1,2000})\.$/
    .exec(message)?.[1]
    ?.replace(/\bligne (\d+) de /g, 'line $1 of ')
    .replace(/ et (\d+) autres$/, ' and $1 more')
const ENDING = /^(.{1,200}) ne (recevra|reçoit) plus de corrections de sécurité \S+ le (\d{4}-\d\d-\d\d)/
/** Checks of former versions told megabytes. */
const size = (text = '') => text.replace(',', '.').replace(/([MG]i?)o$/, '$1B')

function staleLists(file: string, message: string): string {
  const said = /\s: (.{1,400})$/.exec(message)?.[1]
  if (message.startsWith('Le compte de service')) return `The service account cannot read ${file}.`
  if (message.startsWith('apt ne peut pas')) return `apt cannot read its configuration: ${said ?? '?'}`
  const most = /^Cette cible a plus de (\d{1,5}) dépôts/.exec(message)?.[1]
  if (most !== undefined) {
    const manager = / et ([a-z]{1,10}) ne met rien à jour/.exec(message)?.[1]
    const why =
      manager === undefined
        ? 'the others were not refreshed'
        : `the panel reads no more, and ${manager} upgrades nothing without the lists of all`
    return `This target has more than ${most} repositories: ${why}.`
  }
  if (message.startsWith('Aucune liste')) return 'No package list could be read.'
  const ended = /\(([a-z]{1,10}, code \d{1,5})\)/.exec(message)?.[1]
  if (ended !== undefined) return `The package lists could not be refreshed (${ended}).`
  if (message.includes('n’ont pas pu')) return `The package lists could not be refreshed${said ? `: ${said}` : '.'}`
  return 'The package lists are missing or more than a day old.'
}

function unsupported(message: string): string {
  const { manager = 'The package manager' } = managed(message)
  if (message.includes('tout à jour ensemble'))
    return `${manager} always upgrades everything together: a part of it would leave an inconsistent system.`
  if (message.includes('corrigent une faille')) return `${manager} does not tell which updates fix a vulnerability.`
  if (message.includes('de côté')) return `${manager} cannot leave packages out without a change of its configuration.`
  if (message.includes('quelques paquets')) return `${manager} cannot upgrade a few packages alone.`
  const version = /^Cette version de ([a-z]{1,10}) /.exec(message)?.[1]
  if (version !== undefined) return `This version of ${version} cannot tell beforehand what an upgrade would change.`
  return 'The package manager cannot make this choice.'
}

/** The reason why packages stay as they are, or why a plan is forbidden. */
function keptBack(message: string): string {
  const list = (names: string) => names.replace(/ et (\d+) autres$/, ' and $1 more')
  const also = /^La mise à jour changerait aussi (.{1,5000}), que ce choix laisse de côté/.exec(message)?.[1]
  if (also !== undefined)
    return `The upgrade would also change ${list(also)}, which this choice leaves out: choose otherwise.`
  const older = /^Une préférence d’apt impose une version plus ancienne de (.{1,5000}?)\s: /.exec(message)?.[1]
  if (older !== undefined)
    return `A preference of apt forces an older version of ${list(older)}: apt refuses every upgrade.`
  if (message.startsWith('Des correctifs de sécurité'))
    return 'Security fixes wait for dependencies that the repositories do not offer.'
  if (message.startsWith('Des paquets de ce choix'))
    return 'Some packages of this choice stay as they are: apt cannot upgrade them now.'
  return 'Some packages wait for dependencies that the repositories do not offer.'
}

const KNOWN = 'it can use apt, apk, dnf, zypper and pacman.'

function missingManager(message: string): string {
  const [, system, only] = /^(.{1,200}) n’a que (\S{1,50}), avec lequel/.exec(message) ?? []
  if (only !== undefined)
    return `${system} has only ${only}, with which nothing can be foreseen or verified: install dnf.`
  const [, of, other] = /^(.{1,200}) se met à jour par (\S{1,50}), que/.exec(message) ?? []
  if (other !== undefined) return `${of} upgrades itself by ${other}, which the panel does not know: ${KNOWN}`
  const none = /^(.{1,200}) n’a aucun gestionnaire/.exec(message)?.[1]
  if (none !== undefined) return `${none} has no package manager that the panel knows: ${KNOWN}`
  return message.startsWith('Le plan n’a pas pu être lu')
    ? 'The plan could not be read: the answer of the target is not the expected one.'
    : 'No known package manager.'
}

const SENTENCES: Sentences = {
  repository_unreachable: ({ repository, message }) =>
    `Repository ${repository} ${/, code \d+\)\s: /.test(message) ? 'could not be read' : 'did not answer'}.${cause(message)}`,
  repository_changed: ({ repository, message }) =>
    `Repository ${repository} changed its name or release. Accept it if you expected that.${cause(message)}`,
  repository_unsigned: ({ repository, message }) =>
    `The signature of repository ${repository} is not recognized. Install its key, or remove the repository.${cause(message)}`,
  repository_expired: ({ repository, message }) =>
    `The lists or the key of repository ${repository} have expired.${cause(message)}`,
  lists_stale: ({ repository, message }) => staleLists(repository, message),
  held: () => 'Held packages: no upgrade changes them until they are released.',
  phased: () => 'These updates are being phased in: their turn comes by itself.',
  kept_back_install: () => 'Some updates also install new packages.',
  kept_back_remove: () => 'Some updates can only be installed by removing other packages.',
  kept_back_dependencies: ({ message }) => keptBack(message),
  dpkg_interrupted: ({ message }) => {
    const { manager, said } = managed(message)
    return manager === undefined
      ? 'dpkg did not finish; the next upgrade repairs first.'
      : `${manager} did not finish its last work: ${said}`
  },
  dependencies_broken: ({ message }) => {
    const { manager, said } = managed(message)
    if (manager !== undefined) return `${manager} refuses the upgrade: ${said}`
    const [, by, why] = /^Des dépendances ne sont pas satisfaites \(([a-z]{1,10})\)\s: (.{1,400})$/.exec(message) ?? []
    return by === undefined
      ? 'Dependencies are not satisfied, so apt refuses every upgrade.'
      : `Dependencies are not satisfied (${by}): ${why}`
  },
  disk_low: ({ message }) => {
    const [, place, needed, free] = spaces(message) ?? []
    if (place !== undefined)
      return `Not enough space on ${place}: the upgrade needs ${size(needed)}, ${size(free)} are free.`
    const [, where, remains] = left(message) ?? []
    if (where !== undefined) return `Almost no space is left on ${where}: ${size(remains)} after the upgrade.`
    return 'There is not enough space on the disk for this upgrade.'
  },
  conffile_changed: ({ message, names }) =>
    `You changed ${files(message) ?? (names ? `configuration files of ${names}` : 'configuration files')}: your version is kept, and the new one is put beside it (.dpkg-dist).`,
  manager_locked: ({ message }) =>
    `${managed(message).manager ?? 'apt or dpkg'} is already running. Check again when it has finished.`,
  container_locked: () => 'The hypervisor has locked the container. Check again when it has finished.',
  container_stopped: () => 'The container is stopped, and a check does not start it.',
  container_template: () => 'This container is a template: it does not start and is not checked.',
  manager_missing: ({ message }) => missingManager(message),
  network_missing: () => 'No repository answered: the network seems to be missing.',
  root_read_only: ({ message }) => {
    const places = /^(\/.{0,300}) en lecture seule/.exec(message)?.[1]
    return places === undefined
      ? 'The file system is read-only: nothing can be installed.'
      : `Read-only: ${places}. Nothing can be installed.`
  },
  protection_unavailable: () => 'No snapshot can be taken before the upgrade.',
  self_impact: ({ message }) => selfImpact(message),
  reboot_required: () => 'A restart is required.',
  services_outdated: () => 'Services still use files that an upgrade has replaced.',
  end_of_life: ({ message }) => {
    const [, name = 'This distribution', when, date] = ENDING.exec(message) ?? []
    if (date === undefined) return 'This distribution no longer receives security fixes.'
    return when === 'recevra'
      ? `${name} receives no more security fixes after ${date}.`
      : `${name} has received no security fixes since ${date}.`
  },
  application_update: ({ message }) => newerApplication(message),
  other_upgrader: ({ message }) => {
    const lines = cronLines(message)
    const timer = /^([a-z0-9-]{1,50}\.timer) installe /.exec(message)?.[1]
    if (timer !== undefined) return `${timer} installs updates by itself, without a snapshot and beside the plans.`
    return lines === undefined
      ? 'The tool unattended-upgrades installs updates by itself, without a snapshot and beside the plans.'
      : `Cron starts upgrades without a snapshot and beside the plans: ${lines}.`
  },
  security_unknown: () =>
    'The package manager does not tell which updates fix a vulnerability, and no list of vulnerabilities of this distribution is stored.',
  selection_unsupported: ({ message }) => unsupported(message),
}

const some = (packages: readonly string[]) => {
  const more = packages.length - 8
  return packages.slice(0, 8).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

const remedies = {
  retry_check: 'Check again',
  allow_release_change: 'Accept the change',
  repair_dpkg: 'Repair',
  lift_hold: 'Release',
  clean_cache: 'Clear the cache',
  start_container: 'Start',
  disable_auto_upgrades: 'Turn off',
  review_conffile: 'Review the file',
  open_terminal: 'Open terminal',
}

export const findings: typeof fr = {
  short: {
    repository_unreachable: (_, repository) => `No answer${at(repository)}`,
    repository_changed: (_, repository) => `Repository changed${at(repository)}`,
    repository_unsigned: (_, repository) => `Unknown signature${at(repository)}`,
    repository_expired: (_, repository) => `Repository expired${at(repository)}`,
    lists_stale: (_, repository) => (repository === null ? 'Lists over a day old' : `Unreadable${at(repository)}`),
    held: (count) => many(count, 'package held', 'packages held'),
    phased: (count) => (count === 0 ? 'Phased, comes later' : `${count} phased, comes later`),
    kept_back_install: (count) =>
      count === 0 ? 'Installs new packages' : `Installs ${many(count, 'new package', 'new packages')}`,
    kept_back_remove: (count) => (count === 0 ? 'Removes packages' : `Removes ${many(count, 'package', 'packages')}`),
    kept_back_dependencies: (count) => many(count, 'package waiting', 'packages waiting'),
    dpkg_interrupted: () => 'Unfinished packages',
    dependencies_broken: () => 'Broken dependencies',
    disk_low: () => 'Not enough space',
    conffile_changed: (count) =>
      count === 0 ? 'Configuration changed' : many(count, 'configuration changed', 'configurations changed'),
    manager_locked: () => 'Package manager busy',
    container_locked: () => 'Container locked',
    container_stopped: () => 'Not checked while stopped',
    container_template: () => 'Template, not checked',
    manager_missing: () => 'Package manager not supported',
    network_missing: () => 'No network',
    root_read_only: () => 'Read-only file system',
    protection_unavailable: () => 'No snapshot possible',
    self_impact: (count) => (count === 0 ? 'Carries the panel' : 'Affects the panel'),
    reboot_required: () => 'Restart required',
    services_outdated: (count) =>
      count === 0 ? 'Services to restart' : many(count, 'service to restart', 'services to restart'),
    end_of_life: () => 'End of support',
    application_update: (count) =>
      count === 0 ? 'Applications not checked' : many(count, 'application to review', 'applications to review'),
    other_upgrader: () => 'Upgrades by itself',
    security_unknown: () => 'Security fixes not marked',
    selection_unsupported: () => 'Choice not possible here',
  },
  sentence: ({ code, message, packages, repository }) =>
    SENTENCES[code]({ repository: repository ?? '?', names: some(packages), message }),
  remedies,
  remedy: ({ action }) => remedies[action],
  severities: { blocking: 'Blocking', warning: 'Warning', info: 'Note' },
  named: some,
  remedyOf: (remedy: string, target: string) => `${remedy}: ${target}`,
  allowTitle: 'Accept the change of this repository?',
  allowText: 'Its new lists will be used. Refuse if you did not expect this change.',
  allow: 'Accept the change',
}
