#!/bin/bash
# Runs the tests of this folder against a real Gitea or Forgejo (gitea.sh says which). Fails when there is none, when no
# test ran, or when one was left out. Needs git; no root.
set -euo pipefail
HERE=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
cd "$HERE/../.."
export PATH=$PWD/node_modules/.bin:$PATH

fail() { echo "test:forge: $*" >&2; exit 1; }

[ -x node_modules/.bin/vitest ] || fail 'the packages are missing: run "npm ci" first.'
command -v git >/dev/null || fail 'git is missing, which every forge needs.'
TEST_GITEA=$("$BASH" "$HERE/gitea.sh") || exit 1
export TEST_GITEA

DATA=$(mktemp -d /var/tmp/ops-panel-forge-run.XXXXXX)
tests=
finish() {
  [ -z "$tests" ] || kill -KILL -- "-$tests" 2>/dev/null || true # after an interruption, with its forges
  rm -rf "$DATA" || echo "test:forge: $DATA could not be removed" >&2
}
trap finish EXIT
trap 'exit 130' INT TERM HUP
export TMPDIR=$DATA TEST_REPORT=${TEST_REPORT:-$DATA/report.json}

rm -f "$TEST_REPORT"
result=0
setsid vitest run --project forge-real "$@" &
tests=$!
wait "$tests" || result=$?
[ "$result" = 0 ] || echo "test:forge: vitest ended with $result" >&2
[ -s "$TEST_REPORT" ] || fail 'no test was run: there is no report.'
node test/host/count.ts "$TEST_REPORT" forge-real "$@" || result=1
exit $result
