#!/bin/bash
# Runs the tests of this folder, or the named files, against real hosts: installs the needed packages, starts a
# disposable host for each worker of vitest (rig.sh), builds the service, and removes the hosts. Needs root on Debian.
# Fails when it could not start, ran no test, or left one out. PANEL_UNDER_TEST is the path of the program under test,
# dist/ops-panel.mjs by default; dist/ops-panel and serve/main.ts also work. BUILT=1 uses dist/ as it is.
set -euo pipefail
HERE=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
cd "$HERE/../.."
export RIG_PORT=${RIG_PORT:-2222} RIG_DATA=${RIG_DATA:-/var/tmp/ops-panel-rig} RIG_QUIET=
export TEST_REPORT=${TEST_REPORT:-$RIG_DATA/report.json}
# One folder for each port, because another run may use other ports at the same time.
export TMPDIR=$RIG_DATA/tmp-$RIG_PORT
export PATH=$PWD/node_modules/.bin:$PATH

fail() { echo "test:host: $*" >&2; exit 1; }

[ "$(id -u)" = 0 ] || fail 'must run as root: it starts sshd and containers.'
grep -qs '^ID=debian' /etc/os-release || fail 'needs Debian: the host under test is made with debootstrap.'
[ -x node_modules/.bin/vitest ] || fail 'the packages are missing: run "npm ci" first.'
# One of the tests needs a browser.
"$BASH" test/packages.sh host || fail 'packages are missing.'
node --version >/dev/null || fail 'the Node of node_modules does not start.'

# One host for each worker of vitest; rig.ts computes the same ports.
export RIG_COUNT=${RIG_COUNT:-3}
[ $# = 0 ] || [ $# -ge "$RIG_COUNT" ] || RIG_COUNT=$#
ports() { seq "$RIG_PORT" $((RIG_PORT + RIG_COUNT - 1)); }

tests=
finish() {
  [ -z "$tests" ] || kill -KILL -- "-$tests" 2>/dev/null || true # after an interruption, with the services
  local port
  for port in $(ports); do
    # Some tests start a second host.
    RIG_QUIET=1 RIG_PORT=$port "$BASH" "$HERE/rig.sh" down
    RIG_QUIET=1 RIG_PORT=$((port + 10000)) "$BASH" "$HERE/rig.sh" down
  done
  # A mount of a test may go a moment later; its folder does not fail the run.
  rm -rf "$TMPDIR" || { sleep 2 && rm -rf "$TMPDIR"; } || echo "test:host: $TMPDIR could not be removed" >&2
}
trap finish EXIT
trap 'exit 130' INT TERM HUP
# dpkg-deb needs it when the host is built.
mkdir -p "$TMPDIR"
for port in $(ports); do
  RIG_PORT=$port "$BASH" "$HERE/rig.sh" up || fail 'the host could not be brought up.'
done
"$BASH" "$HERE/rig.sh" managers build || fail 'the containers of other package managers could not be built.'
RIG_SUITE=trixie "$BASH" "$HERE/rig.sh" base >/dev/null || fail 'the base of Debian 13 could not be built.'
tried=${PANEL_UNDER_TEST:-dist/ops-panel.mjs}
case ${BUILT:+built}$tried in
  dist/ops-panel.mjs) npm run --silent build || fail 'the service could not be built.' ;;
  dist/ops-panel) npm run --silent build:binary || fail 'the executable could not be built.' ;;
esac
[ -e "$tried" ] || fail "there is no $tried."
PANEL_UNDER_TEST=$(readlink -f "$tried")
case $tried in
  dist/*)
    # A copy alone in a folder, as it is installed, which no other build can change while the suite runs.
    mkdir -p "$TMPDIR/service"
    cp "$tried" "$TMPDIR/service/"
    PANEL_UNDER_TEST=$TMPDIR/service/$(basename "$tried")
    ;;
esac
export PANEL_UNDER_TEST
echo "test:host: trying $tried"

rm -f "$TEST_REPORT"
result=0
setsid vitest run --project host --project host-alone "$@" &
tests=$!
wait "$tests" || result=$?
[ -s "$TEST_REPORT" ] || fail 'no test was run: there is no report.'
node "$HERE/count.ts" "$TEST_REPORT" host "$@" || result=1
exit $result
