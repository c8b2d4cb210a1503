import { CONTAINER_TOOL } from '../hypervisor/pct.ts'

/*
 * Shell scripts of a protected run's steps, which the host helper contains too: any change of them needs a new
 * `HELPER_VERSION`.
 */

/**
 * `AROUND <id>`, in Perl without an apostrophe: prints the lines `busy` and `frozen` of `STATE`. A step is a pct or a
 * worker of the hypervisor that runs as root, or as this account, in the host's own namespace; a process of somebody
 * else could call itself anything. The processes of a container are in the cgroup `lxc/<id>` (of the freezer, or of version 2), by which it
 * is frozen.
 */
const AROUND = String.raw`
use strict;
my ($id) = @ARGV;
sub text { open my $file, "<", $_[0] or return ""; read $file, my $text, 8192; return $text // "" }
opendir my $proc, "/proc" or exit;
my ($busy, $sees, %places);
for my $pid (grep { /^\d+$/ } readdir $proc) {
  my $line = text("/proc/$pid/cmdline");
  $sees = 1 if $pid == 1 && length $line;
  $places{$_} = 1 for text("/proc/$pid/cgroup") =~ m{^\d+:(?:freezer)?:((?:/[^/\n]+)?/lxc/\Q$id\E)(?=[/\n])}mg;
  next if $line !~ m{/(?:pct|ops-panel-host)\x00(?:snapshot|delsnapshot|forget|rollback|restore)\x00\Q$id\E\x00}
    && $line !~ m{\x00ops-panel-forget\x00[^\x00]*\x00\Q$id\E\x00} && $line !~ m{:vz(?:snapshot|delsnapshot|rollback|restore):\Q$id\E:};
  my $status = text("/proc/$pid/status");
  $busy = $pid if $status =~ /^Uid:\t(?:0|$<)\t/m && $status =~ /^NSpid:\t\d+$/m;
}
$busy //= "unknown" if !$sees;
print "busy $busy\n" if defined $busy;
my $roots = "/sys/fs/cgroup";
for my $place (keys %places) {
  my $is_frozen = text("$roots/freezer$place/freezer.state") =~ /^FROZEN/;
  $is_frozen ||= text("$_$place/cgroup.events") =~ /^frozen 1$/m for $roots, "$roots/unified";
  if ($is_frozen) { print "frozen yes\n"; last }
}
`

/**
 * `ROOM <sudo> <id>`, on the host: the volumes of a container, and how full the pools are that hold them. Prints
 * `volume <storage> <volume>`, `on <storage> <pool>`, `thin <group> <pool> <data %> <metadata %>`, `lv <group> <volume> <pool>`
 * and `zfs <pool> <percent>` (lvs(8), zpool-list(8), storage.cfg of Proxmox VE). It leaves out all that it cannot read. The host helper
 * contains this text: any change of it needs a new `HELPER_VERSION`.
 */
export const ROOM = String.raw`
sudo=$1 id=$2
$sudo ${CONTAINER_TOOL} config "$id" </dev/null 2>/dev/null |
  sed -n 's/^\(rootfs\|mp[0-9]*\): \([A-Za-z][A-Za-z0-9._-]*\):\([^, ]*\).*/volume \2 \3/p'
awk '$1 ~ /^[a-z]+:$/ { type = $1; name = $2; group = pool = "" }
  $1 == "vgname" { group = $2 } $1 == "thinpool" { pool = $2 }
  type == "lvmthin:" && group != "" && pool != "" { print "on", name, group "/" pool; group = "" }
  type == "zfspool:" && $1 == "pool" { sub("/.*", "", $2); print "on", name, $2 }' /etc/pve/storage.cfg 2>/dev/null
$sudo lvs --noheadings --separator='|' -o vg_name,lv_name,lv_attr,pool_lv,data_percent,metadata_percent </dev/null 2>/dev/null |
  awk -F '|' '{ gsub(/^ +| +$/, "", $1) } $3 ~ /^t/ { print "thin", $1, $2, $5, $6; next } $4 != "" { print "lv", $1, $2, $4 }'
zpool list -Hp -o name,capacity </dev/null 2>/dev/null | awk '{ print "zfs", $1, $2 }'
exit 0
`

/**
 * `STATE <sudo> <id> <name>`, on the host: prints `status <word>`, `lock <word>` where the container has one,
 * `busy <pid>` where a step of the hypervisor works on its snapshots, or `busy unknown` where this account does not see
 * the processes of root, `frozen yes` where it is frozen, and `snapshot whole|incomplete|none|unknown`. The host helper
 * contains this text, as it does `ROOM`.
 */
export const STATE = String.raw`
sudo=$1 id=$2 name=$3
$sudo ${CONTAINER_TOOL} status "$id" </dev/null 2>/dev/null | sed -n 's/^status: /status /p'
perl -e '${AROUND}' "$id"
if ! config=$($sudo ${CONTAINER_TOOL} config "$id" </dev/null 2>/dev/null); then
  echo snapshot unknown
  exit 0
fi
printf '%s\n' "$config" | sed -n 's/^lock: \([a-z-]*\)$/lock \1/p'
if own=$($sudo ${CONTAINER_TOOL} config "$id" --snapshot "$name" </dev/null 2>/dev/null); then
  case "
$own" in
    *"
snapstate: "*) echo snapshot incomplete ;;
    *) echo snapshot whole ;;
  esac
else
  echo snapshot none
fi
exit 0
`

/**
 * `UNLOCK <sudo> <id>`, on the host: takes away a lock that a step on a snapshot has left, and no other one. A snapshot
 * that was cut off has left the container frozen, too. The host helper contains this text.
 */
export const UNLOCK = `
sudo=$1 id=$2
lock=$($sudo ${CONTAINER_TOOL} config "$id" </dev/null | sed -n 's/^lock: //p')
case $lock in
  '') exit 0 ;;
  snapshot | snapshot-delete | rollback) ;;
  *)
    echo "the container is locked ($lock)"
    exit 69
    ;;
esac
$sudo ${CONTAINER_TOOL} unlock "$id" </dev/null || exit
if [ "$lock" = snapshot ]; then
  # Where lxc-freeze was cut off, the monitor may call a frozen container running, and lxc-unfreeze would leave it so.
  $sudo lxc-freeze -n "$id" </dev/null >/dev/null 2>&1
  $sudo lxc-unfreeze -n "$id" </dev/null >/dev/null 2>&1
fi
exit 0
`

/**
 * `FORGET <sudo> <id> <name>`, on the host: removes a snapshot. Of an incomplete one, the storage may have nothing, which
 * must not keep it in the configuration for ever. The host helper contains this text.
 */
export const FORGET = `
sudo=$1 id=$2 name=$3 force=
case "
$($sudo ${CONTAINER_TOOL} config "$id" --snapshot "$name" </dev/null 2>/dev/null)" in
  *"
snapstate: "*) force='--force 1' ;;
esac
exec $sudo ${CONTAINER_TOOL} delsnapshot "$id" "$name" $force
`
