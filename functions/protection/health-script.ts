import { NAME, PROBES } from './probe-script.ts'
import type { Probe } from './protection.ts'

/** Most lines of a look, its last one included. */
const LINES = 500
/** Longest detail, in bytes. */
const DETAIL = 100
/** Seconds for a question to systemd, Docker or Podman. */
const ASK_SECONDS = 5
/** Most units, and most containers of an engine, that are asked for more. */
const ASKED = 400
/** A program with more UDP ports than this opens one for each call or query. */
const FEW_PORTS = 16

/**
 * `HEALTH <word>…`, inside a container, as root: what runs there, one item a line, as `<kind> TAB <name> TAB good|bad TAB
 * <detail>`, and `end` as the last line, without which the look is not complete. The words are those of `probeWords`. It
 * changes nothing and starts nothing.
 *
 * - `packages -`: detail is a checksum of what the package manager has installed.
 * - `unit <unit>`: good is a service that starts at boot and runs; bad is a unit of any type that has failed.
 *   `(manager)` is bad when systemd does not answer.
 * - `socket tcp/443`: a port that a program listens on, with the name of the program.
 * - `docker <container>`, `podman <container>`: good runs; bad has stopped although it is to be restarted, or is unhealthy.
 *   `(daemon)` tells whether the engine answers.
 * - `probe <name>`: the answer to a probe, with the name that `probeName` gives it.
 *
 * Text is ASCII: other bytes are `?`. It takes at most 20 s, and needs a POSIX shell, coreutils, grep and awk, or busybox.
 * A section whose program is missing is left out. The host helper contains this text: any change of it, even of a
 * comment, needs a new `HELPER_VERSION`.
 */
export const HEALTH = `
# A shell tells there which of its processes was killed.
exec 2>/dev/null
export LC_ALL=C PATH="$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# The environment may be that of the host.
unset BASH_ENV ENV DOCKER_HOST DOCKER_CONTEXT DOCKER_CONFIG DOCKER_TLS_VERIFY CONTAINER_HOST CONTAINER_CONNECTION
cd /
# Older busybox knows no -k.
limit='timeout -k 1'
$limit 5 true 2>/dev/null || limit='timeout -s KILL'
$limit 5 true 2>/dev/null || exit 69
has() { command -v "$1" >/dev/null 2>&1; }
# Prints the output of a program, then a line with its exit code. Readers stop at that line, because a process that the
# program has left behind may keep the pipe open.
run() {
  $limit "$@" </dev/null 2>/dev/null
  printf '\\n.code %s\\n' "$?"
}
# A line is one write of less than 4096 bytes, so lines of different sections do not mix.
line() { printf '%s\\t%s\\t%s\\t%s\\n' "$@"; }
why() { case $1 in 124 | 137 | 143) echo timeout ;; *) echo "exit $1" ;; esac; }
systemd() { [ -d /run/systemd/system ] && has systemctl; }

packages() {
  run ${ASK_SECONDS} sh -c '
    {
      [ ! -f /var/lib/dpkg/status ] || cat /var/lib/dpkg/status /var/lib/dpkg/updates/[0-9]* 2>/dev/null
      for file in /lib/apk/db/installed /usr/lib/apk/db/installed; do
        if [ -f "$file" ]; then cat "$file"; break; fi
      done
      [ ! -d /var/lib/pacman/local ] || ls /var/lib/pacman/local
      for file in /var/lib/rpm/rpmdb.sqlite /var/lib/rpm/Packages /var/lib/rpm/Packages.db /usr/lib/sysimage/rpm/rpmdb.sqlite \\
        /usr/lib/sysimage/rpm/Packages.db; do
        # Without a database, rpm would make one.
        if [ -f "$file" ]; then rpm -qa | sort; break; fi
      done
    } | sha256sum' | awk '$1 == ".code" { exit }
      # The sum of nothing: another package manager.
      length($1) == 64 && $1 !~ /^e3b0c44298fc1c149afbf4c8996fb924/ { print "packages\\t-\\tgood\\t" $1; exit }'
}

units() {
  systemd || return 0
  set -f
  listed=$(run ${ASK_SECONDS} systemctl list-units --plain --no-legend --no-pager --full --state=running,failed | awk '
    $1 == ".code" { code = $2; exit }
    # A mark before the name.
    $1 !~ /[.]/ { $1 = ""; $0 = $0 }
    $1 !~ /^[A-Za-z0-9:_.@\\\\][A-Za-z0-9:_.@\\\\-]*[.][a-z]+$/ { next }
    $3 == "failed" { print "bad " $1 " " $3 " " $4 }
    $3 == "active" && $4 == "running" && $1 ~ /[.]service$/ && count++ < ${ASKED} { print "good " $1 }
    END { print "code " (code == "" ? 1 : code) }')
  code=\${listed##*code }
  if [ "$code" != 0 ]; then
    line unit '(manager)' bad "$(why "$code")"
    return
  fi
  printf '%s\\n' "$listed" | awk '$1 == "bad" { print "unit\\t" substr($2, 1, 1000) "\\tbad\\t" $3 " " $4; fflush() }'
  running=$(printf '%s\\n' "$listed" | awk '$1 == "good" { print $2 }')
  [ -n "$running" ] || return 0
  shown=$(run ${ASK_SECONDS} systemctl show --no-pager -p Id,UnitFileState -- $running | awk '
    function tell() {
      if (id != "" && state ~ /^(enabled|enabled-runtime|alias|generated)$/)
        print "unit\\t" substr(id, 1, 1000) "\\tgood\\tactive running"
      id = state = ""
    }
    $1 == ".code" { code = $2; exit }
    /^Id=/ { id = substr($0, 4) }
    /^UnitFileState=/ { state = substr($0, 15) }
    /^$/ { tell() }
    END { tell(); print "code " (code == "" ? 1 : code) }')
  code=\${shown##*code }
  if [ "$code" != 0 ]; then line unit '(manager)' bad "$(why "$code")"; fi
  printf '%s\\n' "$shown" | awk -F '\\t' 'NF == 4 { print; fflush() }'
}

# Local addresses and ports that programs listen on. A socket without a peer is in state 0A (TCP) or 07 (UDP).
listening() { run ${ASK_SECONDS} grep -s -H -E ': [0-9A-F]+:[0-9A-F]{4} [0-9A-F]+:0000 0[A7] ' "$@"; }
hexadecimal='function number(text, digit, sum) {
  sum = 0
  for (digit = 1; digit <= length(text); digit++) sum = 16 * sum + index("123456789ABCDEF", substr(text, digit, 1))
  return sum
}'

sockets() {
  # From this port on they are given out at random. The shell's own read would get one digit: the file is read at once.
  low=$(cat /proc/sys/net/ipv4/ip_local_port_range 2>/dev/null)
  low=\${low%%[!0-9]*}
  {
    listening /proc/net/tcp /proc/net/tcp6 /proc/net/udp /proc/net/udp6
    run ${ASK_SECONDS} ls -ln /dev/null /proc/[0-9]*/fd
  } | awk -v low="\${low:-32768}" "$hexadecimal"'
    $1 == ".code" { if (++part == 2) exit; next }
    part == 0 {
      sub(/:/, ": ")
      port = number(substr($3, index($3, ":") + 1))
      key = ($1 ~ /tcp/ ? "tcp/" : "udp/") port
      if (port == 0 || port >= low + 0) next
      keys[key] = port
      if ($3 !~ /^(......7F|0*01000000|0*FFFF0000......7F):/) open[key] = 1
      wanted[$11] = key
      next
    }
    /\\/[0-9]+\\/fd:$/ { process = part_of[split($0, part_of, "/") - 1]; name = ""; next }
    index($0, " -> socket:[") {
      inode = $NF
      gsub(/[^0-9]/, "", inode)
      if (!(inode in wanted) || wanted[inode] in owner) next
      if (name == "") {
        file = "/proc/" process "/comm"
        if ((getline name <file) <= 0 || name == "") name = "-"
        close(file)
        gsub(/\\t/, " ", name)
      }
      owner[wanted[inode]] = name
    }
    END {
      for (key in keys) {
        if (key !~ /^udp/) continue
        count[owner[key]]++
        if (("tcp/" keys[key]) in keys) serves[owner[key]] = 1
      }
      for (key in keys) {
        name = owner[key]
        # Forwarded by a session that is open now.
        if (name ~ /^sshd/ && !(key in open)) continue
        # Given out by the portmapper.
        if (name ~ /^rpc/ && keys[key] != 111) continue
        # DNS servers send each query from a port of its own, and telephony has one for each call.
        if (key ~ /^udp/ && keys[key] >= 1024 && name != "" &&
          (count[name] > ${FEW_PORTS} || name in serves && !(("tcp/" keys[key]) in keys))) continue
        print "socket\\t" key "\\tgood\\t" (name == "" ? "-" : substr(name, 1, ${DETAIL}))
        fflush()
      }
    }'
}

engine() {
  format='{{.Name}}|{{.State.Status}}|{{.State.ExitCode}}|{{.HostConfig.RestartPolicy.Name}}|{{.HostConfig.AutoRemove}}|'
  listed=$(run ${ASK_SECONDS} "$1" ps -aq --no-trunc | awk '
    $1 == ".code" { code = $2; exit }
    /^[0-9a-f]+$/ && length($1) < 100 && count++ < ${ASKED} { print $1 }
    END { print "code " (code == "" ? 1 : code) }')
  code=\${listed##*code }
  ids=\${listed%code *}
  told=
  if [ "$code" = 0 ] && [ -n "$ids" ]; then
    # Podman before 4 has no State.Health.
    for health in '{{if .State.Health}}{{.State.Health.Status}}{{end}}' ''; do
      told=$(run ${ASK_SECONDS} "$1" inspect --type container --format "$format$health" $ids | awk -F '|' -v kind="$1" '
        /^[.]code / { split($0, word, " "); code = word[2]; exit }
        NF != 6 { next }
        { known++; sub(/^\\//, "", $1); gsub(/[ \\t]/, "?", $1) }
        $5 == "true" { next }
        { item = kind "\\t" substr($1, 1, 1000) "\\t" }
        $2 == "running" && $6 != "unhealthy" { print item "good\\trunning" ($6 == "healthy" ? " healthy" : "") }
        $2 == "running" && $6 == "unhealthy" { print item "bad\\tunhealthy" }
        $4 == "" || $4 == "no" || ($4 == "on-failure" && $3 == 0) { next }
        $2 == "restarting" || $2 == "dead" { print item "bad\\t" $2 " " $3 }
        $2 == "exited" || $2 == "stopped" { print item "bad\\texited " $3 }
        # One that went away in between makes the program fail and the others are there.
        END { print "code " (code == "" ? 1 : known && (code == 1 || code == 125) ? 0 : code) }')
      code=\${told##*code }
      case $code in 0 | 124 | 137 | 143) break ;; esac
    done
  fi
  if [ "$code" = 0 ]; then line "$1" '(daemon)' good -; else line "$1" '(daemon)' bad "$(why "$code")"; fi
  printf '%s\\n' "$told" | awk -F '\\t' 'NF == 4 { print; fflush() }'
}
docker_containers() {
  has docker || return 0
  # To ask would start a daemon that does not run.
  if grep -qsx dockerd /proc/[0-9]*/comm; then
    engine docker
    return
  fi
  for file in /etc/systemd/system/docker.service /usr/lib/systemd/system/docker.service /lib/systemd/system/docker.service \\
    /etc/init.d/docker; do
    if [ -f "$file" ]; then
      line docker '(daemon)' bad 'not running'
      return
    fi
  done
}
podman_containers() {
  # Podman makes its folders when it is asked for the first time.
  if has podman && [ -d /var/lib/containers/storage ]; then engine podman; fi
}
${PROBES}
{
  packages &
  units &
  sockets &
  docker_containers &
  podman_containers &
  probes "$@"
  wait
  echo end
} | tr -c '\n\t -~' '?' | awk -F '\t' '
  $0 == "end" { whole = 1; next }
  NF != 4 || $2 == "" || $3 !~ /^(good|bad)$/ { next }
  { item = $1 "\t" substr($2, 1, ${NAME}) }
  !(item in state) { items[++count] = item }
  state[item] != "bad" { state[item] = $3; detail[item] = $4 == "" ? "-" : substr($4, 1, ${DETAIL}) }
  function tell(which, at) {
    for (at = 1; at <= count; at++)
      if (state[items[at]] == which && lines++ < ${LINES - 1}) print items[at] "\t" which "\t" detail[items[at]]
  }
  END {
    if (!whole) exit 69
    tell("bad")
    tell("good")
    print "end"
  }'
`

/** The words that `HEALTH` takes for these probes. Those of kind `http` have none, because the service asks them. */
export function probeWords(probes: readonly Probe[]): string[] {
  return probes.flatMap((probe) => {
    if (probe.kind === 'http') return []
    if (probe.kind === 'tcp') return ['tcp', String(probe.port)]
    if (probe.kind === 'unit') return ['unit', probe.name]
    return ['command', String(probe.command.length), ...probe.command]
  })
}
