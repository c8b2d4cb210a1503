/*
 * The run of a plan by dnf5, and its upgrade without one; see dnf5.ts. The host helper contains this text: any change of
 * it, even of a comment, needs a new `HELPER_VERSION`.
 */

export const DNF5_RUN = `
# Waits for the end of another transaction; dnf5 and rpm lock these files by fcntl(2).
dnf5_free() {
  tries=0
  while :; do
    busy=
    for file in /run/dnf/rpmtransaction.lock "$(rpm -E '%{?_rpmlock_path}' 2>/dev/null)"; do
      [ ! -e "$file" ] || ! grep -q ":$(stat -c %i "$file") " /proc/locks || busy=1
    done
    [ -n "$busy" ] || return 0
    [ "$tries" != 0 ] || echo 'Waiting for another process that uses dnf or rpm.'
    tries=$((tries + 1))
    [ "$tries" -lt 60 ] || break
    sleep 2
  done
  echo 'Error: another process still uses dnf or rpm.'
  return 1
}
dnf5_marked() { while IFS= read -r line || [ -n "$line" ]; do printf '%s%s\\n' "$1" "$line"; done; }
# The reader of a run: lines of the standard output begin with o, of the other one with e. It passes them on to descriptor
# 7, answers the question of dnf5 once, and tells 6 what it saw.
dnf5_answer() {
  agreed= began= lines= summary= ended=
  exec 5>"$1/answer"
  rm -rf "$1"
  # A question that comes without a table is answered with no.
  { for second in $(seq 300); do sleep 1 5>&-; done; echo n >&5; } >/dev/null 2>&1 6>&- 7>&- &
  watch=$!
  while IFS= read -r line; do
    kind=\${line%"\${line#?}"} line=\${line#?}
    printf '%s\\n' "$line" >&7
    case $line in 'Running transaction'* | *'[y/N]: Running transaction'*) began=1 ;; esac
    [ -z "$ended" ] && [ "$kind" = o ] || continue
    lines="$lines$line
"
    case $line in
      'Transaction Summary:'*) summary=1 ;;
      '') ended=$summary ;;
    esac
    [ -n "$ended" ] || continue
    rows=$(printf '%s' "$lines" | awk "$dnf5_table")
    if printf '%s\\n' "$rows" | awk "$dnf5_rows" | plan_lines | agrees >&7; then
      agreed=yes
      printf '%s' "$2" >&5
    else
      agreed=no
      echo n >&5
    fi
    kill "$watch"
    # A process that ends while BusyBox reads a line takes the beginning of the line with it.
    wait "$watch" 2>/dev/null
    exec 5>&-
  done
  kill "$watch" 2>/dev/null
  echo "saw=$agreed:$began" >&6
}
# The answers to the questions of dnf5: yes, and yes to keys where they are files of the system.
dnf5_yes() {
  echo y
  dnf5_asks repo info --enabled | awk '/^ +Keys +: / { for (i = 3; i <= NF; i++) if ($i !~ /^file:/) foreign = 1 }
    END { if (!foreign) for (i = 0; i < 20; i++) print "y" }'
}
dnf5_run() {
  dnf5_choose "$@"
  case $? in
    1) echo 'Error: dnf5 does not take this selection.' && return 75 ;;
    2) table='Nothing to do.' rows= ;;
    *)
      dnf5_free || return 75
      if ! dnf5_solve; then
        echo "Error: $problem"
        return 75
      fi
      ;;
  esac
  if [ -z "$rows" ]; then
    echo 'Nothing to do.'
    : | agrees || return 65
    return 0
  fi
  folder=$(mktemp -d) && mkfifo -m 600 "$folder/answer" || return 75
  yes=$(dnf5_yes)
  set -f
  exec 7>&1
  saw=$({
    {
      exec 9>&1
      {
        { $sudo dnf5 $dnf5_ask upgrade $options $specs <"$folder/answer" 2>&1 >&8 6>&- 7>&- 8>&- 9>&-; echo "code=$?" >&6; } |
          dnf5_marked e >&9 8>&-
      } 8>&1 | dnf5_marked o >&9
    } | dnf5_answer "$folder" "$yes
"
  } 6>&1)
  exec 7>&-
  set +f
  code=\${saw#*code=} code=\${code%%[!0-9]*}
  case $saw in
    *saw=yes:1*) return "$code" ;;
    *saw=yes:*) [ "$code" = 0 ] || code=75 && return "$code" ;;
    *saw=*:1*) return 70 ;;
    *saw=no:*) return 65 ;;
  esac
  # No question came: there is nothing to do any more, or dnf5 has failed.
  [ "$code" = 0 ] || return 75
  : | agrees || return 65
}
dnf5_upgrade() {
  dnf5_free || return 75
  dnf5_yes | $sudo dnf5 $dnf5_ask upgrade 2>&1
}
`
