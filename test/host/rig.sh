#!/bin/bash
# A disposable virtualization host for the tests: real sshd with PAM and users, real LXC containers behind a stand-in
# for pct, real apt with an offline repository. It lives in namespaces of its own; see `rig.sh help`. Root only.
set -euo pipefail
HERE=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
FILES=$HERE/rig
PORT=${RIG_PORT:-2222}
DATA=${RIG_DATA:-/var/tmp/ops-panel-rig}
SUITE=${RIG_SUITE:-bookworm} # Debian 12, or trixie: Debian 13, whose sshd has penalties
# The base of the host and the containers; a change of a file in it gives another base. managers/ has layers over it.
BASE=$DATA/base-$SUITE-$(find "$FILES" -path "$FILES/managers" -prune -o -type f -print | LC_ALL=C sort | xargs cat | sha256sum | cut -c1-12)
RUN=$DATA/run-$PORT      # one host a port
NAME=ops-panel-rig-$PORT # names LXC's command sockets and cgroups, which are visible outside
RUNNING='101 102' # they start with the host; 103 is stopped
ENVIRONMENT=(env -i TERM=dumb HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

. "$HERE/rig-states.sh"
. "$HERE/rig-hypervisor.sh"
. "$HERE/rig-managers.sh"
. "$HERE/rig-applications.sh"

die() { echo "rig: $*" >&2; exit 1; }
say() { [ -n "${RIG_QUIET:-}" ] || echo "rig: $*"; }

# ------------------------------------------------------------------------------------------ the host's namespaces
# Process 1 of new mount, pid, host name and IPC namespaces: builds the host's tree and becomes its init.
init() {
  local H=$RUN/host name number id onboot
  mount --make-rprivate /
  mkdir -p "$RUN/memory" "$H"
  mount -t tmpfs -o mode=755 rig "$RUN/memory"
  mkdir -p "$RUN"/memory/{upper,work,containers}
  mount -t overlay rig-host -o "lowerdir=$BASE,upperdir=$RUN/memory/upper,workdir=$RUN/memory/work" "$H"

  mount -t proc proc "$H/proc"
  mount --rbind /sys "$H/sys"
  mount -t tmpfs -o mode=755 tmpfs "$H/run"
  mount -t tmpfs -o mode=1777 tmpfs "$H/tmp"
  mount -t tmpfs -o mode=755 tmpfs "$H/dev"
  mkdir "$H"/dev/{pts,shm}
  while read -r name number; do mknod -m 666 "$H/dev/$name" c $number; done \
    <<<$'null 1 3\nzero 1 5\nfull 1 7\nrandom 1 8\nurandom 1 9\ntty 5 0'
  mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$H/dev/pts"
  mount -t tmpfs -o mode=1777 tmpfs "$H/dev/shm"
  ln -s pts/ptmx "$H/dev/ptmx"
  ln -s /proc/self/fd "$H/dev/fd"
  for number in 0:stdin 1:stdout 2:stderr; do ln -s "fd/${number%:*}" "$H/dev/${number#*:}"; done

  { [ -z "${RIG_SSHD:-}" ] || echo "$RIG_SSHD"; cat "$FILES/sshd.conf"; } >"$H/etc/ssh/sshd_config.d/rig.conf"
  hostname pve
  mkdir -p "$H/run/sshd" "$H/run/lock" "$H/etc/pve/nodes/pve/lxc" "$H"/var/lib/rig/{base,layers,containers,configs} \
    "$H"/{var/lib/vz,mnt/pve/nas}/dump
  install -m 640 -g 33 "$FILES/hypervisor/storage.cfg" "$H/etc/pve/" # www-data
  # The network of the host is that of this machine, which all hosts share.
  echo $((PORT + 20000)) >"$H/etc/rig/http-port"
  ln -sfn nodes/pve/lxc "$H/etc/pve/lxc"
  echo "lxc.lxcpath = /var/lib/$NAME" >"$H/etc/lxc/lxc.conf"
  while read -r id name; do
    case " $RUNNING " in *" $id "*) onboot=1 ;; *) onboot=0 ;; esac
    printf '%s\n' 'arch: amd64' 'cores: 1' "hostname: $name" 'memory: 512' "onboot: $onboot" 'ostype: debian' \
      "rootfs: local-lvm:vm-$id-disk-0,size=4G" 'swap: 512' 'unprivileged: 1' >"$H/etc/pve/nodes/pve/lxc/$id.conf"
  done <<<$'101 web\n102 db\n103 old-backup'
  cp "$H"/etc/pve/nodes/pve/lxc/*.conf "$H/var/lib/rig/configs/"
  mount --bind "$BASE" "$H/var/lib/rig/base"
  mount -o remount,ro,bind "$H/var/lib/rig/base"
  mount --bind "$LAYERS" "$H/var/lib/rig/layers"
  mount -o remount,ro,bind "$H/var/lib/rig/layers"
  mount --bind "$RUN/memory/containers" "$H/var/lib/rig/containers"
  # A boot id of its own, which a reboot of the host changes.
  cat /proc/sys/kernel/random/uuid >"$H/var/lib/rig/boot_id"
  mount --bind "$H/var/lib/rig/boot_id" "$H/proc/sys/kernel/random/boot_id"
  # Open logs would keep the root file system from becoming read-only.
  mount --bind "$H/var/log" "$H/var/log"

  mkdir "$H/.outside"
  cd "$H"
  pivot_root . .outside
  cd /
  umount -l /.outside
  rmdir /.outside
  exec "${ENVIRONMENT[@]}" /usr/local/sbin/host-init "$PORT" </dev/null >>/var/log/host-init.log 2>&1
}

# The process outside that holds the namespaces, if the host is up.
holder() {
  local pid
  pid=$(cat "$RUN/pid" 2>/dev/null) && grep -qz __init "/proc/$pid/cmdline" 2>/dev/null && echo "$pid"
}

# Runs a command as root on the host.
host() {
  local pid one
  pid=$(holder) || die 'the host is not up'
  one=$(cut -d' ' -f1 "/proc/$pid/task/$pid/children")
  nsenter -t "$one" -m -p -u -i -r -w -- "${ENVIRONMENT[@]}" "$@"
}

# Runs a command as root on the host or in a container.
inside() {
  local target=$1
  shift
  if [ "$target" = host ]; then host "$@"; else host pct exec "$target" -- "$@"; fi
}

# Runs a shell script on the host, in a container, or (all, the default) on the host and in every running container.
everywhere() {
  local target
  for target in $(targets "${2:-all}"); do inside "$target" sh -ec "$1"; done
}

targets() { if [ "$1" = all ]; then echo "host $RUNNING"; else echo "$1"; fi; }

sshd_answers() {
  (exec 3<>"/dev/tcp/127.0.0.1/$PORT" && IFS= read -r -t 2 line <&3 && [[ $line == SSH-* ]]) 2>/dev/null
}

await() { # seconds, then a command that must succeed within them
  local tries=$(($1 * 50))
  shift
  until "$@"; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || return 1
    sleep 0.02
  done
}

containers_run() { [ "$(host pct list 2>/dev/null | grep -c ' running ')" -ge 2 ]; }
gone() { ! kill -0 "$1" 2>/dev/null; }
silent() { ! sshd_answers; }

# ------------------------------------------------------------------------------------------------------ up and down
up() {
  if holder >/dev/null && sshd_answers; then
    say "already up on 127.0.0.1:$PORT"
    return
  fi
  down
  sshd_answers && die "port $PORT is taken by something else"
  build
  mkdir -p "$RUN" "$LAYERS"
  # The host outlives this program, and with it every lock of a descriptor that it inherits.
  (
    for descriptor in /proc/self/fd/*; do
      descriptor=${descriptor##*/}
      [ "$descriptor" -le 2 ] || exec {descriptor}>&-
    done
    exec setsid unshare -m -p -u -i --fork --kill-child=KILL bash "$HERE/rig.sh" __init
  ) </dev/null >"$RUN/log" 2>&1 &
  echo $! >"$RUN/pid"
  disown
  for _ in $(seq 500); do
    sshd_answers && break
    [ -e "/proc/$(cat "$RUN/pid")" ] || { cat "$RUN/log" >&2; die 'the host did not start'; }
    sleep 0.02
  done
  sshd_answers || die "sshd does not answer, see $RUN/log"
  await 20 containers_run || die 'the containers did not start'
  say "up on 127.0.0.1:$PORT"
}

down() {
  local pid
  if pid=$(holder); then
    # A signal ends no process of a container that is frozen.
    find /sys/fs/cgroup -path "*/$NAME/*/freezer.state" -exec sh -c 'echo THAWED >"$1"' thaw {} \; 2>/dev/null || true
    # The kernel ends everything in the namespaces with their process 1; the mounts go with the last process.
    kill -KILL "$pid"
    await 20 gone "$pid" || die "process $pid does not end"
    await 20 silent || die "port $PORT still answers"
    say down
  fi
  rm -rf "$RUN"
  find /sys/fs/cgroup -depth -type d -path "*/$NAME*" -exec rmdir {} \; 2>/dev/null || true
}

build() {
  [ -e "$BASE/.complete" ] && return
  flock -x 9
  [ -e "$BASE/.complete" ] && return
  local old
  for old in "$DATA/base-$SUITE"-*; do
    grep -qs "lowerdir=$old," /proc/[0-9]*/mounts || rm -rf "$old" # unless a host on another port uses it
  done
  say "building the base (about a minute, once); log: $DATA/build.log"
  bash "$FILES/base.sh" "$BASE" "$DATA/cache" "$SUITE" >"$DATA/build.log" 2>&1 || {
    tail -n 15 "$DATA/build.log" >&2
    die "the base could not be built, see $DATA/build.log"
  }
}

hold_lock() { # seconds, host or ID, dpkg or lists
  if is_managed "$2"; then
    inside "$2" /usr/local/sbin/rig-state lock "$1"
    return
  fi
  local file=/var/lib/dpkg/lock-frontend
  [ "$3" = dpkg ] || file=/var/lib/apt/lists/lock
  inside "$2" sh -c 'setsid /usr/local/sbin/hold-lock "$@" </dev/null >/dev/null 2>&1 & sleep 0.1' lock "$1" $file
}

usage() {
  cat <<'U'
rig.sh up | down | reset [ID]         a new host; with an ID (101, 102, 103) that container alone is new
rig.sh status | users | log | purge   state; names and passwords; sshd's log; delete all data
rig.sh in host|ID COMMAND...          run a command as root there, past ssh
rig.sh base                           build the tree that they start from; where it is
rig.sh fail on|off [WHERE]            rig-fail's postinst fails               WHERE: host, ID or all (default)
rig.sh conffile on|off [WHERE]        a locally changed conffile: its upgrade asks a question
rig.sh slow LINES MS [WHERE]          rig-slow's postinst: how many lines, how far apart
rig.sh lock SECONDS [host|ID [lists]] somebody else holds dpkg's lock, or that of the package lists, for a while
rig.sh lang LOCALE                    the host's default language: fr_FR.UTF-8, en_US.UTF-8, C.UTF-8
rig.sh cut                            end every ssh session at once, and let new ones in
rig.sh freeze on|off                  sshd answers nothing, though its connections stay open
rig.sh rekey                          the host gets other ssh keys
environment: RIG_PORT (2222), RIG_DATA (/var/tmp/ops-panel-rig), RIG_QUIET
             RIG_SUITE: bookworm (the default) or trixie; each has a base of its own, made once
             RIG_SSHD: lines that go before those of Debian's sshd_config, whose limits are in force otherwise
U
}

[ "$(id -u)" = 0 ] || die 'needs root'
command=${1:-help}
shift || true
case $command in up | down | reset | purge | base | managers)
  # Several hosts may start and stop at once. A lock lets only one process build a base, and none remove it meanwhile.
  mkdir -p "$DATA"
  exec 8>"$DATA/.lock-$PORT" 9>"$DATA/.lock"
  case $command in base | managers) ;; *) flock 8 ;; esac
  flock -s 9
  ;;
esac
case $command in
  up) up ;;
  base) build >&2; echo "$BASE" ;;
  down) down ;;
  managers) managers "${@:-up}" ;;
  reset) if [ -n "${1:-}" ]; then reset_container "$1"; else down; up; fi ;;
  purge) down; rm -rf "$DATA" ;;
  status)
    holder >/dev/null || { echo down; exit 3; }
    echo "up on 127.0.0.1:$PORT, sshd $(sshd_answers && echo answers || echo silent)"
    host pct list
    ;;
  in) inside "$@" ;;
  fail) everywhere "$([ "$1" = on ] && echo 'touch' || echo 'rm -f') /etc/rig/fail" "${2:-}" ;;
  conffile) everywhere "echo $([ "$1" = on ] && echo 'mine=1 >>' || echo 'version=1.0 >') /etc/rig-conf.conf" "${2:-}" ;;
  slow) everywhere "echo '$1 $2' >/etc/rig/slow" "${3:-}" ;;
  lock) hold_lock "$1" "${2:-host}" "${3:-dpkg}" ;;
  lang) host sh -c "echo 'LANG=$1' >/etc/default/locale" ;;
  cut) host sh -c "pkill -KILL -f '^sshd(-session)?: [^/]' || true" ;;
  freeze) host pkill "-$([ "$1" = on ] && echo STOP || echo CONT)" -x sshd ;;
  rekey) host sh -ec 'rm /etc/ssh/ssh_host_*; ssh-keygen -qA; pkill -f "^sshd: /"; sleep 0.1'; await 20 sshd_answers ;;
  publish | withdraw | install | refresh | hold | phased | kept-new | kept-remove | kept-deps | half | interrupted | \
    broken | disk | full-disk | huge | http | repo-name | third | os | nomanager | readonly | reboot-required | \
    auto-upgrades | units | killer | flap | maplib | docker | repo)
    state "$command" "$@"
    ;;
  ct-lock) configure "$1" lock "$2" ;;
  frozen-unseen) frozen_unseen "$1" ;;
  template) configure "$1" template "${2/#on/1}" ;;
  storage) place "$@" ;;
  mount) mount_point "$@" ;;
  net) network "$@" ;;
  ct-fault) fault "$@" ;;
  vzdump-running) backup_running "$1" ;;
  snapshots) snapshots "$1" ;;
  backups) for storage in local nas vault; do host pvesm list $storage --vmid "$1"; done | sed -n 's/ .*//; /:backup\//p' ;;
  onboot) configure "$1" onboot "$([ "$2" = on ] && echo 1 || echo 0)" ;;
  reboots) reboots "$@" ;;
  pct-log) host sh -c 'cat /var/log/rig-pct.log 2>/dev/null || true' ;;
  pct-delay | snapshot-delay | vzdump-delay | restore-delay) host sh -c "echo '$1' >/etc/rig/$command" ;;
  cve-file) cve_file "$1" ;;
  app) app "$@" ;;
  users) cat "$FILES/users" ;;
  log) host cat /var/log/sshd.log ;;
  __init) init ;;
  help | -h | --help) usage; echo; states_usage; echo; hypervisor_usage; echo; managers_usage; echo; applications_usage ;;
  *) usage >&2; exit 2 ;;
esac
