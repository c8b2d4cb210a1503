import { PACMAN_CHANGES } from './pacman-changes.ts'
import { PACMAN_RUN } from './pacman-run.ts'

/*
 * pacman, by the shape of manager.ts. The host helper contains these texts: any change of them, even of a comment, needs a
 * new `HELPER_VERSION`.
 *
 * Partial upgrades never happen: lists are refreshed in a copy, `$pacman_copy`, as checkupdates(8) does it, and become
 * those of pacman only for an upgrade. So nothing that is installed meanwhile comes from newer lists than the rest of the
 * system. For the same reason a refresh counts for all repositories or for none.
 */

/** The lists and the lock of pacman: what a check asks first. */
const LISTS = `
pacman_copy=/var/cache/ops-panel-pacman
pacman_conf() { limited 10 pacman-conf "$@" 2>/dev/null; }
pacman_cache() { pacman_conf CacheDir | sed -n '1s#/*$##p' | grep . || echo /var/cache/pacman/pkg; }
pacman_security() { echo database; }
pacman_plain() { tr '\\001-\\011\\013-\\037\\177' ' ' | cut -c 1-300; }
# pacman_begin: a folder $work, which ends with the subshell, and in it databases of its own: the newest lists, as they are
# now, and what is installed. Users of the target can fill /tmp, so a folder of root comes first.
pacman_begin() {
  work=$(mktemp -d /run/ops-panel.XXXXXXXX 2>/dev/null) || work=$(mktemp -d) || return
  trap 'rm -rf "$work"' EXIT
  trap 'exit 143' HUP INT TERM PIPE
  exec 5<"$work"
  sweep
  # A default folder may be missing, but not one that a configuration names.
  told=$(pacman_conf) && [ -n "$told" ] || return
  printf '%s\\n' "$told" | while IFS= read -r line; do
    case $line in HookDir* | GPGDir* | CacheDir*) [ -d "\${line#*= }" ] || continue ;; esac
    printf '%s\\n' "$line"
  done | cat >"$work/configuration" || return
  told=$(pacman_conf --repo-list) || return
  # Without the lists of all repositories, pacman upgrades nothing.
  crowded=$(printf '%s\\n' "$told" | sed -n '201{s/.*/1/p;q;}')
  printf '%s' "\${told:+$told
}" | head -n 200 | cat >"$work/repositories" || return
  data=$(pacman_conf DBPath)
  data=\${data%/}
  [ -d "$data/local" ] && mkdir -p "$work/db/sync" && ln -s "$data/local" "$work/db/local" || return
  (
    # The copy must not be replaced in between.
    if [ -d "$pacman_copy" ]; then
      exec 7<"$pacman_copy"
      limited 30 flock 7 2>/dev/null
    fi
    lists=$(pacman_lists)
    while read -r each; do
      for file in "$lists/$each.db" "$lists/$each.db.sig"; do
        [ ! -e "$file" ] || cp -p -- "$file" "$work/db/sync/" || exit
      done
    done <"$work/repositories"
  )
}
# pacman_ended FILE...: adds an empty line to what a program has written; fails where the disk is full, because then the
# program may have written less than it told
pacman_ended() {
  for each; do echo 2>/dev/null >>"$work/$each" || return; done
}
# pacman_own: a sum of the lists of pacman. Their times do not tell which are newer: they come from the servers.
pacman_own() {
  while read -r each; do
    echo "$each"
    cat "$data/sync/$each.db" 2>/dev/null
  done <"$work/repositories" | sha256sum
}
# pacman_lists: the folder with the newest lists: the copy, or those of pacman where somebody has refreshed them since
pacman_lists() {
  while read -r each; do
    if [ ! -e "$pacman_copy/sync/$each.db" ]; then
      echo "$data/sync"
      return
    fi
  done <"$work/repositories"
  if [ "$(pacman_own)" = "$(cat "$pacman_copy/sync/own" 2>/dev/null)" ]; then echo "$pacman_copy/sync"; else echo "$data/sync"; fi
}
# pacman_held: whether a process may have the database; pacman leaves its lock when it is killed. Containers on a host have
# processes with another root.
pacman_held() {
  [ -e "$data/db.lck" ] || return 1
  [ -n "$(find "$data/db.lck" -mmin +2 2>/dev/null)" ] || return 0
  for each in $(grep -l -s -e libalpm /proc/[0-9]*/maps 2>/dev/null); do
    [ -e "\${each%maps}root/" ] && ! [ "\${each%maps}root/" -ef / ] || return 0
  done
  return 1
}
pacman_stale() {
  echo "an interrupted run has left the lock $data/db.lck, and no process has it any more: read the end of pacman's log, then remove the lock"
}
# pacman_sync FOLDER SECONDS OPTION...: refreshes the lists in a folder
pacman_sync() {
  folder=$1 seconds=$2
  shift 2
  limited "$seconds" pacman -Sy --dbpath "$folder" --logfile /dev/null --noconfirm --ask 64 --noprogressbar --color never "$@" </dev/null >"$work/output" 2>&1
}
pacman_errors() { sed -n 's/^error: //p' "$work/output" | pacman_plain | awk '{ printf "%s%s", (NR > 1 ? "; " : ""), $0 }' | cut -c 1-300; }
# pacman_each: refreshes each repository by itself, because pacman does not tell which of them has failed in the end
pacman_each() {
  whole=$code until=$(($(date +%s) + 20)) reason=$(pacman_errors)
  [ ! -s "$work/repositories" ] || code=0
  while read -r each; do
    failure=0 message=$reason
    one="$each" awk '/^\\[/ { shown = $0 == "[options]" || $0 == "[" ENVIRON["one"] "]" } shown' "$work/configuration" >"$work/one.conf"
    if [ "$(date +%s)" -ge "$until" ]; then
      failure=124
    else
      pacman_sync "$next" 10 --config "$work/one.conf" || failure=$? message=$(pacman_errors)
    fi
    [ "$failure" != 0 ] || continue
    code=$whole
    [ "$failure" != 124 ] || message='no answer in time'
    printf 'failed\\t%s\\t%s\\t%s\\n' "$failure" "$each" "\${message:-pacman tells no reason}"
  done <"$work/repositories"
}
pacman_refresh() (
  umask 022
  code=1
  pacman_begin || {
    printf 'lists\\t0\\ncode\\t1\\n'
    exit
  }
  while read -r each; do
    printf 'repository\\t%s\\t%s\\n' "$each" "$(pacman_conf --repo="$each" Server | sed -n 1p | pacman_plain | grep . || echo -)"
  done <"$work/repositories"
  if [ -n "$crowded" ]; then
    printf 'crowded\\nlists\\t0\\ncode\\t1\\n'
    exit
  fi
  waited=0
  while pacman_held && [ "$waited" -lt 30 ]; do
    waited=$((waited + 1))
    sleep 1
  done
  [ ! -e "$data/db.lck" ] || echo locked
  mkdir -p "$pacman_copy" && find "$pacman_copy" -maxdepth 1 -name 'next-*' -mmin +60 -exec rm -rf {} + &&
    next=$(mktemp -d "$pacman_copy/next-XXXXXX") && {
    trap 'rm -rf "$work" "$next"' EXIT
    # DownloadUser is another account, which has to reach the folder.
    chmod 755 "$next" && ln -s "$data/local" "$next/local" && cp -Rp "$work/db/sync" "$next/sync" && {
      code=0
      own=$(pacman_own)
      pacman_sync "$next" 50 || code=$?
      [ "$code" = 0 ] || pacman_each
      if [ "$code" = 0 ]; then
        exec 7<"$pacman_copy"
        limited 30 flock 7 2>/dev/null
        printf '%s\\n' "$own" >"$next/sync/own" && rm -rf "$pacman_copy/sync" && mv "$next/sync" "$pacman_copy/sync" || code=1
      fi
    }
  }
  lists=$(pacman_lists) count=0
  while read -r each; do
    [ ! -s "$lists/$each.db" ] || count=$((count + 1))
  done <"$work/repositories"
  printf 'lists\\t%s\\ncode\\t%s\\n' "$count" "$code"
)
pacman_verify() (
  code=1
  pacman_begin && {
    code=0
    limited 60 pacman -Dk --color never </dev/null >"$work/output" 2>&1 || code=$?
    # What it finds is its exit code too.
    [ "$code" -ge 100 ] || grep -q '^error: failed to initialize' "$work/output" || code=0
    pacman_ended output || code=70
    head -n 1000 "$work/output" | pacman_plain | awk -F "'" '
      /^error: missing .* dependency for / && NF == 5 { print "broken\\t" $4 "\\tmissing " $2; next }
      /^error: .* conflicts with / && NF == 5 { print "broken\\t" $2 "\\tin conflict with " $4; next }
      /^error: .* is missing$/ && NF == 3 { print "unfinished\\t" $2 "\\t" substr($3, 3); next }
      /^error: duplicated database entry / && NF == 3 { print "unfinished\\t" $2 "\\tinstalled twice"; next }
      /^error: / { print "unfinished\\t-\\t" substr($0, 8) }'
    if [ -e "$data/db.lck" ] && ! pacman_held; then printf 'unfinished\\t-\\t%s\\n' "$(pacman_stale)"; fi
  }
  printf 'code\\t%s\\n' "$code"
)
`

export const PACMAN = `${LISTS}${PACMAN_CHANGES}${PACMAN_RUN}`
