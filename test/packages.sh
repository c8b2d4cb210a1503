#!/bin/bash
# packages.sh SUITE...: installs the Debian packages that the suites unit, panel, host, docker and package need and this machine lacks.
# Root on Debian; elsewhere it names them and fails. Prints nothing when all is there. CHROMIUM names another browser.
set -euo pipefail
PATH=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)/node_modules/.bin:$PATH

missing=()
# need WHAT PACKAGE: a program, or a file by its path, and the package that brings it.
need() { command -v "$1" >/dev/null || [[ $1 == /* && -e $1 ]] || missing+=("$2"); }

# The project's own Node needs a library that a bare Debian lacks.
node --version >/dev/null 2>&1 || missing+=(libatomic1)
for suite in "$@"; do
  case $suite in
    # Scripts for containers without bash run in its shell too, where it is there.
    unit) need busybox busybox ;;
    panel | host)
      # The whole browser takes half as much CPU again; it does where nothing can be installed.
      browser=/usr/bin/chromium-headless-shell
      [ "$(id -u)" = 0 ] || [ ! -e /usr/bin/chromium ] || browser=/usr/bin/chromium
      need "${CHROMIUM:-$browser}" chromium-headless-shell
      # The sandbox of modules' pages is tried in a second browser.
      [ "$suite" != panel ] || need "${FIREFOX:-/usr/bin/firefox-esr}" firefox-esr
      # Without one of the fonts that the styles name, letters are as wide as chance has it.
      need /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf fonts-dejavu-core
      # gpg signs a repository of the host under test.
      [ "$suite" = panel ] || for tool in debootstrap gpg gpg-agent; do need $tool $tool; done
      # A real mail server, which takes the panel's mail, and openssl for its certificate.
      [ "$suite" = panel ] || { need /usr/sbin/exim4 exim4-daemon-light && need openssl openssl; }
      ;;
    docker)
      need /usr/sbin/dockerd docker.io
      need docker-compose docker-compose
      # The images of the tests contain it.
      need busybox busybox
      ;;
    package)
      # lintian and dpkg-dev look at the package, man-db at its page; the proxies stand in front of the executable.
      for tool in lintian:lintian dpkg-shlibdeps:dpkg-dev man:man-db nginx:nginx caddy:caddy debootstrap:debootstrap; do
        need "${tool%:*}" "${tool#*:}"
      done
      ;;
    *) echo "packages.sh: there is no suite $suite." >&2 && exit 2 ;;
  esac
done
if [[ " $* " == *' docker '* ]] && ! command -v docker >/dev/null; then
  # From Debian 13 on it is a package of its own.
  missing+=("$(grep -qs '^VERSION_ID="1[12]"' /etc/os-release && echo docker.io || echo docker-cli)")
fi
# Docker Compose 2, which Debian 12 lacks: that of Debian 13, beside the older one, for the tests of stacks (docker/stack-place.ts).
COMPOSE_VERSION=2.26.1-4
declare -A COMPOSE_SHA256=(
  [amd64]=47681197cb2b1ab88206b42a1a92fc75f50d9530a6322d03494a473eed0408ea
  [arm64]=bbafaa666f3e7fa00ad36f2a8bab889f1c791ca8743d674e7267a3d07203869c
)
COMPOSE=/var/cache/ops-panel-tests/docker-compose-$COMPOSE_VERSION
compose=
[[ " $* " != *' docker '* || -x $COMPOSE ]] || compose=yes
[ ${#missing[@]} -gt 0 ] || [ -n "$compose" ] || exit 0
mapfile -t missing < <(printf '%s\n' "${missing[@]}" | sed '/^$/d' | sort -u)

if [ "$(id -u)" != 0 ] || ! grep -qs '^ID=debian' /etc/os-release; then
  echo "these packages of Debian are missing: ${missing[*]}${compose:+ docker-compose=$COMPOSE_VERSION}" >&2
  exit 1
fi
# Several suites may start at once.
exec 9>/var/lock/ops-panel-packages
flock 9

# fetch_compose FOLDER: without installing it. apt checks the archive's signature, with settings and lists of its own in FOLDER.
fetch_compose() (
  . "$(dirname "$(readlink -f "$0")")/host/rig/mirror"
  cd "$1" && mkdir -p lists/partial cache/archives/partial &&
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${mirror:-http://deb.debian.org/debian} trixie main" >sources.list &&
    echo "Dir { Etc { sourcelist \"$1/sources.list\"; sourceparts \"/dev/null\"; } State::Lists \"$1/lists\"; Cache \"$1/cache\"; }
      Acquire::http::Proxy \"$proxy\"; APT::Sandbox::User \"root\";" >apt.conf && export APT_CONFIG=$1/apt.conf &&
    apt-get -q update && apt-get -q download "docker-compose=$COMPOSE_VERSION" &&
    echo "${COMPOSE_SHA256[$(dpkg --print-architecture)]-}  $(echo docker-compose_*.deb)" | sha256sum --check --strict &&
    dpkg-deb --fsys-tarfile docker-compose_*.deb | tar -xO ./usr/libexec/docker/cli-plugins/docker-compose >program &&
    install -D -m755 program "$COMPOSE.new" && mv "$COMPOSE.new" "$COMPOSE"
)
if [ -n "$compose" ] && [ ! -x "$COMPOSE" ]; then
  echo "fetching docker-compose $COMPOSE_VERSION" >&2
  folder=$(mktemp -d) fetched=yes
  fetch_compose "$folder" >/dev/null || fetched=
  rm -rf "$folder"
  [ -n "$fetched" ] || { echo "could not be fetched: docker-compose $COMPOSE_VERSION" >&2 && exit 1; }
fi
[ ${#missing[@]} -gt 0 ] || exit 0
echo "installing ${missing[*]}" >&2
# Services that come with them would start on this machine.
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
  trap 'rm -f $policy' EXIT
  printf '#!/bin/sh\nexit 101\n' >$policy
  chmod 755 $policy
fi
{ apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install "${missing[@]}"; } >/dev/null || {
  echo "could not be installed: ${missing[*]}" >&2
  exit 1
}
