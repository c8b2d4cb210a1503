import type { Probe } from './protection.ts'

/** Longest name of an item, in bytes. */
export const NAME = 200
/** Seconds for a probe. */
export const PROBE_SECONDS = 10

/**
 * The part of `HEALTH` that asks its probes, all at once; it uses the functions that stand before it. The words of a
 * command are not for a shell.
 */
export const PROBES = `
probe() { line probe "$(printf '%s' "$1" | tr '\\n\\t' '??' | cut -b 1-${NAME})" "$2" "$3"; }
probe_tcp() {
  # A service may listen on one address only.
  set -- "$1" $(listening /proc/net/tcp /proc/net/tcp6 | awk -v port="$1" "$hexadecimal"'
    function decimal(text, at) { return number(substr(text, at, 2)) }
    function group(text, at) { return substr(text, at + 6, 2) substr(text, at + 4, 2) ":" substr(text, at + 2, 2) substr(text, at, 2) }
    $1 == ".code" { exit }
    { sub(/:/, ": "); split($3, local, ":"); address = local[1] }
    number(local[2]) != port || address ~ /^0+$/ { next }
    substr(address, 1, 24) == "0000000000000000FFFF0000" { address = substr(address, 25) }
    length(address) == 8 { print decimal(address, 7) "." decimal(address, 5) "." decimal(address, 3) "." decimal(address, 1) }
    length(address) == 32 { print group(address, 1) ":" group(address, 9) ":" group(address, 17) ":" group(address, 25) }
  ' | head -n 20) 127.0.0.1 ::1
  port=$1
  shift
  if has bash; then
    $limit ${PROBE_SECONDS} bash -c 'port=$1; shift; for address; do (exec 3<>"/dev/tcp/$address/$port") && exit 0; done; exit 1' bash "$port" "$@"
  elif has nc; then
    $limit ${PROBE_SECONDS} sh -c 'port=$1; shift; for address; do nc -z "$address" "$port" && exit 0; done; exit 1' sh "$port" "$@"
  else
    listening /proc/net/tcp /proc/net/tcp6 | grep -q ":$(printf %04X "$port") "
  fi </dev/null >/dev/null 2>&1
  case $? in
    0) probe "tcp $port" good connected ;;
    124 | 137 | 143) probe "tcp $port" bad timeout ;;
    *) probe "tcp $port" bad refused ;;
  esac
}
probe_unit() {
  state='no systemd'
  if systemd; then
    state=$(run ${PROBE_SECONDS} systemctl is-active -- "$1" | awk '
      $1 == ".code" { print ($2 > 100 ? "timeout" : "unknown"); exit }
      NF { print $1; exit }')
  fi
  case $state in
    active | reloading) probe "unit $1" good "$state" ;;
    *) probe "unit $1" bad "\${state:-unknown}" ;;
  esac
}
probe_command() {
  began=$(date +%s)
  $limit ${PROBE_SECONDS} "$@" </dev/null >/dev/null 2>&1
  code=$?
  if [ "$code" = 0 ]; then
    probe "command $*" good 'exit 0'
  elif [ "$(($(date +%s) - began))" -ge ${PROBE_SECONDS} ]; then
    probe "command $*" bad timeout
  else
    probe "command $*" bad "exit $code"
  fi
}
probes() {
  while [ $# -gt 1 ]; do
    case $1 in
      tcp) probe_tcp "$2" & ;;
      unit) probe_unit "$2" & ;;
      command)
        [ "$2" -gt 0 ] && [ $# -ge "$(($2 + 2))" ] || exit 64
        left=$2
        shift
        (
          shift
          total=$#
          for word; do
            [ "$left" -gt 0 ] || break
            left=$((left - 1))
            set -- "$@" "$word"
          done
          shift "$total"
          probe_command "$@"
        ) &
        shift "$(($1 - 1))"
        ;;
      *) exit 64 ;;
    esac
    shift 2
  done
  [ $# = 0 ] || exit 64
}
`

/** The name of a probe in a look and in a comparison: ASCII, at most 200 bytes, without the account of an address. */
export function probeName(probe: Probe): string {
  return Buffer.from(`${probe.kind} ${subject(probe)}`)
    .toString('latin1')
    .replace(/[^ -~]/g, '?')
    .slice(0, NAME)
}

function subject(probe: Probe): string {
  switch (probe.kind) {
    case 'http': {
      const url = new URL(probe.url)
      url.username = url.password = url.hash = ''
      return url.href
    }
    case 'tcp':
      return String(probe.port)
    case 'unit':
      return probe.name
    case 'command':
      return probe.command.join(' ')
  }
}
