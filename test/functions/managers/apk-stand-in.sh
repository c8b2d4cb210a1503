#!/bin/sh
# A stand-in for apk: the words, exit codes and files of apk-tools 2.14 (3.0 with APK_MAJOR=3), with a small solver. It
# reads and keeps, below APK_ROOT:
#   lib/apk/db/installed   the installed packages, in apk's own format; lib/apk/db/lock is its lock (flock)
#   etc/apk/world          the wanted packages; name=version holds one
#   repo/APKINDEX          what the repositories offer, in the format of the index; it is copied into the cache by update
#   state/update           what apk update prints instead, with its exit code in the first line
#   state/simulation       what a simulation prints instead, in the same form
#   state/version, policy  what these commands print instead
#   state/details          where it is, a question tells versions too, as with a configuration that makes apk 3 verbose
#   state/question         what apk prints before its question instead
#   state/unmet            the errors of a solver that finds no solution
#   state/locked           where it is, another process keeps the lock for as long as anybody waits
#   state/other            the changes that an upgrade makes instead of those that a simulation tells
#   state/fail, skip       the name of a package whose installation fails, or is left out without a word
#   state/hold             where it is, a script of a package starts a process that keeps the output open
#   state/pause            a pipe from which a simulation reads before it ends
# Each simulation, question, answer and change is written to state/log.
root=$APK_ROOT
simulate= interactive= wait=0 command= words=
for word; do
  shift
  case $word in
    -s | --simulate) simulate=1 ;;
    -i | --interactive) interactive=1 ;;
    --wait | --cache-max-age | --timeout) eval "$(printf '%s' "${word#--}" | tr - _)=\$1 skip=1" ;;
    --no-progress | --no-self-upgrade | --force-missing-repositories) ;;
    --version) echo "apk-tools ${APK_VERSION:-${APK_MAJOR:-2}.14.4}, compiled for x86_64." && exit 0 ;;
    --print-arch) echo x86_64 && exit 0 ;;
    -l) less=1 ;;
    -*) echo "apk: unrecognized option: ${word#--}" && exit 1 ;;
    *)
      if [ -n "${skip:-}" ]; then
        skip=
      elif [ -z "$command" ]; then
        command=$word
      elif [ -z "${less:-}" ]; then words="$words $word"; fi
      ;;
  esac
done
installed=$root/lib/apk/db/installed index=$root/var/cache/apk/APKINDEX.0badcafe.tar.gz
: "${cache_max_age:=240}"

locked() {
  exec 8>>"$root/lib/apk/db/lock"
  [ -f "$root/state/locked" ] || ! flock -n 8 || return
  if [ "$wait" != 0 ]; then
    echo 'Waiting for repository lock'
    [ -f "$root/state/locked" ] || ! flock -w "$wait" 8 || return
  fi
  echo 'ERROR: Unable to lock database: Resource temporarily unavailable' >&2
  echo 'ERROR: Failed to open apk database: Resource temporarily unavailable' >&2
  exit 99
}
offered() { tar -xzOf "$index" APKINDEX 2>/dev/null; }

# solve NAME...: the changes, as: verb name from to
solve() {
  {
    cat "$installed"
    printf '\n--\n'
    offered
    printf '\n--\n'
    tr ' ' '\n' <"$root/etc/apk/world"
  } | awk -v names=" $* " -v all="$([ $# -gt 0 ] || echo 1)" '
    $0 == "--" { part++; next }
    part == 2 && $0 != "" { name = $0; sub(/[=<>~@].*/, "", name); world[name]; if ($0 ~ /=/) { pin = $0; sub(/^[^=]*=/, "", pin); pinned[name] = pin } next }
    /^P:/ { name = substr($0, 3); if (!part) { have[name] = "?"; order[++count] = name } }
    /^V:/ { if (part) new[name] = substr($0, 3); else have[name] = substr($0, 3) }
    /^D:/ { if (part) new_needs[name] = substr($0, 3); else needs[name] = substr($0, 3) }
    /^C:/ { if (part) new_sum[$0]; sum = $0 }
    END {
      for (i = 1; i <= count; i++) {
        name = order[i]; after[name] = have[name]
        if ((name in new) && new[name] != have[name] && (all || index(names, " " name " ")) && !((name in pinned) && pinned[name] != new[name])) take(name)
      }
      for (i = 1; i <= count; i++) used[order[i]] = 0
      do {
        changed = 0
        for (name in after) {
          need = (name in taken) ? new_needs[name] : needs[name]
          if (!(name in reached) && ((name in world) || (name in wanted))) { reached[name]; changed = 1; m = split(need, each, " "); for (k = 1; k <= m; k++) { dep = each[k]; sub(/=.*/, "", dep); wanted[dep] } }
        }
      } while (changed)
      total = 0
      for (i = 1; i <= count; i++) {
        name = order[i]
        if (!(name in reached)) { out[++total] = "Purging " name " " have[name] " -"; continue }
        if (name in taken) out[++total] = (rebuilt(name) ? "Replacing " : "Upgrading ") name " " have[name] " " after[name]
      }
      for (i = 1; i <= added; i++) out[++total] = "Installing " extra[i] " - " after[extra[i]]
      for (i = 1; i <= total; i++) print out[i]
    }
    function rebuilt(name) { return have[name] == after[name] }
    function take(name, m, k, each, dep, exact) {
      if (name in taken) return
      if (!(name in new)) { missing = missing " " name; return }
      taken[name]; after[name] = new[name]
      m = split(new_needs[name], each, " ")
      for (k = 1; k <= m; k++) {
        dep = each[k]; exact = ""
        if (dep ~ /=/) { exact = dep; sub(/^[^=]*=/, "", exact); sub(/=.*/, "", dep) }
        if (!(dep in have)) { if (!(dep in after)) { extra[++added] = dep; take(dep) } }
        else if (exact != "" && have[dep] != exact) take(dep)
      }
    }'
}
# printed CHANGES: the lines of a transaction
printed() {
  printf '%s\n' "$1" | awk -v wide="${APK_MAJOR:-2}" '
    NF { line[++n] = $0 }
    END { digits = length(n ""); for (i = 1; i <= n; i++) { split(line[i], w, " ")
      head = wide == 3 ? sprintf("(%" digits "d/%d)", i, n) : "(" i "/" n ")"
      print head " " w[1] " " w[2] " (" (w[1] == "Purging" ? w[3] : w[1] == "Installing" ? w[4] : w[3] " -> " w[4]) ")" } }'
}
group() { # group VERBS TITLE
  if [ -f "$root/state/details" ]; then
    details=$(printed "$(printf '%s\n' "$changes" | awk -v verbs=" $1 " 'NF && index(verbs, " " $1 " ")')" | sed 's/^([^)]*) [A-Za-z]* /  /')
    [ -z "$details" ] || printf '%s:\n%s\n' "$2" "$details"
    return
  fi
  names=$(printf '%s\n' "$changes" | awk -v verbs=" $1 " 'NF && index(verbs, " " $1 " ") { print $2 }')
  [ -z "$names" ] || printf '%s:\n%s\n' "$2" "$(printf '%s ' $names | fold -s -w 60 | sed -e 's/^/  /' -e 's/ *$//')"
}

case $command in
  update)
    locked
    echo 'fetch https://repo.example/alpine/v3.20/main/x86_64/APKINDEX.tar.gz'
    if [ -f "$root/state/update" ]; then
      sed 1d "$root/state/update"
      exit "$(head -n 1 "$root/state/update")"
    fi
    tar -czf "$index" -C "$root/repo" APKINDEX
    echo 'v3.20.3-40-gabcdef [https://repo.example/alpine/v3.20/main]'
    echo "OK: $(offered | grep -c '^P:') distinct packages available"
    ;;
  version)
    [ ! -f "$root/state/version" ] || exec cat "$root/state/version"
    echo 'Installed:                                Available:'
    { cat "$installed"; printf '\n--\n'; offered; } | awk '$0 == "--" { part = 1; next } /^P:/ { name = substr($0, 3) }
      /^V:/ { if (part) new[name] = substr($0, 3); else { have[name] = substr($0, 3); order[++n] = name } }
      END { for (i = 1; i <= n; i++) { name = order[i]; if ((name in new) && new[name] != have[name]) printf "%-40s < %s \n", name "-" have[name], new[name] } }'
    ;;
  policy)
    [ ! -f "$root/state/policy" ] || exec cat "$root/state/policy"
    for name in $words; do
      echo "$name policy:"
      offered | awk -v name="$name" '/^P:/ { at = substr($0, 3) == name } at && /^V:/ { print "  " substr($0, 3) ":\n    https://repo.example/alpine/v3.20/main" }'
    done
    ;;
  add)
    if [ -f "$root/state/unmet" ]; then
      cat "$root/state/unmet" >&2
      exit 1
    fi
    echo 'OK: 9 MiB in 17 packages'
    ;;
  upgrade)
    [ -n "$simulate" ] || locked
    [ "$cache_max_age" -ge 100000 ] || tar -czf "$index" -C "$root/repo" APKINDEX
    if [ -f "$root/state/unmet" ]; then
      cat "$root/state/unmet" >&2
      exit 1
    fi
    changes=$(solve $words)
    [ -n "$simulate" ] || [ ! -f "$root/state/other" ] || changes=$(cat "$root/state/other")
    if [ -n "$interactive" ]; then
      [ "${APK_MAJOR:-2}" = 2 ] || printf '%s\n' 'NOTE: Consider running apk upgrade with --prune and/or --available.' \
        'The following packages are no longer available from a repository:' '  local-tool'
      [ ! -f "$root/state/question" ] || cat "$root/state/question"
      group Purging 'The following packages will be REMOVED'
      group Installing 'The following NEW packages will be installed'
      group 'Upgrading Replacing' 'The following packages will be upgraded'
      [ -z "$changes" ] || echo 'Need to download 3 MiB of packages.'
      echo 'After this operation, 12 KiB of additional disk space will be used.'
      if [ -n "$changes" ]; then
        printf 'Do you want to continue [Y/n]? '
        echo "waiting $$ $(readlink /proc/$$/fd/0)" >>"$root/state/log"
        read -r answer || [ "${APK_MAJOR:-2}" = 2 ] || answer=y
        echo "asked $answer" >>"$root/state/log"
        case $answer in y* | Y* | '') ;; *) exit 255 ;; esac
      fi
    fi
    if [ -n "$simulate" ]; then
      echo "simulated $words" >>"$root/state/log"
      if [ -p "$root/state/pause" ] && grep -q '^waiting' "$root/state/log"; then read -r _ <"$root/state/pause"; fi
      if [ -f "$root/state/simulation" ]; then
        sed 1d "$root/state/simulation"
        exit "$(head -n 1 "$root/state/simulation")"
      fi
      printed "$changes"
      echo 'OK: 9 MiB in 17 packages'
      exit 0
    fi
    errors=0
    printed "$changes" >"$root/state/lines"
    while read -r line; do
      printf '%s\n' "$line"
      name=$(printf '%s\n' "$line" | sed 's/^([^)]*) [A-Za-z]* \([^ ]*\) .*/\1/')
      if [ "$(cat "$root/state/fail" 2>/dev/null)" = "$name" ]; then
        echo "ERROR: $name-9: package mentioned in index not found (try 'apk update')" >&2
        errors=1
        continue
      fi
      [ "$(cat "$root/state/skip" 2>/dev/null)" != "$name" ] || continue
      change=$(printf '%s\n' "$changes" | awk -v name="$name" '$2 == name')
      echo "$change" >>"$root/state/log"
      needs=$(offered | awk -v name="$name" '/^P:/ { at = substr($0, 3) == name } at && /^D:/ { print }')
      awk -v name="$name" -v to="${change##* }" -v needs="$needs" '/^P:/ { at = substr($0, 3) == name } at && to == "-" { if ($0 == "") at = 0; next }
        at && /^V:/ { print "V:" to; if (needs != "") print needs; next } at && /^D:/ { next } { print }' \
        "$installed" >"$installed.new" && mv "$installed.new" "$installed"
      case $line in *' Installing '*) printf 'P:%s\nV:%s\nA:x86_64\nI:100\no:%s\n\n' "$name" "${change##* }" "$name" >>"$installed" ;; esac
    done <"$root/state/lines"
    [ ! -f "$root/state/hold" ] || { sleep 20 & echo "$!" >"$root/state/held"; }
    echo 'Executing busybox-1.36.1-r29.trigger'
    if [ "$errors" = 0 ]; then echo 'OK: 9 MiB in 17 packages'; else echo "$errors error; 9 MiB in 17 packages"; fi
    exit "$errors"
    ;;
esac
