import { NEVER_PATTERNS } from './never.ts'

/** Seconds until a restarted service must be active again. */
const RESTART_SECONDS = 90
/** The looks that must agree, over three seconds: a service that fails while it starts is active for a moment. */
const LOOKS = 6
/** The exit code of `RESTART` and `REBOOT` where the sudo rule does not name systemctl: EX_NOPERM. */
export const NOT_ALLOWED = 77

/** The shell function `never <unit without .service>`: whether no button restarts it. */
const NEVER = `
never() {
  case $1 in ${NEVER_PATTERNS}) return 0 ;; esac
  return 1
}`

/**
 * `RESTART <sudo> <service>…`, on the host or inside a container: restarts these services one after another, and prints
 * a line for each, with its main process before and after. Where one of them is never restarted, under whatever name, or
 * would take such a one along, it restarts none and exits with 65; where systemd does not answer, with 75. A service
 * that does not run, and a program that runs to its end, are left alone. systemd has the restart as a job of its own, so
 * nothing waits in vain for a service that hangs: after 90 s the next one follows. Exits with 1 where a service did not
 * come back, with 69 where there is no systemd, and with 77 where the sudo rule does not name systemctl. The host helper
 * contains this text: any change of it, even of a comment, needs a new `HELPER_VERSION`.
 */
export const RESTART = `
sudo=$1
shift
set -f
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin"
unset TMPDIR TEMPDIR TMP TEMP${NEVER}
if [ ! -d /run/systemd/system ] || ! command -v systemctl >/dev/null 2>&1; then
  echo 'There is no systemd here.'
  exit 69
fi
systemctl=systemctl
if [ -n "$sudo" ]; then
  systemctl=/usr/bin/systemctl
  for each; do
    $sudo -l "$systemctl" restart --no-block -- "\${each%.service}.service" </dev/null >/dev/null 2>&1 && continue
    printf 'The sudo rule does not allow this. It lacks a program: %s ALL=(root) NOPASSWD: %s\\n' "$(id -un)" "$systemctl"
    exit ${NOT_ALLOWED}
  done
fi
brief=
! command -v timeout >/dev/null 2>&1 || brief='timeout -k 1 10'
field() { printf '%s\\n' "$shown" | sed -n "s/^$1=//p" | head -n 1; }
# Sets what systemd says of a unit; \`pending\` is a job of its own that has not ended, \`since\` the time of its last start.
look() {
  shown=$($brief systemctl show --no-pager -p Id,LoadState,ActiveState,MainPID,Job,Type,ActiveEnterTimestampMonotonic -- "$1" \\
    </dev/null 2>/dev/null)
  id=$(field Id) load=$(field LoadState) active=$(field ActiveState) main=$(field MainPID) pending=$(field Job)
  kind=$(field Type) since=$(field ActiveEnterTimestampMonotonic)
  case $main in '' | *[!0-9]*) main=0 ;; esac
  [ "$main" != 0 ] || main=none
  [ "$pending" != 0 ] || pending=
}
# Sets \`along\` to a unit that is never restarted and that systemd would restart with this one, or to nothing where systemd does
# not answer. Fails if there is none.
take_along() {
  along= wave=$1 seen=" $1 " steps=0
  while [ -n "$wave" ] && [ "$steps" -lt 10 ]; do
    steps=$((steps + 1))
    shown=$($brief systemctl show --no-pager -p Id,RequiredBy,RequisiteOf,BoundBy,ConsistsOf -- $wave </dev/null 2>/dev/null)
    along= wave=
    [ -n "$(field Id)" ] || return 0
    for along in $(printf '%s\\n' "$shown" | sed -n '/^Id=/!s/^[A-Za-z]*=//p' | tr -d '"' | tr ' ' '\\n' | sort -u | head -n 200); do
      case $seen in *" $along "*) continue ;; esac
      case $along in *.service) ! never "\${along%.service}" || return 0 ;; esac
      seen="$seen$along " wave="$wave $along"
    done
  done
  return 1
}
for each; do
  name=\${each%.service}
  case $name in
    '' | [!A-Za-z0-9:_@\\\\]* | *[!A-Za-z0-9:_.@\\\\-]*)
      echo 'This is not the name of a service.'
      exit 64
      ;;
  esac
  look "$name.service"
  if [ -z "$id" ]; then
    printf '%s: systemd does not say which service this is. Nothing was restarted.\\n' "$name"
    exit 75
  fi
  # The unit may have another name.
  if never "$name" || never "\${id%.service}"; then
    printf '%s: this service is never restarted alone. Nothing was restarted.\\n' "$name"
    exit 65
  fi
  if take_along "$id"; then
    if [ -z "$along" ]; then
      printf '%s: systemd does not say what restarts with this service. Nothing was restarted.\\n' "$name"
      exit 75
    fi
    printf '%s: %s would restart with this service, and is never restarted alone. Nothing was restarted.\\n' "$name" "$along"
    exit 65
  fi
done
code=0
for each; do
  name=\${each%.service}
  unit=$name.service
  look "$unit"
  if [ "$load" != loaded ]; then
    printf '%s: there is no such service (%s)\\n' "$name" "\${load:-systemd does not answer}"
    code=1
    continue
  fi
  if never "\${id%.service}"; then
    printf '%s: this service is never restarted alone.\\n' "$name"
    code=1
    continue
  fi
  # A program that runs to its end may be an upgrade.
  case $active:$kind in
    activating:oneshot) may= ;;
    active:* | activating:* | reloading:*) may=1 ;;
    *) may= ;;
  esac
  if [ -z "$may" ]; then
    printf '%s: %s, so it was left alone\\n' "$name" "\${active:-unknown}"
    continue
  fi
  old=$main before=$since tries=0 state= same=1 end=$(($(date +%s) + ${RESTART_SECONDS}))
  $brief $sudo $systemctl restart --no-block -- "$unit" </dev/null 2>&1
  while [ "$tries" -lt ${RESTART_SECONDS} ] && [ "$same" -lt ${LOOKS} ] && [ "$(date +%s)" -lt "$end" ]; do
    tries=$((tries + 1))
    if [ "$tries" -lt 5 ]; then sleep 0.3; else sleep 1; fi
    look "$unit"
    former=$state
    case $active in activating | deactivating | reloading) state= ;; *) state="$active $main $since" ;; esac
    [ -z "$pending" ] || state=
    if [ -n "$state" ] && [ "$state" = "$former" ]; then same=$((same + 1)); else same=1; fi
  done
  if [ "$active" != active ] || [ "$same" -lt ${LOOKS} ]; then
    printf '%s: main PID %s -> %s, it did not come back (%s%s)\\n' "$name" "$old" "$main" \\
      "\${active:-unknown}" "\${pending:+, its restart has not ended}"
    code=1
  elif [ "$since" = "$before" ] || { [ "$main" = "$old" ] && [ "$main" != none ]; }; then
    printf '%s: main PID still %s, it was not restarted\\n' "$name" "$old"
    code=1
  else
    printf '%s: main PID %s -> %s, %s\\n' "$name" "$old" "$main" "$active"
  fi
done
exit "$code"
`
