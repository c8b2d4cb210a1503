#!/bin/bash
# The panel's suite: every test of test/panel/flows in a real Chromium (see test/packages.sh). Fails when it could not start, ran no test, or
# left one out.
set -euo pipefail
HERE=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
cd "$HERE/../.."
export PATH=$PWD/node_modules/.bin:$PATH
report=$(mktemp)
export TEST_REPORT=${TEST_REPORT:-$report}

fail() { echo "test:panel: $*" >&2; exit 1; }

[ -x node_modules/.bin/vitest ] || fail 'the packages are missing: run "npm ci" first.'
"$BASH" test/packages.sh panel || fail 'packages are missing.'
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
vitest run --project 'panel*' "$@" &
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
