#!/bin/bash
# base.sh FOLDER CACHE SUITE: builds the tree that the rig's host and its containers start from. Debian with sshd, sudo, LXC,
# the rig's users, and made-up packages at version 1.0 whose version 2.0 waits in an offline repository.
set -euo pipefail
FILES=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
TREE=$1.new
CACHE=$2
SUITE=$3
REPOSITORIES=$TREE/srv/rig
T=$TREE.package
. "$FILES/packages"
. "$FILES/mirror"

install_tools() {
  command -v debootstrap >/dev/null && return
  apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install debootstrap
}

bootstrap() {
  mkdir -p "$CACHE"
  rm -rf "$TREE"
  http_proxy=$proxy debootstrap --variant=minbase --cache-dir="$CACHE" \
    --include=openssh-server,sudo,locales,apt-utils,lxc,procps,adduser,libatomic1,systemd,curl "$SUITE" "$TREE" $mirror
}

# ---------------------------------------------------------------------------------------------- made-up packages
made_up_packages() {
  local repository=$REPOSITORIES version out architecture security='' cve=''
  mkdir -p "$repository"/{old,main,security}
  for version in 1.0 2.0; do
    if [ $version = 1.0 ]; then out=$repository/old; else out=$repository/main; fi
    # rig-web 2.0 needs a new package and drives an old one out: only full-upgrade does that.
    if [ $version = 1.0 ]; then
      package "$out" rig-web 1.0 all 'Section: web'
      package "$out" rig-old 1.0 all 'Section: oldlibs'
    else
      package "$out" rig-web 2.0 all 'Section: web' 'Depends: rig-new' 'Conflicts: rig-old'
      package "$out" rig-new 2.0 all 'Section: libs'
    fi
    # Many lines, slowly; /etc/rig/slow holds `<lines> <milliseconds>`.
    postinst <<'P'
#!/usr/bin/perl
use strict; $| = 1; exit 0 if ($ARGV[0] // '') ne 'configure' or !defined $ARGV[1] or $ARGV[1] eq '';
my ($n, $ms) = (40, 50); if (open my $f, '<', '/etc/rig/slow') { ($n, $ms) = split ' ', <$f>; }
for my $i (1 .. $n) { print "rig-slow: step $i of $n\n"; select(undef, undef, undef, $ms / 1000); }
P
    package "$out" rig-slow $version all
    # Fails while /etc/rig/fail exists.
    postinst <<'P'
#!/bin/sh
if [ "$1" = configure ] && [ -n "$2" ] && [ -e /etc/rig/fail ]; then echo "rig-fail: simulated failure" >&2; exit 1; fi
P
    package "$out" rig-fail $version all
    # A conffile; changed locally, its upgrade asks a question.
    mkdir -p "$T/DEBIAN" "$T/etc"
    echo "version=$version" >"$T/etc/rig-conf.conf"
    echo /etc/rig-conf.conf >"$T/DEBIAN/conffiles"
    package "$out" rig-conf $version all
  done
  # A version with an epoch and a tilde, offered by two repositories.
  architecture=$(dpkg --print-architecture)
  package "$repository/old" librig2 1.4.2-1+b1 "$architecture" 'Section: libs'
  security=1 cve=CVE-2026-0001
  package "$repository/main" librig2 1:2.0~rc1-1+deb12u3 "$architecture" 'Section: libs'
  cp "$repository"/main/librig2_* "$repository/security/"
  describe "$repository/main" stable "$SUITE" Debian "$CHANGELOGS"
  describe "$repository/security" stable-security "$SUITE-security" Debian-Security "$CHANGELOGS"
}

# ------------------------------------------------------------------------------------------------- configuration
configure() {
  rm -rf "$TREE"/var/cache/apt/archives/*.deb "$TREE"/var/lib/apt/lists/* "$TREE"/etc/apt/sources.list{,.d/*}
  printf 'deb [trusted=yes] file:/srv/rig/%s ./\n' main security >"$TREE/etc/apt/sources.list"
  printf '%s UTF-8\n' fr_FR.UTF-8 en_US.UTF-8 >"$TREE/etc/locale.gen"
  echo pve >"$TREE/etc/hostname"
  printf '127.0.0.1 localhost\n127.0.1.1 pve\n' >"$TREE/etc/hosts"
  mkdir -p "$TREE/etc/rig"
  install -m755 "$FILES/rig-init" "$TREE/sbin/rig-init"
  install -m755 "$FILES"/{host-init,hold-lock,rig-state,rig-services,rig-http,rig-listener} "$TREE/usr/local/sbin/"
  install -Dm644 -t "$TREE/usr/local/lib/rig" "$FILES"/{packages,offers}
  install -m755 -t "$TREE/usr/local/lib/rig" "$FILES"/{systemctl,docker,dockerd}
  install -Dm644 -t "$TREE/usr/local/lib/rig/Rig" "$FILES"/hypervisor/Rig/*.pm
  install -m755 -t "$TREE/usr/sbin" "$FILES"/hypervisor/{pct,pvesm,lvs,zpool}
  install -m755 -t "$TREE/usr/bin" "$FILES/hypervisor/vzdump"
  chroot "$TREE" sh -ec '
    locale-gen
    dpkg -i /srv/rig/old/*.deb
    apt-get -q update
    for user in alice bob ops zoe locked expired mustchange; do useradd -m -s /bin/bash $user; done
    useradd -m -s /usr/sbin/nologin shut
    usermod -aG sudo alice'
  sed 's/  .*//; s/ /:/' "$FILES/users" | chroot "$TREE" chpasswd
  chroot "$TREE" sh -ec 'usermod -L locked; chage -E 2020-01-01 expired; chage -d 0 mustchange'
  echo 'ops ALL=(root) NOPASSWD: /usr/bin/apt, /usr/bin/apt-get, /usr/sbin/pct' >"$TREE/etc/sudoers.d/ops"
  chmod 440 "$TREE/etc/sudoers.d/ops"
}

install_tools
bootstrap
made_up_packages
configure
touch "$TREE/.complete"
mv "$TREE" "$1"
