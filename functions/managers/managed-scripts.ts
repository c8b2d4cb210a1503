import { APK } from './apk.ts'
import { DNF } from './dnf.ts'
import { PACMAN } from './pacman.ts'
import { ZYPPER } from './zypper.ts'

/*
 * The scripts of the managers other than apt: a check, a plan, a run and an upgrade, each made from the functions of
 * manager.ts. The host helper contains these texts: any change of them, even of a comment, needs a new
 * `HELPER_VERSION`.
 */

/** The exit codes of a run of a plan, the same for every manager: see bound-script.ts of plans/. */
export const RUN_CODES = { differs: 65, unbound: 70, notBegun: 75 }
/** The lines around what a manager was about to do instead of a plan; each line between them has a leading space. */
export const DIFFERS_MARK = 'ops-panel-plan differs'
export const DIFFERS_END = 'ops-panel-plan end'
/** The beginning of the line that an upgrade prints between its two steps when it could not refresh every repository. */
export const PARTLY_REFRESHED = 'Not every repository could be refreshed: '
/** The exit code of an upgrade without the newest lists of every repository: EX_TEMPFAIL, not a manager's own. */
export const WARNED = 75

/** The maximum of bytes of one answer of a manager. */
const MOST = 4_000_000

/**
 * Shell functions that every manager uses. `limited SECONDS COMMAND…` runs a command within a time, where the target has
 * a program for that; `plan_lines` turns lines `change …` into the lines of a plan's hash; `agrees` compares these lines
 * with `$hash` and says what differs.
 */
const SHARED = `
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin:/usr/bin:/bin"
unset TMPDIR TEMPDIR TMP TEMP
if command -v timeout >/dev/null 2>&1; then
  limited() { timeout -k 5 "$@"; }
else
  limited() { shift; "$@"; }
fi
plan_lines() {
  awk -F '\\t' '$1 != "change" { next }
    NF != 11 { print "unreadable - - -"; next }
    { line = $2 " " $3 ":" $4 " " $5 " " $6; print line ~ /^[a-z]+( [^ ]+)( [^ ]+)( [^ ]+)$/ ? line : "unreadable - - -" }' | sort -u
}
# agrees: lines of plan_lines on stdin
agrees() {
  found=$(cat)
  sum=$(if [ -n "$found" ]; then printf '%s\\n' "$found"; fi | sha256sum)
  echo
  if [ "\${sum%% *}" = "$hash" ]; then
    echo "ops-panel-plan: $manager does exactly what was planned."
    return 0
  fi
  echo '${DIFFERS_MARK}'
  if [ -n "$found" ]; then printf '%s\\n' "$found" | sed 's/^/ /'; fi
  echo '${DIFFERS_END}'
  return 1
}
disk_of() {
  cache=$("$manager"_cache)
  for folder in / /usr /var /boot "$cache"; do
    case $folder in "$cache") name=archives ;; *) name=$folder ;; esac
    [ ! -d "$folder" ] || printf '%s %s %s\\n' "$name" "$(stat -f -c '%a %S %b' "$folder")" "$(stat -c %d "$folder")"
  done
}`

/** The managers, and the functions that they share. */
const MANAGERS = `${SHARED}${APK}${DNF}${ZYPPER}${PACMAN}`

/** The part of a check that asks the manager `$manager`; it uses `section` of the check. */
export const MANAGED_LOOK = `${MANAGERS}
managed_look() {
  "$manager"_security | section security
  "$manager"_refresh </dev/null 2>/dev/null | head -c ${MOST} | section refresh
  "$manager"_verify </dev/null 2>/dev/null | head -c ${MOST} | section verify
  "$manager"_changes all keep every </dev/null 2>/dev/null | head -c ${MOST} | section planned
  "$manager"_left </dev/null 2>/dev/null | head -c ${MOST} | section left
  disk_of | section disk
}`

/** A plan: \`managed_plan ONLY REMOVALS KIND NAME…\`; it uses `section` of the plan's script. */
export const MANAGED_PLAN = `${MANAGERS}
managed_plan() {
  "$manager"_verify </dev/null 2>/dev/null | head -c ${MOST} | section verify
  "$manager"_changes "$@" </dev/null 2>/dev/null | head -c ${MOST} | section planned
  disk_of | section disk
}`

/** The run of a plan: \`managed_run HASH ONLY REMOVALS KIND NAME…\`. */
export const MANAGED_RUN = `${MANAGERS}
managed_run() {
  hash=$1
  shift
  "$manager"_run "$@"
}`

/** An upgrade without a plan: \`managed_upgrade\`. */
export const MANAGED_UPGRADE = `${MANAGERS}
managed_upgrade() {
  told=$("$manager"_refresh </dev/null)
  failed=$(printf '%s\\n' "$told" | awk -F '\\t' '$1 == "failed" { printf "%s%s", (n++ ? ", " : ""), $3 }')
  case $(printf '%s\\n' "$told" | tail -n 1) in
    "code\\t0") ;;
    *) [ -n "$failed" ] || return 1 ;;
  esac
  [ -z "$failed" ] || printf '%s\\n' "${PARTLY_REFRESHED}$failed"
  "$manager"_upgrade </dev/null || return
  [ -n "$failed" ] || return 0
  printf '%s\\n' "Upgraded, with warnings: these repositories could not be refreshed: $failed"
  return ${WARNED}
}`
