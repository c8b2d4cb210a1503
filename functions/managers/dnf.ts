import { quote } from '../../ssh/ssh.ts'
import { DNF5 } from './dnf5.ts'
import { DNF_PROGRAM } from './dnf-program.ts'

/*
 * dnf, by the shape of manager.ts: dnf 4 by a program in its own Python, dnf5 by its command line. The host helper
 * contains this text: any change of it, even of a comment, needs a new `HELPER_VERSION`.
 */

export const DNF = `
dnf_program=${quote([DNF_PROGRAM])}
# Sets dnf_python, the interpreter of dnf 4; fails for dnf5, which is no script.
dnf_is4() {
  dnf_python=$(head -c 200 "$(command -v dnf || command -v dnf-3)" 2>/dev/null | tr -d '\\000' | sed -n -e '1s/^#! *\\([^ ]*python[0-9.]*\\).*/\\1/p' -e 1q)
  [ -n "$dnf_python" ]
}
# dnf_told SECONDS COMMAND...: an answer of dnf; where another process has a lock, it is asked again for these seconds
dnf_told() {
  tries=$(($1 / 2))
  shift
  while :; do
    answer=$("$@" 2>/dev/null)
    code=$?
    [ "$code" = 200 ] && [ "$tries" -gt 0 ] || break
    tries=$((tries - 1))
    sleep 2
  done
  [ -z "$answer" ] || printf '%s\\n' "$answer"
  # A time-out has ended the command before it told its code.
  case $answer in *"code\t"*) ;; *) printf 'code\\t%s\\n' "$code" ;; esac
}
dnf_refresh() {
  if dnf_is4; then dnf_told 20 limited 75 $sudo "$dnf_python" -I -c "$dnf_program" refresh; else dnf5_refresh; fi
}
dnf_changes() {
  if dnf_is4; then dnf_told 4 limited 60 "$dnf_python" -I -c "$dnf_program" changes "$@"; else dnf5_changes "$@"; fi
}
dnf_left() {
  if dnf_is4; then dnf_told 4 limited 60 "$dnf_python" -I -c "$dnf_program" left; else dnf5_left; fi
}
# rpm tells unmet dependencies, dnf the packages that an interrupted run has left twice.
dnf_verify() {
  told=$(limited 40 rpm -Va --nofiles --nodigest --nosignature --noscripts 2>&1)
  code=$?
  broken=$(printf '%s\\n' "$told" | awk '/^Unsatisfied dependencies for / { name = $4; sub(/:$/, "", name); sub(/-[^-]*-[^-]*$/, "", name); next }
    /^[ \\t]+[^ \\t]/ && name != "" && count++ < 1000 { sub(/^[ \\t]+/, ""); gsub(/[[:cntrl:]]/, "?"); print "broken\\t" name "\\t" substr($0, 1, 300) }')
  [ -z "$broken" ] || printf '%s\\n' "$broken"
  case $told in
    *error:*)
      printf '%s\\n' "$told" | awk '/error:/ { gsub(/[[:cntrl:]]/, "?"); print "broken\\t-\\t" substr($0, 1, 300); exit }'
      printf 'code\\t1\\n'
      return
      ;;
  esac
  # Its code counts the packages with unmet dependencies.
  if [ "$code" != 0 ] && [ -z "$broken" ]; then
    printf 'code\\t%s\\n' "$code"
    return
  fi
  if dnf_is4; then dnf_told 4 limited 30 "$dnf_python" -I -c "$dnf_program" verify; else dnf5_verify; fi
}
dnf_cache() {
  folder=$(sed -n 's/^[ \\t]*cachedir[ \\t]*=[ \\t]*\\(\\/[^ \\t]*\\)[ \\t]*$/\\1/p' /etc/dnf/dnf.conf 2>/dev/null | tail -n 1)
  if [ -n "$folder" ]; then echo "$folder"; elif dnf_is4; then echo /var/cache/dnf; else echo /var/cache/libdnf5; fi
}
# EPEL marks the security updates of its own packages, never those of the distribution.
dnf_security() {
  for file in "$(dnf_cache)"/*/repodata/*updateinfo*; do
    case $file in */epel*) continue ;; esac
    if [ -e "$file" ]; then
      echo told
      return
    fi
  done
  echo database
}
# dnf_patient COMMAND...: where another process has a lock, the command is tried again for two minutes
dnf_patient() {
  tries=60
  while :; do
    "$@" </dev/null
    code=$?
    [ "$code" = 200 ] || return "$code"
    [ "$tries" != 60 ] || echo 'Waiting for another process that uses dnf or rpm.'
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || break
    sleep 2
  done
  echo 'Error: another process still uses dnf or rpm.'
  return 75
}
dnf_run() {
  if dnf_is4; then dnf_patient $sudo "$dnf_python" -I -c "$dnf_program" run "$hash" "$@"; else dnf5_run "$@"; fi
}
dnf_upgrade() {
  if dnf_is4; then dnf_patient $sudo "$dnf_python" -I -c "$dnf_program" upgrade; else dnf5_upgrade; fi
}
${DNF5.trim()}
`
