/*
 * A run of a plan by pacman, and a whole upgrade. The lists of the copy become those of pacman for it, under pacman's
 * lock, after a simulation under the same lock has been compared with the plan. pacman takes the lock itself, so it is
 * free for a moment; therefore a hook of pacman, under its own lock, after the download and before the first change,
 * compares the names in the transaction with those of the simulation, and what the simulation was made from with what is
 * there: the lists, the versions that are installed, and the configuration. libalpm itself refuses a downloaded package
 * that has another version than its list tells. Where nothing was changed, pacman gets its former lists back.
 *
 * A run cannot have databases of its own: libalpm replaces a symbolic link to what is installed by a folder, and would
 * write the new versions there.
 */

export const PACMAN_RUN = `
# pacman_take: takes the lock once
pacman_take() { (set -C && : >"$data/db.lck") 2>/dev/null && locked=1; }
pacman_free() {
  rm -f "$data/db.lck"
  locked=
}
# pacman_lock: takes the lock, within two minutes
pacman_lock() {
  locked= placed= waited=0
  trap pacman_end EXIT
  until pacman_take; do
    if [ ! -e "$data/db.lck" ]; then
      echo "ops-panel: $data/db.lck cannot be written."
      return 1
    elif ! pacman_held; then
      echo "ops-panel: $(pacman_stale)."
      return 1
    elif [ "$waited" -ge 120 ]; then
      echo 'ops-panel: another process has had the database of pacman for two minutes.'
      return 1
    fi
    [ "$waited" -gt 0 ] || echo 'Waiting for another process that has the database of pacman.'
    waited=$((waited + 1))
    sleep 1
  done
}
pacman_installed() { limited 60 pacman -Q --color never </dev/null 2>/dev/null; }
# pacman_put FROM: the lists of a folder become those of pacman; a list that it lacks goes
pacman_put() {
  mkdir -p "$data/sync"
  while read -r each; do
    for file in "$each.db" "$each.db.sig"; do
      if [ ! -e "$1/$file" ]; then
        rm -f -- "$data/sync/$file"
      elif ! cp -p -- "$1/$file" "$data/sync/.ops-panel" || ! mv -f -- "$data/sync/.ops-panel" "$data/sync/$file"; then
        echo "ops-panel: the list $data/sync/$file cannot be written."
        return 1
      fi
    done
  done <"$work/repositories"
}
# pacman_place: gives pacman the lists of the simulation, and keeps its own
pacman_place() {
  mkdir "$work/own" && pacman_installed >"$work/before" || return
  while read -r each; do
    for file in "$data/sync/$each.db" "$data/sync/$each.db.sig"; do
      [ ! -e "$file" ] || cp -p -- "$file" "$work/own/" || return
    done
  done <"$work/repositories"
  placed=1
  pacman_put "$work/db/sync"
}
# pacman_end: the end of the subshell; where nothing was installed, pacman must not have newer lists than what is
pacman_end() {
  trap '' HUP INT TERM
  if [ -n "$placed" ] && [ "$(pacman_installed)" = "$(cat "$work/before")" ]; then
    waited=0
    until [ -n "$locked" ] || pacman_take || [ "$waited" -ge 30 ] || ! pacman_held; do
      waited=$((waited + 1))
      sleep 1
    done
    if [ -n "$locked" ]; then
      pacman_put "$work/own"
    else
      echo 'ops-panel: nothing was upgraded, but pacman has newer lists now: upgrade the system before you install anything.'
    fi
  fi
  [ -z "$locked" ] || pacman_free
  rm -rf "$work"
}
# pacman_upgraded OPTION...: makes the upgrade and sets code
pacman_upgraded() {
  pacman_free
  {
    code=0
    pacman -Su --noconfirm --ask "$ask" --noprogressbar --color never "$@" </dev/null 2>&1 || code=$?
    echo "$code" >"$work/code"
  } | (
    # pacman would be killed by its output if this ended first.
    trap '' HUP INT TERM
    exec tee "$work/log"
  )
  code=$(cat "$work/code")
  if [ "$code" != 0 ] && grep -q -i -e '^error: .*signature' -e '^error: .* key ' "$work/log"; then
    echo 'ops-panel: no key is imported without a question. An administrator has to renew the keyring of this system (archlinux-keyring, pacman-key) first.'
  fi
  if grep -q -e '\\.pacnew$' -e '\\.pacsave$' "$work/log"; then
    echo 'ops-panel: these configuration files have to be compared, for instance with pacdiff:'
    sed -n -e 's/.* installed as \\(.*\\.pacnew\\)$/  \\1/p' -e 's/.* saved as \\(.*\\.pacsave\\)$/  \\1/p' "$work/log"
  fi
  pacman_installed >"$work/after"
  # pacman ends with 0 where it cannot read a list, or cannot write what it has installed.
  if [ "$code" = 0 ] && grep -q '^error: .*database' "$work/log"; then code=1; fi
}
# pacman_compare: writes the program of the hook, and what it compares with
pacman_compare() {
  awk -F '\\t' '{ print $3 }' "$work/changes" | sort -u >"$work/names"
  {
    printf 'work=%s data=%s\\n' "$work" "$data"
    cat <<'COMPARE'
state() {
  {
    while read -r each; do cat "$data/sync/$each.db" "$data/sync/$each.db.sig" 2>/dev/null; done <"$work/repositories"
    ls "$data/local"
    pacman-conf
  } | sha256sum
}
if [ "$1" = state ]; then
  state
  exit
fi
names=$(sort -u)
printf '%s\\n' "$names" >"$work/transaction"
[ "$names" = "$(cat "$work/names")" ] && [ "$(state)" = "$(cat "$work/state")" ] || exit 1
: >"$work/agreed"
cat "$work/agreement"
COMPARE
  } >"$work/compare"
  /bin/sh "$work/compare" state >"$work/state" && mkdir "$work/hook" && pacman_hook "$work/hook" "/bin/sh $work/compare"
}
pacman_run() (
  if [ "$1:$3" != all:every ]; then
    echo 'ops-panel: pacman upgrades everything or nothing.'
    exit 75
  fi
  pacman_begin && [ "$(pacman_conf RootDir)" = / ] || {
    echo 'ops-panel: the databases of pacman cannot be read.'
    exit 75
  }
  if [ -n "$crowded" ]; then
    echo 'ops-panel: more repositories are configured than this panel reads.'
    exit 75
  fi
  pacman_lock || exit 75
  pacman_answer "$2"
  if [ "$code" != 0 ]; then
    cat "$work/errors"
    echo 'ops-panel: pacman cannot tell what it would change.'
    exit 75
  fi
  awk -F '\\t' '$1 == "problem" { print "error: " $2 }' "$work/changes"
  plan_lines <"$work/changes" >"$work/lines"
  agrees <"$work/lines" >"$work/agreement" && ! grep -q '^problem' "$work/changes" || {
    cat "$work/agreement"
    exit 65
  }
  if [ ! -s "$work/lines" ]; then
    cat "$work/agreement"
    exit 0
  fi
  pacman_place && pacman_compare || exit 75
  # With one option --hookdir the default folder counts no more.
  pacman_conf HookDir >"$work/folders"
  set -- "$2"
  while read -r each; do
    [ ! -d "$each" ] || set -- "$@" --hookdir "$each"
  done <"$work/folders"
  removals=$1
  shift
  pacman_upgraded "$@" --hookdir "$work/hook"
  if [ ! -e "$work/agreed" ]; then
    [ "$(cat "$work/before")" = "$(cat "$work/after")" ] && [ "$code" != 0 ] || exit 70
    [ -e "$work/transaction" ] || exit 75
    pacman_differs || exit 65
    echo 'ops-panel: something has changed the lists, the packages or the configuration of pacman meanwhile.'
    exit 75
  fi
  [ "$code" = 0 ] || exit "$code"
  work="$work" awk -F '\\t' '
    BEGIN { while ((getline line < (ENVIRON["work"] "/after")) > 0) { split(line, part, " "); version[part[1]] = part[2] } }
    $2 == "remove" ? $3 in version : version[$3] != $6 { print "ops-panel: " $3 " is not as planned."; missing = 1 }
    END { exit missing }' "$work/changes" || exit 70
)
# pacman_differs: says what pacman was about to do when the hook refused; ends with 0 where it is the plan after all
pacman_differs() {
  if [ "$(cat "$work/transaction")" = "$(cat "$work/names")" ]; then
    while read -r each; do
      [ ! -e "$data/sync/$each.db" ] || cp -p -- "$data/sync/$each.db" "$work/db/sync/"
    done <"$work/repositories"
    pacman_answer "$removals"
    [ "$code" = 0 ] || return 0
    plan_lines <"$work/changes" | agrees >"$work/agreement" && return
    cat "$work/agreement"
    return 1
  fi
  work="$work" awk '
    BEGIN { while ((getline line < (ENVIRON["work"] "/lines")) > 0) { split(line, part, " "); sub(/:[^:]*$/, "", part[2]); planned[part[2]] = line } }
    { print ($0 in planned) ? planned[$0] : "install " $0 ":any - -" }' "$work/transaction" | agrees
  return 1
}
pacman_upgrade() (
  ask=65
  pacman_begin || {
    echo 'ops-panel: the databases of pacman cannot be read.'
    exit 1
  }
  pacman_lock && pacman_place || exit 1
  pacman_upgraded
  exit "$code"
)
`
