#!/bin/bash
# A disposable machine with a real systemd as process 1, in namespaces of its own, from the base tree of the rig's hosts
# (rig.sh). It shares the network of this machine. Root only.
set -euo pipefail
HERE=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
NAME=ops-panel-machine-${RIG_PORT:-2222}
RUN=${RIG_DATA:-/var/tmp/ops-panel-rig}/$NAME
ENVIRONMENT=(env -i TERM=dumb HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)

die() { echo "machine: $*" >&2; exit 1; }

# Runs in new namespaces, below a cgroup of its own: builds the machine's tree and becomes its systemd.
init() {
  local M=$RUN/root name number
  mount --make-rprivate /
  mount -t tmpfs -o mode=755 machine "$RUN/memory"
  mkdir "$RUN"/memory/{upper,work}
  mount -t overlay machine -o "lowerdir=$1,upperdir=$RUN/memory/upper,workdir=$RUN/memory/work" "$M"
  mount -t proc proc "$M/proc"
  mount -t sysfs -o ro sysfs "$M/sys"
  # Only the unified hierarchy, even if the systemd of this machine uses the old ones.
  mount -t cgroup2 cgroup2 "$M/sys/fs/cgroup"
  mount -t tmpfs -o mode=755 tmpfs "$M/run"
  mount -t tmpfs -o mode=1777 tmpfs "$M/tmp"
  mount -t tmpfs -o mode=755 tmpfs "$M/dev"
  mkdir "$M"/dev/{pts,shm}
  while read -r name number; do mknod -m 666 "$M/dev/$name" c $number; done \
    <<<$'null 1 3\nzero 1 5\nfull 1 7\nrandom 1 8\nurandom 1 9\ntty 5 0'
  mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$M/dev/pts"
  mount -t tmpfs -o mode=1777 tmpfs "$M/dev/shm"
  ln -s pts/ptmx "$M/dev/ptmx"
  ln -s /proc/self/fd "$M/dev/fd"
  mkdir "$M/.outside"
  cd "$M"
  pivot_root . .outside
  cd /
  umount -l /.outside
  rmdir /.outside
  # basic.target starts no sshd, whose port another machine on this network uses.
  exec "${ENVIRONMENT[@]}" container=lxc /lib/systemd/systemd --unit=basic.target
}

holder() {
  local pid
  pid=$(cat "$RUN/pid" 2>/dev/null) && grep -qz __init "/proc/$pid/cmdline" 2>/dev/null && echo "$pid"
}

# Runs a command in the machine as root.
inside() {
  local pid one
  pid=$(holder) || die 'it is not up'
  one=$(cut -d' ' -f1 "/proc/$pid/task/$pid/children")
  nsenter -t "$one" -m -p -u -i -C -r -w -- "${ENVIRONMENT[@]}" "$@"
}

booted() { inside systemctl is-system-running 2>/dev/null | grep -Eqx 'running|degraded'; }

up() {
  local base tries
  base=$("$BASH" "$HERE/../host/rig.sh" base)
  down
  mkdir -p "$RUN"/{memory,root,cgroup}
  mount -t cgroup2 cgroup2 "$RUN/cgroup"
  mkdir "$RUN/cgroup/$NAME"
  (
    echo "$BASHPID" >"$RUN/cgroup/$NAME/cgroup.procs"
    exec setsid unshare -m -p -u -i -C --fork --kill-child=KILL bash "$HERE/machine.sh" __init "$base"
  ) </dev/null >"$RUN/log" 2>&1 &
  echo $! >"$RUN/pid"
  disown
  for tries in {1..600}; do
    booted && return
    [ -e "/proc/$(cat "$RUN/pid")" ] || { cat "$RUN/log" >&2; die 'it did not start'; }
    sleep 0.1
  done
  die 'its systemd does not come up'
}

down() {
  local pid tries
  if pid=$(holder); then
    # The kernel ends everything in the namespaces with their process 1; the mounts go with the last process.
    kill -KILL "$pid"
    for tries in {1..200}; do kill -0 "$pid" 2>/dev/null || break; sleep 0.05; done
  fi
  if mountpoint -q "$RUN/cgroup"; then
    for tries in {1..100}; do
      find "$RUN/cgroup/$NAME" -depth -type d -exec rmdir {} + 2>/dev/null
      [ -d "$RUN/cgroup/$NAME" ] || break
      sleep 0.05
    done
    umount "$RUN/cgroup"
  fi
  rm -rf "$RUN"
}

[ "$(id -u)" = 0 ] || die 'needs root'
case ${1:-help} in
  up) up ;;
  down) down ;;
  in) inside "${@:2}" ;;
  __init) init "$2" ;;
  *) echo 'machine.sh up | down | in COMMAND...   environment: RIG_PORT, RIG_DATA, as rig.sh' >&2; exit 2 ;;
esac
