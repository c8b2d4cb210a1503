#!/bin/bash
# layer.sh FOLDER BASE CACHE SUITE MANAGER: builds what a container with another package manager has over the base: dnf,
# zypper or pacman from Debian's packages, and no apt. Runs in a mount namespace of its own.
set -euo pipefail
FILES=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
LAYER=$1.new WORK=$1.work TREE=$1.tree BASE=$2 CACHE=$3/layers-$4 SUITE=$4 MANAGER=$5
. "$FILES/../mirror"

case $MANAGER in
  dnf | zypper) packages=("$MANAGER" rpm createrepo-c) kinds=(rpm "$MANAGER") ;;
  pacman) packages=(pacman-package-manager makepkg libarchive-tools zstd) kinds=(pacman) ;;
  *) echo "layer.sh: there is no manager $MANAGER" >&2 && exit 2 ;;
esac

mount --make-rprivate /
rm -rf "$LAYER" "$WORK" "$TREE"
mkdir -p "$LAYER" "$WORK" "$TREE" "$CACHE/partial"
mount -t overlay layer -o "lowerdir=$BASE,upperdir=$LAYER,workdir=$WORK" "$TREE"
mkdir -p "$TREE/usr/local/lib/rig" "$TREE/etc/ssl/certs"
mount -t tmpfs run "$TREE/run"
mount -t tmpfs tmp "$TREE/tmp"
mount -t proc proc "$TREE/proc"
mkdir "$TREE/run/lists" "$TREE/run/apt-cache"
mount --bind "$CACHE" "$TREE/var/cache/apt/archives"
mount --bind "$TREE/run/lists" "$TREE/var/lib/apt/lists"
# Of this machine, without a trace in the layer: the way to the mirror.
cp -L /etc/resolv.conf "$TREE/run/resolv.conf"
[ -e "$TREE/etc/resolv.conf" ] || touch "$TREE/etc/resolv.conf"
mount --bind "$TREE/run/resolv.conf" "$TREE/etc/resolv.conf"
[ ! -d /etc/ssl/certs ] || mount --bind /etc/ssl/certs "$TREE/etc/ssl/certs"
printf '#!/bin/sh\nexit 101\n' >"$TREE/usr/sbin/policy-rc.d"
chmod 755 "$TREE/usr/sbin/policy-rc.d"
echo "deb ${mirror:-http://deb.debian.org/debian} $SUITE main" >"$TREE/run/sources.list"
chroot "$TREE" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C DEBIAN_FRONTEND=noninteractive sh -ec '
  proxy=$1
  shift
  apt_get() {
    apt-get -q -o Acquire::http::Proxy="$proxy" -o Dir::Etc::sourcelist=/run/sources.list -o Dir::Etc::sourceparts=- \
      -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Keep-Downloaded-Packages=true "$@"
  }
  apt_get update
  apt_get -y --no-install-recommends install "$@"' install "$proxy" "${packages[@]}"
install -m644 "$FILES/packages" "$TREE/usr/local/lib/rig/packages"
for kind in "${kinds[@]}"; do cat "$FILES/$kind"; done >"$TREE/usr/local/lib/rig/offers"
install -m755 "$FILES/prepare" "$TREE/run/prepare"
chroot "$TREE" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root /run/prepare "$MANAGER"
rm "$TREE/usr/sbin/policy-rc.d"
umount -l "$TREE/etc/resolv.conf" "$TREE/etc/ssl/certs" "$TREE"/{proc,tmp,run} "$TREE/var/lib/apt/lists" "$TREE/var/cache/apt/archives"
umount -l "$TREE"
rm -rf "$WORK" "$TREE"
mv "$LAYER" "$1"
