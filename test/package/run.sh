#!/bin/bash
# The suite for what is shipped: builds the executable and the Debian package, installs the package on a disposable host without
# systemd (test/host/rig.sh) and on a machine with it (machine.sh), runs every test of this folder, and takes both down. Root on
# Debian. Fails when it could not start, ran no test, or left one out.
set -euo pipefail
HERE=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
cd "$HERE/../.."
export RIG_PORT=${RIG_PORT:-2223} RIG_DATA=${RIG_DATA:-/var/tmp/ops-panel-rig} RIG_QUIET=
export TEST_REPORT=${TEST_REPORT:-$RIG_DATA/report.json}
export TMPDIR=$RIG_DATA/package-tmp
export PATH=$PWD/node_modules/.bin:$PATH

fail() { echo "test:package: $*" >&2; exit 1; }

[ "$(id -u)" = 0 ] || fail 'must run as root: it installs a package, and starts systemd.'
grep -qs '^ID=debian' /etc/os-release || fail 'needs Debian: the package is for it.'
[ -x node_modules/.bin/vitest ] || fail 'the packages are missing: run "npm ci" first.'
# The project's own Node needs a library that a bare Debian lacks; lintian and dpkg-dev look at the package, man-db at its page;
# the proxies stand in front of the executable.
missing=
for tool in lintian:lintian dpkg-shlibdeps:dpkg-dev man:man-db nginx:nginx caddy:caddy; do
  command -v "${tool%:*}" >/dev/null || missing+=" ${tool#*:}"
done
node --version >/dev/null 2>&1 || missing+=' libatomic1'
if [ -n "$missing" ]; then
  # The proxies would start as services of this machine.
  printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d.ops-panel && chmod 755 /usr/sbin/policy-rc.d.ops-panel
  [ -e /usr/sbin/policy-rc.d ] || { ln -s policy-rc.d.ops-panel /usr/sbin/policy-rc.d && policy=1; }
  { apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install $missing; } >/dev/null || failed=1
  [ -z "${policy-}" ] || rm -f /usr/sbin/policy-rc.d
  rm -f /usr/sbin/policy-rc.d.ops-panel
  [ -z "${failed-}" ] || fail "could not be installed:$missing"
fi
node --version >/dev/null || fail 'the Node of node_modules does not start.'

tests=
finish() {
  [ -z "$tests" ] || kill -KILL -- "-$tests" 2>/dev/null || true # if the suite was interrupted
  "$BASH" "$HERE/machine.sh" down
  RIG_QUIET=1 "$BASH" test/host/rig.sh down
  rm -rf "$TMPDIR"
}
trap finish EXIT
trap 'exit 130' INT TERM HUP
mkdir -p "$TMPDIR"

npm run --silent build:deb || fail 'the package could not be built.'
# Nobody's build changes it while the suite runs.
made=$TMPDIR/made
mkdir "$made"
cp dist/ops-panel dist/ops-panel.packages dist/*_"$(dpkg --print-architecture)".deb "$made/"
export TEST_BINARY=$made/ops-panel PANEL_UNDER_TEST=$made/ops-panel
TEST_DEB=$(ls "$made"/ops-panel_"$(node -p 'require("./package.json").version')"_*.deb)
export TEST_DEB

# Elsewhere, on another day, by somebody with other habits: the same package. And an older one, with another configuration.
other=$TMPDIR/elsewhere
mkdir -p "$other/dist"
cp -r packaging package.json CHANGELOG.md "$other/"
cp "$made"/ops-panel{,.packages} "$other/dist/"
ln -s "$PWD/node_modules" "$other/node_modules"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
(umask 077 && cd / && TZ=Asia/Tokyo LANG=fr_FR.UTF-8 node "$other/packaging/deb.ts") || fail 'the package could not be built again.'
TEST_DEB_AGAIN=$(ls "$other"/dist/*.deb)
export TEST_DEB_AGAIN
echo '# One line more.' >>"$other/packaging/debian/ops-panel.env"
node "$other/packaging/deb.ts" 0.0.1 || fail 'an older package could not be built.'
TEST_DEB_BEFORE=$(ls "$other"/dist/*_0.0.1_*.deb)
export TEST_DEB_BEFORE

"$BASH" test/host/rig.sh up || fail 'the host could not be brought up.'
rm -f "$TEST_REPORT"
result=0
setsid vitest run --project package "$@" &
tests=$!
wait "$tests" || result=$?
[ -s "$TEST_REPORT" ] || fail 'no test was run: there is no report.'
node test/host/count.ts "$TEST_REPORT" package "$@" || result=1
exit $result
