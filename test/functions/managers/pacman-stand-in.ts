import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { managerText } from '../../../functions/managers/managed-scripts.ts'
import { planHash } from '../../../functions/plans/plan.ts'
import { programs, shell } from '../programs.ts'

/*
 * A pacman, pacman-conf and vercmp that answer as pacman 6.0.2 and 7.1.0 do. The output of `pacman -Su` is
 * recorded from real runs over local repositories. The stand-in refuses what a simulation must not do: it downloads for nobody who has
 * a configuration without servers, and runs the hook of a folder that `--hookdir` names.
 */

/** The shells that run the functions: the one of this machine, and that of BusyBox where it is. */
export const SHELLS = ['sh', ...(existsSync('/bin/busybox') ? ['/bin/busybox sh'] : [])]

const CONF = `case $1 in
  '') cat "$FOLDER/pacman.conf" ;;
  --repo-list) sed -n 's/^\\[\\(.*\\)\\]$/\\1/p' "$FOLDER/pacman.conf" | grep -v -x options ;;
  --repo=*) echo "file:///srv/\${1#--repo=}" ;;
  DBPath) echo "$FOLDER/data/" ;;
  RootDir) echo / ;;
  CacheDir) printf '%s\\n' "$FOLDER/pkg/" /other ;;
  *) sed -n "s/^$1 = //p" "$FOLDER/pacman.conf" ;;
esac`

const PACMAN = `echo "$*" >>"$FOLDER/calls"
database= configuration= hooks= downloads=1
while [ $# -gt 0 ]; do
  case $1 in
    --dbpath) database=$2; shift ;;
    --config) configuration=$2; shift ;;
    --hookdir) hooks=$2; shift ;;
    -S* | -D* | -Q*) verb=$1 ;;
  esac
  shift
done
case $verb in
  -Q) cat "$FOLDER/installed" ;;
  -Qu) cat "$FOLDER/newer"; [ -s "$FOLDER/newer" ] ;;
  -Dk) cat "$FOLDER/verified" >&2; ! grep -q '^error' "$FOLDER/verified" ;;
  -Sup) cat "$FOLDER/uris" ;;
  -Sy)
    failed=0
    for each in $(sed -n 's/^\\[\\(.*\\)\\]$/\\1/p' "\${configuration:-$FOLDER/pacman.conf}" | grep -v -x options); do
      cp "$FOLDER/server/$each.db" "$database/sync/" 2>/dev/null && continue
      failed=1
      echo "error: failed retrieving file '$each.db' from disk : Could not open file /srv/$each/$each.db"
    done
    [ "$failed" = 0 ] || echo 'error: failed to synchronize all databases (download library error)'
    exit "$failed" ;;
  -Su)
    if [ -n "$configuration" ]; then
      ! grep -q -e '^Server' -e '^XferCommand = [^/]' "$configuration" || touch "$FOLDER/downloaded"
      grep -q '^VerbosePkgLists$' "$configuration" || exit 9
      [ "$COLUMNS" = 0 ] && grep -q '^AbortOnFail' "$hooks"/*.hook && grep -q '^Exec = /bin/false' "$hooks"/*.hook || exit 9
      cat "$FOLDER/simulation"
      cat "$FOLDER/errors" >&2
      exit "$(cat "$FOLDER/simulated")"
    fi
    (set -C && : >"$FOLDER/data/db.lck") 2>/dev/null || exit 9
    trap 'rm -f "$FOLDER/data/db.lck"' EXIT
    echo ':: Starting full system upgrade...'
    [ ! -e "$FOLDER/meanwhile" ] || . "$FOLDER/meanwhile"
    if [ -e "$FOLDER/gone" ]; then
      cat "$FOLDER/gone"
      exit "$(cat "$FOLDER/ends" 2>/dev/null || echo 1)"
    fi
    command=$(sed -n 's/^Exec = //p' "$hooks"/*.hook 2>/dev/null)
    if [ -n "$command" ] && ! $command <"$FOLDER/transaction"; then
      echo 'error: failed to commit transaction (failed to run transaction hooks)'
      exit 1
    fi
    echo 'upgrading rig-pac...'
    [ ! -e "$FOLDER/afterwards" ] || cp "$FOLDER/afterwards" "$FOLDER/installed"
    exit "$(cat "$FOLDER/ends" 2>/dev/null || echo 0)" ;;
  *) exit 9 ;;
esac`

/** The output of `pacman -Su` up to its download: an upgrade, a package in place of another one, and a dependency. */
export const REPLACES = `:: Starting full system upgrade...
:: Replace rig-old with repo/rig-new? [Y/n]${' '}
resolving dependencies...
:: There are 2 providers available for rig-virt:
:: Repository extra
   1) rig-v1  2) rig-v2

Enter a number (default=1):${' '}
looking for conflicting packages...

Package (4)    Old Version  New Version  Net Change  Download Size

repo/rig-new                1:2.0-1        0.00 MiB       0.00 MiB
rig-old        1.0-1                      -4.77 MiB${'               '}
repo/rig-pac   1.0-1        2.0-1          1.50 MiB       0.00 MiB
extra/rig-v1                1-1            0.00 MiB       0.00 MiB

Total Download Size:   0.00 MiB
Total Installed Size:  0.00 MiB
Net Upgrade Size:      0.00 MiB

:: Proceed with installation? [Y/n]${' '}
Errors occurred, no packages were upgraded.
`

export const UPGRADES = `:: Starting full system upgrade...
resolving dependencies...
looking for conflicting packages...

Package (1)    Old Version  New Version  Net Change  Download Size

repo/rig-pac   1.0-1        2.0-1          1.50 MiB       0.00 MiB

Total Download Size:   0.00 MiB

:: Proceed with installation? [Y/n]${' '}
Errors occurred, no packages were upgraded.
`

export const NOTHING = ':: Starting full system upgrade...\n there is nothing to do\n'

const CONFIGURATION = `[options]
RootDir = /
HookDir = /etc/pacman.d/no-such-folder/
XferCommand = /usr/bin/curl
HoldPkg = pacman
Architecture = x86_64
SigLevel = PackageRequired
[repo]
Usage = All
Server = file:///srv/repo
[extra]
Usage = All
Server = file:///srv/extra
`

/** The output of `pacman -Sup` with a format. */
export const URIS = `rig-new\t1:2.0-1\t345\tfile:///srv/repo/rig-new-1:2.0-1-any.pkg.tar.zst
rig-pac\t2.0-1\t333\tfile:///srv/repo/rig-pac-2.0-1-x86_64.pkg.tar.zst
rig-v1\t1-1\t336\tfile:///srv/extra/rig-v1-1-1-any.pkg.tar.zst
`

/** A system with rig-pac and rig-old 1.0-1, and lists of two repositories. */
export async function pacmanWith(shellName = 'sh') {
  const { folder, env } = await programs({ pacman: PACMAN, 'pacman-conf': CONF, vercmp: 'echo 1' })
  const at = (...path: string[]) => join(folder, ...path)
  for (const each of ['data/local', 'data/sync', 'server', 'pkg', 'copy', 'run'])
    await mkdir(at(each), { recursive: true })
  const write = async (files: Record<string, string>) => {
    for (const [name, text] of Object.entries(files)) await writeFile(at(name), text)
  }
  for (const name of ['rig-old', 'rig-pac']) {
    await mkdir(at('data/local', `${name}-1.0-1`))
    await write({ [`data/local/${name}-1.0-1/desc`]: `%NAME%\n${name}\n\n%ARCH%\nany\n\n` })
  }
  await write({
    'pacman.conf': CONFIGURATION,
    'server/repo.db': 'newer repo',
    'server/extra.db': 'newer extra',
    simulation: UPGRADES,
    errors: 'error: failed to commit transaction (no servers configured for repository)\n',
    simulated: '1',
    uris: URIS,
    newer: 'rig-pac 1.0-1 -> 2.0-1\n',
    installed: 'rig-old 1.0-1\nrig-pac 1.0-1\n',
    afterwards: 'rig-old 1.0-1\nrig-pac 2.0-1\n',
    transaction: 'rig-pac\n',
    verified: 'No database errors have been found!\n',
    calls: '',
  })
  const text = managerText('pacman')
    .replaceAll('/var/cache/ops-panel-pacman', at('copy'))
    .replaceAll('/run/ops-panel.', `${at('run')}/ops-panel.`)
    .replace('work_room=/run\n', `work_room=${at('run')}\n`)
  return {
    folder,
    at,
    write,
    read: (name: string) => readFile(at(name), 'utf8'),
    has: (name: string) => existsSync(at(name)),
    remove: (name: string) => rm(at(name), { recursive: true }),
    /** Gives a file another time, in minutes from now. */
    age: (name: string, minutes: number) => {
      const time = new Date(Date.now() + minutes * 60_000)
      return utimes(at(name), time, time)
    },
    ask: (call: string) => shell(env, `exec ${shellName} -c "$1"`, `sudo= manager=pacman\n${text}\n${call}`),
  }
}

/** The hash of a plan with these lines. */
export function hashOf(...lines: string[]): string {
  return planHash([...lines].sort())
}
