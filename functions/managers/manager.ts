/*
 * A package manager, with one shape. apt has scripts of its own, because it tells more than the others: they are in
 * checks/, plans/ and updates/. Each other manager is a set of shell functions of this shape, which run in any POSIX
 * shell, also in BusyBox, with `LC_ALL=C`. `m` stands for the name of its program; lines have tabs between their
 * fields, `-` for an absent field, and no other control character.
 *
 * - `m_refresh` refreshes every package list. Prints `repository ID ADDRESS` for each enabled repository, `failed CODE
 *   ID MESSAGE` for each one that failed, with the exit code of the manager, `locked` where another process has its
 *   database, `crowded` where more repositories are enabled than it tells, `lists COUNT` for the repositories whose lists can be read now, and last `code N`, not 0 where any failed.
 * - `m_changes ONLY REMOVALS KIND NAME…` computes what an upgrade would change, from the lists as they are: `only` is
 *   `all` or `security`, `removals` `keep` or `remove`, `kind` `every`, `these` or `without`, as in a plan. Prints
 *   `change ACTION NAME ARCH FROM TO ORIGIN SECURITY SIZE ROOM SOURCE` for each package: `action` is `upgrade`,
 *   `downgrade`, `install`, `remove` or `reinstall`; `security` 1 or 0; `size` the bytes to download; `room` the bytes
 *   that the change takes on the disk, which may be negative; `total SIZE ROOM` where it tells both of all changes alone.
 *   Prints `unsupported` and nothing else for a selection that the manager cannot make, `problem MESSAGE` for what stands
 *   in the way, `crowded` where it needs the lists of all repositories and there are too many, and last `code N`, 0 for a whole answer.
 * - `m_left` prints `left REASON NAME ARCH FROM TO ORIGIN SECURITY` for each available upgrade that an upgrade without
 *   removals leaves alone: `reason` is `held`, `kept_back_remove` or `kept_back_dependencies`. With `kept_back_remove`, an
 *   absent FROM is a new package, and an absent TO a removal. Prints `hold NAME` for each hold, and last `code N`.
 * - `m_verify` prints `broken PACKAGE MESSAGE` for each unmet dependency and `unfinished PACKAGE MESSAGE` for what an
 *   interrupted run has left, and last `code N`.
 * - `m_cache` prints the folder of downloaded packages; `m_security` prints `told` where the distribution marks
 *   security updates, asked after a refresh, else `database`, where only the lists of the service can mark them.
 * - `m_run ONLY REMOVALS KIND NAME…` makes the changes of a plan: it ends with 0 after exactly these, and gives what the
 *   manager is about to change to `agrees`, at the latest moment before it changes anything.
 * - `m_upgrade` makes a whole upgrade from the lists as they are.
 */

/** The package managers, as the API names them. */
export const MANAGER_NAMES = ['apt', 'apk', 'dnf', 'zypper', 'pacman'] as const
export type ManagerName = (typeof MANAGER_NAMES)[number]

/** The managers by the program that stands for each of them in scripts. */
export const PROGRAMS: ReadonlyMap<string, ManagerName> = new Map([
  ['apt-get', 'apt'],
  ['apk', 'apk'],
  ['zypper', 'zypper'],
  ['dnf', 'dnf'],
  ['pacman', 'pacman'],
])

/**
 * The shell text that sets `manager` to the program of the manager, or to `none`. A system may have another manager as a
 * tool, which would find nothing to upgrade: apt and apk count where they have packages, dnf and zypper where pacman has
 * none, and zypper, where dnf is there too, if it has a repository. dnf has three names: a small system may have dnf5
 * without the link `dnf`, and calls it microdnf or yum.
 */
export const FIND_MANAGER = `
manager=none
for each in ${[...PROGRAMS.keys()].join(' ')}; do
  case $each in
    dnf) command -v dnf || command -v dnf-3 || command -v dnf5 ;;
    *) command -v "$each" ;;
  esac >/dev/null 2>&1 || continue
  case $each in
    apt-get) [ -s /var/lib/dpkg/status ] || continue ;;
    apk) [ -s /lib/apk/db/installed ] || [ -s /usr/lib/apk/db/installed ] || continue ;;
    zypper | dnf) ! command -v pacman >/dev/null 2>&1 || ! ls -d /var/lib/pacman/local/*/ >/dev/null 2>&1 || continue ;;
  esac
  case $each in
    zypper) ! command -v dnf >/dev/null 2>&1 || ls /etc/zypp/repos.d/*.repo >/dev/null 2>&1 || continue ;;
  esac
  manager=$each
  break
done
`
