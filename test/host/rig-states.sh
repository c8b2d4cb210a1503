# Sourced by rig.sh: the states of targets for the tests of checks and upgrades. rig/rig-state and
# rig/rig-services make them, inside the target; here is what needs this machine: signatures, and files for the service.

states_usage() {
  cat <<'U'
TARGET is host, 101, 102 or all:
rig.sh publish TARGET NAME VERSION [security] [KEY=VALUE...]   offers a package in place of its other versions. Keys:
         depends, conflicts, phased (percent), isize (KiB), big (MiB), arch, section, source, cve (into its changelog),
         conffile (PATH:CONTENT, with the escapes of printf; may be repeated)
rig.sh install TARGET NAME VERSION [KEY=VALUE...]   installs a package that is not offered
rig.sh withdraw TARGET NAME           no longer offers it
rig.sh refresh TARGET                 apt-get update
rig.sh hold TARGET on|off [PACKAGE]   a held package: rig-slow, or the named one
rig.sh phased TARGET on|off|PERCENT   an update of rig-phased for 0 % of all machines, or for so many
rig.sh kept-new TARGET                rig-wants 2.0 needs the new package rig-wanted
rig.sh kept-remove TARGET             rig-driver 2.0 conflicts with the installed rig-driven
rig.sh kept-deps TARGET               rig-unmet 2.0 needs a package that does not exist
rig.sh half TARGET on|off             half-configured rig-half; its postinst fails while /etc/rig/half-fails exists
rig.sh interrupted TARGET on|off      dpkg's journal, as after a killed dpkg
rig.sh broken TARGET on|off           rig-broken is installed without what it depends on
rig.sh disk TARGET on|off             1 MiB for downloads, and rig-big with 4 MiB to be downloaded
rig.sh full-disk TARGET KIB|off       so many KiB for downloads: too few for rig-big before `apt-get clean`; enough
                                      afterwards from 4400 on
rig.sh huge TARGET on|off             an update of rig-huge that asks for 900 GB of disk space
rig.sh http TARGET on|off|file        repositories over HTTP; off: the server does not answer, and former lists stay
rig.sh repo-name TARGET SUITE CODENAME   renames the main repository; at first it is `stable` and the codename of Debian
rig.sh third TARGET STATE             a third party's repository with rig-third 2.0:
         good, expired (its key), bad (signature of another text), nokey (signed by an unknown key), unsigned,
         old (Valid-Until has passed), renamed (noticed where `good` was refreshed before), unreachable, off
rig.sh os TARGET ID VERSION CODENAME | os TARGET off   another distribution in /etc/os-release
rig.sh nomanager TARGET on|off        neither apt nor dpkg
rig.sh readonly TARGET on|off         the root file system is read-only
rig.sh reboot-required TARGET on|off  /run/reboot-required and its list of packages
rig.sh units TARGET on|off             systemd, with the services rig-listener (port 7777) and rig-second (7778), which start with
                                      the container; on the host, their ports are 23000 and 26000 above its own
rig.sh units TARGET fail|ok UNIT      this service fails to start, or starts again
rig.sh killer TARGET on|off           rig-killer 2.0 is installed without an error, and rig-listener has failed for good
rig.sh flap TARGET on|off [SECONDS]   after an upgrade to rig-flap 2.0, rig-second is away for so long (8)
rig.sh maplib TARGET on|off           rig-maplib, a library that rig-listener loads where it is there before `units on`; 2.0 is offered
rig.sh docker TARGET on|off           Docker with the containers web and db, and rig-runtime: its 2.0 is installed without an
                                      error, and no container of Docker runs or starts any more
rig.sh auto-upgrades TARGET on|off [cron]   a stand-in for unattended-upgrades that apt's periodic run would start; with
                                      cron also lines of cron that upgrade, in /etc/cron.d/rig-upgrades and root's crontab
rig.sh cve-file PATH                  writes a file of vulnerabilities in the format of debsecan, on this machine
U
}

# state COMMAND TARGET [WORD...]
state() {
  local command=$1 target
  for target in $(targets "${2:?which target?}"); do
    case $command in
      auto-upgrades) auto_upgrades "$target" "${3:?on or off?}" "${4:-}" ;;
      third) third "$target" "${3:?which state?}" ;;
      units | killer | flap | maplib | docker) inside "$target" /usr/local/sbin/rig-services "$command" "${@:3}" ;;
      *) inside "$target" /usr/local/sbin/rig-state "$command" "${@:3}" ;;
    esac
  done
}

auto_upgrades() { # target, on or off, cron
  inside "$1" sh -euc '
    rm -f /usr/bin/unattended-upgrade /etc/apt/apt.conf.d/20auto-upgrades /etc/apt/apt.conf.d/99ops-panel-no-auto-upgrades \
      /etc/cron.d/rig-upgrades /var/spool/cron/crontabs/root
    [ "$1" = on ] || exit 0
    printf "#!/bin/sh\n" >/usr/bin/unattended-upgrade
    chmod 755 /usr/bin/unattended-upgrade
    printf "APT::Periodic::%s \"1\";\n" Update-Package-Lists Unattended-Upgrade >/etc/apt/apt.conf.d/20auto-upgrades
    [ "$2" = cron ] || exit 0
    mkdir -p /etc/cron.d /var/spool/cron/crontabs
    printf "%s\n" "# every night" "PATH=/usr/sbin:/usr/bin" "0 3 * * * root apt-get update && apt-get -y dist-upgrade" \
      >/etc/cron.d/rig-upgrades
    printf "%s\n" "0 0 * * 0 /usr/local/bin/update-lxcs.sh >>/var/log/update-lxcs-cron.log 2>&1" >/var/spool/cron/crontabs/root
    chmod 600 /var/spool/cron/crontabs/root' rig "$2" "$3"
}

third() ( # target state
  if is_managed "$1"; then
    if [ "$2" = off ]; then set -- "$1" third-off; else set -- "$1" third "$2"; fi
    inside "$1" /usr/local/sbin/rig-state "${@:2}"
    exit
  fi
  target=$1 address=file:/srv/rig/third key=good ring=good described=(stable third)
  case $2 in
    good | bad | unsigned) ;;
    expired) key=expired ring=expired ;;
    nokey) key=other ;;
    old) described+=("Valid-Until: $(LC_ALL=C date -u -d '3 days ago' '+%a, %d %b %Y %H:%M:%S UTC')") ;;
    renamed) described=(oldstable fourth) ;;
    unreachable) address=http://127.0.0.1:9/third ;;
    off) inside "$target" /usr/local/sbin/rig-state third-off && exit ;;
    *) die "third knows no state $2" ;;
  esac
  # Several hosts may use the same key at once.
  exec 7>"$DATA/.lock-gpg"
  flock 7
  ring $ring | inside "$target" /usr/local/sbin/rig-state third "$address" "${described[@]}"
  [ "$2" != unsigned ] || exit 0
  inside "$target" cat /srv/rig/third/Release | signed $key |
    if [ "$2" = bad ]; then sed 's/^Label: .*/Label: Somebody-Else/'; else cat; fi |
    inside "$target" sh -c 'cat >/srv/rig/third/InRelease'
)

# signed KEY: signs stdin with a key of the rig. gpg of this machine does it.
signed() {
  key "$1"
  gpg_of "$1" --clearsign
}

# ring KEY: prints the public key, as targets have it.
ring() {
  key "$1"
  cat "$DATA/gpg/$1/ring"
}

# Makes a key at its first use. The owner of `expired`, which was valid for two days in 2024, has prolonged it, and
# targets have the former one. A signature from those two days would be good for the apt of Debian 13.
key() {
  local home=$DATA/gpg/$1 life=never past=()
  command -v gpg >/dev/null || die 'needs gpg: test/packages.sh host installs it'
  mkdir -p -m 700 "$DATA/gpg" "$home"
  [ ! -e "$home/ring" ] || return 0
  [ "$1" != expired ] || { life=2d && past=(--faked-system-time 20240101T120000); }
  gpg_of "$1" "${past[@]}" --passphrase '' --quick-gen-key 'Rig <rig@localhost>' rsa2048 sign $life
  gpg_of "$1" --export >"$home/ring.new"
  [ "$1" != expired ] ||
    gpg_of "$1" --quick-set-expire "$(gpg_of "$1" --with-colons --list-keys | sed -n 's/^fpr:*\([0-9A-F]*\):$/\1/p')" 0
  mv "$home/ring.new" "$home/ring"
}

gpg_of() { # key, then the words of gpg
  local home=$DATA/gpg/$1
  gpg --homedir "$home" --batch --quiet --no-tty --yes "${@:2}" 2>"$home/log" 7>&- ||
    { cat "$home/log" >&2 && return 1; }
  gpgconf --homedir "$home" --kill gpg-agent
}

# debsecan's format: `package,number,flags,fixed in unstable,other fixed versions` over numbered vulnerabilities, as
# zlib data: the deflated data of gzip between another head and another checksum.
cve_file() {
  perl -e '
    local $/;
    my $text = <STDIN>;
    my ($a, $b) = (1, 0);
    for (unpack "C*", $text) { $a = ($a + $_) % 65521; $b = ($b + $a) % 65521; }
    open my $plain, ">", "$ARGV[0].plain" or die "$ARGV[0].plain: $!\n";
    print $plain $text;
    close $plain;
    open my $packed, "-|", "gzip", "-nc", "$ARGV[0].plain" or die "gzip: $!\n";
    my $deflated = substr <$packed>, 10, -8;
    unlink "$ARGV[0].plain";
    open my $file, ">", $ARGV[0] or die "$ARGV[0]: $!\n";
    print $file pack("CC", 0x78, 0x9c), $deflated, pack("N", $b << 16 | $a);
  ' "$1" <<'V'
VERSION 1
CVE-2026-0001,,librig2: a buffer too small
CVE-2026-0002,,rig-slow: slowness
CVE-2019-9999,,rig-app: an old one
CVE-2026-0003,,rig-web: without a fix

librig2,0,S HRF,1:2.0~rc1-1+deb12u3,
rig-slow,1,S LRF,2.0,
rig-app,2,S M F,1.0,
rig-web,3,S M  ,,

librig2,librig2
rig-slow,rig-slow
V
}
