/*
 * A package manager, with one shape. apt has scripts of its own, because it tells more than the others: they are in
 * checks/, plans/ and updates/. Each other manager is a set of shell functions of this shape, which run in any POSIX
 * shell, also in BusyBox, with `LC_ALL=C`. `m` stands for the name of its program; lines have tabs between their
 * fields, `-` for an absent field, and no other control character.
 *
 * - `m_refresh` refreshes every package list. Prints `repository ID ADDRESS` for each enabled repository, `failed CODE
 *   ID MESSAGE` for each one that failed, with the exit code of the manager, `locked` where another process has its
 *   database, `lists COUNT` for the repositories whose lists can be read now, and last `code N`, not 0 where any failed.
 * - `m_changes ONLY REMOVALS KIND NAME…` computes what an upgrade would change, from the lists as they are: `only` is
 *   `all` or `security`, `removals` `keep` or `remove`, `kind` `every`, `these` or `without`, as in a plan. Prints
 *   `change ACTION NAME ARCH FROM TO ORIGIN SECURITY SIZE ROOM SOURCE` for each package: `action` is `upgrade`,
 *   `downgrade`, `install`, `remove` or `reinstall`; `security` 1 or 0; `size` the bytes to download; `room` the bytes
 *   that the change takes on the disk, which may be negative. Prints `unsupported` and nothing else for a selection that
 *   the manager cannot make, `problem MESSAGE` for what stands in the way, and last `code N`, 0 for a whole answer.
 * - `m_left` prints `left REASON NAME ARCH FROM TO ORIGIN SECURITY` for each available upgrade that an upgrade without
 *   removals leaves alone: `reason` is `held`, `kept_back_remove` or `kept_back_dependencies`. Prints `hold NAME` for
 *   each hold, and last `code N`.
 * - `m_verify` prints `broken PACKAGE MESSAGE` for each unmet dependency and `unfinished PACKAGE MESSAGE` for what an
 *   interrupted run has left, and last `code N`.
 * - `m_cache` prints the folder of downloaded packages; `m_security` prints `told` where the distribution marks
 *   security updates, else `database`, where only the lists of the service can mark them.
 * - `m_run ONLY REMOVALS KIND NAME…` makes the changes of a plan: it ends with 0 after exactly these, and gives what the
 *   manager is about to change to `agrees`, at the latest moment before it changes anything.
 * - `m_upgrade` makes a whole upgrade from the lists as they are.
 */

/** The package managers, as the API names them. */
export const MANAGER_NAMES = ['apt', 'apk', 'dnf', 'zypper', 'pacman'] as const
export type ManagerName = (typeof MANAGER_NAMES)[number]

/** The programs by which a manager is found, in this order; a container may have another manager as a tool. */
export const PROGRAMS: Readonly<Record<string, ManagerName>> = {
  'apt-get': 'apt',
  apk: 'apk',
  dnf: 'dnf',
  zypper: 'zypper',
  pacman: 'pacman',
}

/** The shell text that sets `manager` to the program of the manager, or to `none`. */
export const FIND_MANAGER = `for manager in ${Object.keys(PROGRAMS).join(' ')} none; do
  command -v "$manager" >/dev/null 2>&1 && break
done
echo "manager $manager"`
