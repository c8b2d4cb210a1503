#!/bin/bash
# Tests the shipped files: builds the executable and the Debian package, runs the tests of this folder on a disposable
# host without systemd (test/host/rig.sh) and on a machine with it (machine.sh), and removes both. Needs root on Debian.
# Fails when it could not start, ran no test, or left one out. BUILT=1 uses dist/ as it is.
set -euo pipefail
HERE=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
cd "$HERE/../.."
export RIG_PORT=${RIG_PORT:-2242} RIG_DATA=${RIG_DATA:-/var/tmp/ops-panel-rig} RIG_QUIET=
export TEST_REPORT=${TEST_REPORT:-$RIG_DATA/report.json}
export TMPDIR=$RIG_DATA/package-tmp-$RIG_PORT
export PATH=$PWD/node_modules/.bin:$PATH

fail() { echo "test:package: $*" >&2; exit 1; }

[ "$(id -u)" = 0 ] || fail 'must run as root: it installs a package, and starts systemd.'
grep -qs '^ID=debian' /etc/os-release || fail 'needs Debian: the package is for it.'
[ -x node_modules/.bin/vitest ] || fail 'the packages are missing: run "npm ci" first.'
"$BASH" test/packages.sh package || fail 'packages are missing.'
node --version >/dev/null || fail 'the Node of node_modules does not start.'

# One host for each worker of vitest; the tests start it.
export RIG_COUNT=${RIG_COUNT:-3}
ports() { seq "$RIG_PORT" $((RIG_PORT + RIG_COUNT - 1)); }

tests=
finish() {
  [ -z "$tests" ] || kill -KILL -- "-$tests" 2>/dev/null || true # after an interruption
  local port
  for port in $(ports); do
    RIG_PORT=$port "$BASH" "$HERE/machine.sh" down
    RIG_QUIET=1 RIG_PORT=$port "$BASH" test/host/rig.sh down
  done
  rm -rf "$TMPDIR" || echo "test:package: $TMPDIR could not be removed" >&2
}
trap finish EXIT
trap 'exit 130' INT TERM HUP
mkdir -p "$TMPDIR"

[ -n "${BUILT:-}" ] || { npm run --silent build && npm run --silent build:deb; } || fail 'the package could not be built.'
# A copy, so that another build cannot change the files while the suite runs.
made=$TMPDIR/made
mkdir "$made"
cp dist/ops-panel dist/ops-panel.mjs dist/ops-panel.packages dist/*_"$(dpkg --print-architecture)".deb "$made/"
export TEST_BINARY=$made/ops-panel PANEL_UNDER_TEST=$made/ops-panel
TEST_DEB=$(ls "$made"/ops-panel_"$(node -p 'require("./package.json").version')"_*.deb)
export TEST_DEB

# The same package, built in another folder, time zone, language and umask; an older one with another configuration.
other=$TMPDIR/elsewhere
mkdir -p "$other/dist"
cp -r packaging package.json CHANGELOG.md LICENSE "$other/"
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

"$BASH" test/host/rig.sh base >/dev/null || fail 'the base of the hosts could not be built.'
rm -f "$TEST_REPORT"
result=0
setsid vitest run --project package "$@" &
tests=$!
wait "$tests" || result=$?
[ -s "$TEST_REPORT" ] || fail 'no test was run: there is no report.'
node test/host/count.ts "$TEST_REPORT" package "$@" || result=1
exit $result
