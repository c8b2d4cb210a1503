#!/bin/bash
# The panel's suite: every test of test/panel/flows in a real Chromium, which it installs with a named font where they are missing
# (root on Debian; CHROMIUM names another one). Fails when it could not start, ran no test, or left one out.
set -euo pipefail
HERE=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
cd "$HERE/../.."
export PATH=$PWD/node_modules/.bin:$PATH
report=$(mktemp)
export TEST_REPORT=${TEST_REPORT:-$report}

fail() { echo "test:panel: $*" >&2; exit 1; }

[ -x node_modules/.bin/vitest ] || fail 'the packages are missing: run "npm ci" first.'
missing=
[ -x "${CHROMIUM:-/usr/bin/chromium}" ] || missing+=' chromium'
# Without one of those that the styles name, letters are as wide as chance has it.
[ -e /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf ] || missing+=' fonts-dejavu-core'
node --version >/dev/null 2>&1 || missing+=' libatomic1'
if [ -n "$missing" ]; then
  [ "$(id -u)" = 0 ] && grep -qs '^ID=debian' /etc/os-release || fail "needs these packages of Debian:$missing"
  { apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install $missing; } >/dev/null ||
    fail "could not be installed:$missing"
fi
node --version >/dev/null || fail 'the Node of node_modules does not start.'

tests=
finish() {
  # The browsers too, if the suite was interrupted.
  [ -z "$tests" ] || kill -KILL -- "-$tests" 2>/dev/null || true
  rm -f "$report"
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

status=0
set -m
vitest run --project panel "$@" &
tests=$!
wait "$tests" || status=$?
set +m
node - "$TEST_REPORT" <<'JS' || status=1
const { testResults } = JSON.parse(require('node:fs').readFileSync(process.argv[2], 'utf8'))
const tests = testResults.flatMap(({ assertionResults }) => assertionResults)
const passed = tests.filter(({ status }) => status === 'passed').length
if (passed === 0 || passed < tests.length) {
  console.error(`test:panel: ${passed} of ${tests.length} tests passed.`)
  process.exit(1)
}
JS
exit "$status"
