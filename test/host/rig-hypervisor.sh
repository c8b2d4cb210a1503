# Sourced by rig.sh: what the tests of snapshots and backups ask of the hypervisor. rig/hypervisor has its stand-ins.

hypervisor_usage() {
  cat <<'U'
ID is 101, 102 or 103:
rig.sh ct-lock ID WORD|off            `lock: WORD` in the configuration of a container
rig.sh template ID on|off             `template: 1` there
rig.sh storage ID lvmthin|zfs|btrfs|dir|nfs   where its root is. dir and nfs have no snapshots; zfs rolls back to the newest alone
rig.sh mount ID bind|volume|volume-backup|off   mp0: a folder of the host, or a volume without or with backup=1; restarts it
rig.sh net ID host|off                the network of the host instead of an empty one; restarts it
rig.sh ct-fault ID KIND [TEXT]        what fails there, in the words of its storage or in these. KIND: snapshot-fail,
         rollback-fail, delsnapshot-fail, restore-fail, backup-fail, not-recent (as with a newer snapshot on zfs),
         thin-full (lvs and zpool say it too)
rig.sh ct-fault ID off                none of it
rig.sh snapshot-delay MS              how long a snapshot, a rollback, a deletion takes; frozen during the first
rig.sh frozen-unseen ID               freezes it, and its monitor calls it running, as after a lxc-freeze that was killed
rig.sh vzdump-delay MS                how long a backup takes
rig.sh restore-delay MS               how long a restoration takes
rig.sh vzdump-running SECONDS|off     a backup of 103 is running
rig.sh backups ID                     its archives, as volumes of their storages: local, nas, and the backup server vault
rig.sh onboot ID on|off               whether it starts with the host; 101 and 102 do
rig.sh reboots SECONDS [WORD...]      how long a reboot of the host takes. Words: hard (nothing gets a signal to end), same (it
                                      comes back with the same boot id), never (systemctl is heard, and nothing happens),
                                      refused (systemctl refuses). A stand-in takes the place of systemctl
rig.sh reboots log                    the reboots that were asked for: seconds since 1970, then the words
rig.sh reboots now                    the reboot that `never` has left out
rig.sh snapshots ID                   the names of its snapshots, the oldest first
rig.sh pct-log                        the calls of pct and vzdump that change something: seconds since 1970, then their words
rig.sh pct-delay MS                   each pct waits so long before it begins
U
}

# configure ID KEY VALUE|off: a line at the top of the configuration of a container.
configure() {
  host sh -ec '
    sed -i "/^$2:/d" "$1"
    [ "$3" = off ] || sed -i "1i $2: $3" "$1"' configure "/etc/pve/lxc/$1.conf" "$2" "$3"
}

frozen_unseen() { # ID
  host sh -c 'lxc-freeze -n "$1" && lxc-unfreeze -n "$1"' frozen "$1"
  local file
  file=$(find /sys/fs/cgroup -path "*/$NAME/lxc/$1/freezer.state")
  if [ -n "$file" ]; then
    echo FROZEN >"$file"
  else
    find /sys/fs/cgroup -path "*/$NAME/lxc/$1/cgroup.freeze" -exec sh -c 'echo 1 >"$1"' freeze {} \;
  fi
}

place() { # ID, storage
  local volume
  case $2 in
    lvmthin) volume=local-lvm:vm-$1-disk-0 ;;
    zfs) volume=local-zfs:subvol-$1-disk-0 ;;
    btrfs) volume=local-btrfs:$1/vm-$1-disk-0 ;;
    dir) volume=local:$1/vm-$1-disk-0.raw ;;
    nfs) volume=nas:$1/vm-$1-disk-0.raw ;;
    *) die "there is no storage $2" ;;
  esac
  host sed -i "s#^rootfs: [^,]*#rootfs: $volume#" "/etc/pve/lxc/$1.conf"
}

mount_point() { # ID, kind
  local point
  case $2 in
    bind) point=/srv/shared-$1,mp=/srv/shared ;;
    volume) point=local-lvm:vm-$1-disk-1,mp=/srv/volume,size=1G ;;
    volume-backup) point=local-lvm:vm-$1-disk-1,mp=/srv/volume,backup=1,size=1G ;;
    off) point=off ;;
    *) die "there is no mount point $2" ;;
  esac
  configure "$1" mp0 "$point"
  host sh -ec 'if pct status "$1" | grep -q running; then pct stop "$1"; pct start "$1"; fi' mount "$1"
}

network() { # ID, host or off
  case $2 in
    host) configure "$1" lxc.net.0.type none ;;
    off) configure "$1" lxc.net.0.type off ;;
    *) die "there is no network $2" ;;
  esac
  host sh -ec 'if pct status "$1" | grep -q running; then pct stop "$1"; pct start "$1"; fi' network "$1"
}

fault() { # ID, kind, text
  case $2 in
    off) host sh -c "rm -f /etc/rig/faults/$1-*" ;;
    snapshot-fail | rollback-fail | delsnapshot-fail | restore-fail | backup-fail | not-recent | thin-full)
      host sh -ec 'mkdir -p /etc/rig/faults; echo "$2" >"/etc/rig/faults/$1"' fault "$1-$2" "${3:-}"
      ;;
    *) die "there is no fault $2" ;;
  esac
}

backup_running() { # seconds
  if [ "$1" = off ]; then
    host sh -c 'pkill -TERM -f "^/usr/bin/perl .*vzdump 103 " || true'
    return
  fi
  host sh -c 'RIG_VZDUMP_SECONDS=$1 setsid vzdump 103 --mode stop </dev/null >/var/log/rig-vzdump.log 2>&1 &' backup "$1"
  await 20 host test -e /run/vzdump.pid || die 'the backup did not start'
}

reboots() { # seconds and words, log, or now
  case $1 in
    log) host sh -c 'cat /var/log/rig-reboots.log 2>/dev/null || true' ;;
    # A hard reboot may also end the program that asks for it.
    now) host kill -USR1 1 || [ $? = 137 ] ;;
    *)
      host sh -ec '
        echo "$*" >/etc/rig/reboots
        [ ! -e /usr/bin/systemctl.real ] || exit 0
        mv /usr/bin/systemctl /usr/bin/systemctl.real
        install -m755 /usr/local/lib/rig/systemctl /usr/bin/systemctl' reboots "$@"
      ;;
  esac
}

snapshots() { # ID
  host pct listsnapshot "$1" | sed -nE 's/^ *`-> +([^ ]+).*/\1/p' | grep -vx current || true
}

# A container back in its first state and configuration, without snapshots and backups. It runs if it ran, or if it runs
# at boot.
reset_container() {
  host sh -ec '
    pkill -KILL -f "^/usr/bin/perl .*(pct [a-z]+|vzdump) $1( |\$)|^task UPID:.*:vz[a-z]+:$1:" || true
    cp "/var/lib/rig/configs/$1.conf" /etc/pve/nodes/pve/lxc/
    case " $2 " in *" $1 "*) runs=1 ;; *) runs=0 ;; esac
    if pct status "$1" | grep -q running; then
      lxc-freeze -n "$1"
      lxc-unfreeze -n "$1"
      pct stop "$1"
      runs=1
    fi
    rm -rf "/var/lib/rig/containers/$1" "/etc/rig/faults/$1"-* /var/lib/vz/dump/vzdump-lxc-"$1"-* \
      /mnt/pve/nas/dump/vzdump-lxc-"$1"-* "/var/lib/rig/vault/ct/$1"
    [ $runs = 0 ] || pct start "$1"' reset "$1" "$RUNNING"
}
