#!/bin/bash
# Installs the browser that the panel is tried in, with a named font, where they are missing: root on Debian. CHROMIUM names another
# one. Prints nothing when all is there.
set -euo pipefail
missing=
[ -x "${CHROMIUM:-/usr/bin/chromium}" ] || missing+=' chromium'
# Without one of those that the styles name, letters are as wide as chance has it.
[ -e /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf ] || missing+=' fonts-dejavu-core'
[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ] || ! grep -qs '^ID=debian' /etc/os-release; then
  echo "the browser's tests need these packages of Debian:$missing" >&2
  exit 1
fi
echo "installing$missing" >&2
{ apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install $missing; } >/dev/null ||
  { echo "could not be installed:$missing" >&2; exit 1; }
