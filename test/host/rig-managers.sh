# Sourced by rig.sh: containers with another package manager than apt. They start from the base with a layer over it,
# which rig/managers/layer.sh makes once; they are there after `rig.sh managers up` alone.

MANAGED='111:dnf:fedora 112:zypper:opensuse 113:pacman:archlinux'
LAYERS=$DATA/layers

managers_usage() {
  cat <<'U'
rig.sh managers build                 makes what the containers of other package managers start from: 111 dnf, 112 zypper, 113 pacman
rig.sh managers up|down [ID...]       starts or removes these containers, or all of them; `rig.sh reset ID` gives a new one
         They have the packages rig-web, rig-slow, rig-fail, rig-conf and librig2 (a security update; pacman has no marks).
         These commands take their IDs: publish, install, withdraw, refresh, hold, kept-new, kept-remove, kept-deps, http, os,
         nomanager, readonly, units, killer, flap, maplib, fail, slow, lock, and these:
rig.sh publish ID NAME [EPOCH:]VERSION[-RELEASE] [security] [reboot] [KEY=VALUE...]   Keys: depends, conflicts, obsoletes, provides,
         recommends, vendor (not with pacman), arch, big (MiB), cve, conffile
rig.sh install ID NAME VERSION [...]  also in place of a newer one
rig.sh repo ID on|off                 the index of the repository is there, or away
rig.sh third ID good|unsigned|unreachable|off   the repository rig-third with rig-third 2.0; unsigned where a signature is asked for
U
}

is_managed() { [[ " $MANAGED" == *" $1:"* ]]; }

# The name of a manager's layer, which differs with everything that it is made from.
layer_name() {
  echo "$SUITE-$(find "$FILES/managers" -type f | LC_ALL=C sort | xargs cat | cat - <(basename "$BASE") | sha256sum | cut -c1-12)-$1"
}

layer() { # manager
  local name
  name=$(layer_name "$1")
  [ -e "$LAYERS/$name" ] && return
  mkdir -p "$LAYERS"
  exec 7>"$LAYERS/.lock"
  flock 7
  if [ ! -e "$LAYERS/$name" ]; then
    local old
    for old in "$LAYERS/$SUITE"-*-"$1"; do
      [ ! -e "$old" ] || grep -qs "$(basename "$old")" /proc/[0-9]*/mounts || rm -rf "$old"
    done
    say "building the layer of $1 (about a minute, once); log: $DATA/layer-$1.log"
    unshare -m bash "$FILES/managers/layer.sh" "$LAYERS/$name" "$BASE" "$DATA/cache" "$SUITE" "$1" >"$DATA/layer-$1.log" 2>&1 7>&- || {
      tail -n 15 "$DATA/layer-$1.log" >&2
      die "the layer of $1 could not be built, see $DATA/layer-$1.log"
    }
  fi
  exec 7>&-
}

managers() { # build, up or down, and IDs
  local what=$1 each id manager ostype
  shift
  build
  for each in $MANAGED; do
    IFS=: read -r id manager ostype <<<"$each"
    [ $# = 0 ] || [[ " $* " == *" $id "* ]] || continue
    case $what in
      build) layer "$manager" ;;
      up)
        layer "$manager"
        host sh -ec '
          configs=/var/lib/rig/configs
          [ ! -e "$configs/$1.conf" ] || exit 0
          sed "s/^hostname: .*/hostname: $2/; s/vm-101-/vm-$1-/; s/^onboot: .*/onboot: 0/; s/^ostype: .*/ostype: $3/" $configs/101.conf \
            >"$configs/$1.conf"
          echo "$4" >"$configs/$1.layer"
          cp "$configs/$1.conf" /etc/pve/nodes/pve/lxc/' managed "$id" "$manager" "$ostype" "$(layer_name "$manager")"
        host sh -ec 'pct status "$1" | grep -q running || pct start "$1"' start "$id" 9>&-
        ;;
      down)
        reset_container "$id"
        host sh -ec '
          ! pct status "$1" | grep -q running || pct stop "$1"
          rm -rf "/etc/pve/nodes/pve/lxc/$1.conf" "/var/lib/rig/configs/$1".* "/var/lib/rig/containers/$1"' down "$id"
        ;;
      *) die 'managers build, up or down' ;;
    esac
  done
}
