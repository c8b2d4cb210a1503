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
[ ${#missing[@]} -gt 0 ] || exit 0
mapfile -t missing < <(printf '%s\n' "${missing[@]}" | sort -u)

if [ "$(id -u)" != 0 ] || ! grep -qs '^ID=debian' /etc/os-release; then
  echo "these packages of Debian are missing: ${missing[*]}" >&2
  exit 1
fi
# Several suites may start at once.
exec 9>/var/lock/ops-panel-packages
flock 9
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
