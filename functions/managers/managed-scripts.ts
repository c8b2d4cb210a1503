import { comparison, RUN_CODES } from './agreement.ts'
import { APK } from './apk.ts'
import { DNF } from './dnf.ts'
import { PACMAN } from './pacman.ts'
import { ZYPPER } from './zypper.ts'
import type { Prepared } from '../../jobs/jobs.ts'
import { quote } from '../../ssh/ssh.ts'

/*
 * The scripts of the managers other than apt: a check, a plan, a run and an upgrade, each made from the functions of
 * manager.ts. The host helper contains these texts: any change of them, even of a comment, needs a new
 * `HELPER_VERSION`.
 */

/** The beginning of the line that an upgrade prints between its two steps when it could not refresh every repository. */
export const PARTLY_REFRESHED = 'Not every repository could be refreshed: '
/** The exit code of an upgrade without the newest lists of every repository: EX_TEMPFAIL, not a manager's own. */
export const WARNED = 75

/** The maximum of bytes of one answer of a manager. */
const MOST = 4_000_000

/**
 * Shell functions that every manager uses. `limited SECONDS COMMAND…` runs a command within a time, where the target has
 * a program for that; `plan_lines` turns lines `change …` into the lines of a plan's hash, where a package that is
 * installed again from another build counts as upgraded, as it does for apt; `agrees` compares these lines with `$hash`
 * and says what differs. `permitted` says what a sudo rule lacks.
 */
const SHARED = `
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin:/usr/bin:/bin"
unset TMPDIR TEMPDIR TMP TEMP
if timeout -k 5 60 true 2>/dev/null; then
  limited() { timeout -k 5 "$@"; }
elif timeout 60 true 2>/dev/null; then
  limited() { timeout "$@"; }
else
  limited() { shift; "$@"; }
fi
work_room=/run
# sweep: removes from $work_room the folders of runs that were killed: of this account, untouched for a minute, and neither
# open, nor the place of work, nor in the words of any process. A run has its folder $work open as descriptor 5, and so
# have the programs that it starts. Where it does not find itself so, it cannot see the others either.
sweep() {
  me=$(id -u)
  [ -n "$(find "$work_room" -maxdepth 0 -type d -user "$me" ! -perm -002 2>/dev/null)" ] || return 0
  old=$(find "$work_room" -maxdepth 1 -type d -name 'ops-panel.????????' -user "$me" -perm 700 -mmin +1 2>/dev/null | head -n 100)
  [ -n "$old" ] || return 0
  used=$({
    cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\000' '\\n'
    limited 20 ls -l /proc/[0-9]*/fd /proc/[0-9]*/cwd 2>/dev/null
    echo "ops-panel.end $?"
  } | grep -a -F ops-panel. | head -c 1000000)
  case $used in *'ops-panel.end 124' | *'ops-panel.end 137' | *'ops-panel.end 143') return 0 ;; esac
  case $used in *" -> $work"*'ops-panel.end '*) ;; *) return 0 ;; esac
  printf '%s\\n' "$old" | while IFS= read -r each; do
    case \${each#"$work_room/ops-panel."} in *[!A-Za-z0-9]*) continue ;; esac
    case $used in *"$each"*) ;; *) rm -rf "$each" ;; esac
  done
}
plan_lines() {
  awk -F '\\t' '$1 != "change" { next }
    NF != 11 { print "unreadable - - -"; next }
    $2 == "reinstall" { $2 = "upgrade" }
    { line = $2 " " $3 ":" $4 " " $5 " " $6; print line ~ /^[a-z]+( [^ ]+)( [^ ]+)( [^ ]+)$/ ? line : "unreadable - - -" }' | sort -u
}
# agrees: lines of plan_lines on stdin
agrees() {
  found=$(cat)
  ${comparison({ hash: '$hash', manager: '$manager', end: 'return' })}
}
permitted() {
  [ -n "$sudo" ] || return 0
  $sudo -l "$manager" >/dev/null 2>&1 </dev/null && return
  echo "the sudo rule lacks a program: $(id -un) ALL=(root) NOPASSWD: $(command -v "$manager")"
  return 1
}
disk_of() {
  cache=$("$manager"_cache)
  for folder in / /usr /var /boot "$cache"; do
    case $folder in "$cache") name=archives ;; *) name=$folder ;; esac
    [ ! -d "$folder" ] || printf '%s %s %s\\n' "$name" "$(stat -f -c '%a %S %b' "$folder")" "$(stat -c %d "$folder")"
  done
  printf 'folder %s\\n' "$cache"
  # pacman keeps its files for people who go back to a former version.
  [ "$manager" = pacman ] || [ ! -d "$cache" ] || find "$cache" -type f \\( -name '*.rpm' -o -name '*.apk' \\) -exec stat -c %s {} + 2>/dev/null |
    awk '{ sum += $1 } END { printf "cached %.0f\\n", sum }'
}`

/**
 * The parts of a check, of a plan, of a run and of an upgrade that ask `$manager`. Sections have \`|\` between the fields
 * of their lines: readers drop control characters. They use \`section\` of the script around them.
 */
const DRIVERS = `
fields() { head -c ${MOST} | tr '|\\t' '/|' | section "$1"; }
managed_look() {
  if lacking=$(permitted); then
    "$manager"_refresh </dev/null 2>/dev/null | fields refresh
  else
    printf 'lacking\\t%s\\ncode\\t1\\n' "$lacking" | fields refresh
  fi
  "$manager"_security </dev/null 2>/dev/null | section security
  "$manager"_verify </dev/null 2>/dev/null | fields verify
  "$manager"_changes all keep every </dev/null 2>/dev/null | fields planned
  "$manager"_left </dev/null 2>/dev/null | fields left
  disk_of | section disk
}
# managed_plan ONLY REMOVALS KIND NAME...
managed_plan() {
  "$manager"_verify </dev/null 2>/dev/null | fields verify
  "$manager"_changes "$@" </dev/null 2>/dev/null | fields planned
  disk_of | section disk
}
# managed_run HASH ONLY REMOVALS KIND NAME...
managed_run() {
  hash=$1
  shift
  permitted || return ${RUN_CODES.notBegun}
  "$manager"_run "$@"
}
# managed_upgrade: ends with ${WARNED} only where it has upgraded
managed_upgrade() {
  permitted || return 1
  told=$("$manager"_refresh </dev/null)
  failed=$(printf '%s\\n' "$told" | awk -F '\\t' '$1 == "failed" { printf "%s%s", (n++ ? ", " : ""), $3 }')
  printf '%s\\n' "$told" | awk -F '\\t' '$1 == "failed" { printf "%s: %s (code %s)\\n", $3, $4, $2 } $1 == "locked" { print "The database is locked by another process." }
    $1 == "crowded" { print "More repositories are configured than this panel reads." }'
  case $(printf '%s\\n' "$told" | tail -n 1) in
    "code\t0") ;;
    *)
      if [ -z "$failed" ]; then
        echo 'The package lists could not be refreshed.'
        return 1
      fi
      ;;
  esac
  [ -z "$failed" ] || printf '%s\\n' "${PARTLY_REFRESHED}$failed"
  code=0
  "$manager"_upgrade </dev/null || code=$?
  case $code in
    0) ;;
    ${WARNED}) return 1 ;;
    *) return "$code" ;;
  esac
  [ -n "$failed" ] || return 0
  printf '%s\\n' "Upgraded, with warnings: these repositories could not be refreshed: $failed"
  return ${WARNED}
}
`

/** Leaves out the lines of comments: a command has a maximum of bytes. */
const bare = (text: string) => text.replace(/^ *# .*\n/gm, '')

const TEXTS = { apk: bare(APK), dnf: bare(DNF), zypper: bare(ZYPPER), pacman: bare(PACMAN) }

/** A manager with a shape: each one but apt. */
export type ManagedName = keyof typeof TEXTS

/** The functions of every manager, and those that ask `$manager`. */
export const MANAGERS = `${SHARED}${Object.values(TEXTS).join('')}${DRIVERS}`

/**
 * The end of a text that is `MANAGERS`: runs the next argument as a script, with the arguments after it. Linux limits each
 * argument to 128 KiB, and an inspection is too long to be in one with the functions.
 */
export const THEN_RUN = `
script=$1
shift
eval "$script"
`

/** The same functions, of one manager alone: a command has a maximum of 128 KiB. */
export function managerText(name: ManagedName): string {
  return `${SHARED}${TEXTS[name]}${DRIVERS}`
}

/**
 * Gives the functions of every manager to the scripts of a job, as the variable `managers` of its environment: they are
 * longer than an argument of a command over SSH may be. The scripts put them before those that they run in a target.
 */
export function withManagers({ command, ...prepared }: Prepared): Prepared {
  return { ...prepared, command: ['sh', ...command], program: MANAGERS_PROGRAM }
}

const MANAGERS_PROGRAM = `managers=${quote([MANAGERS])}
export managers
exec "$@"
`

/** Whether a manager has a shape. */
export function isManaged(name: string | null): name is ManagedName {
  return name !== null && Object.hasOwn(TEXTS, name)
}
