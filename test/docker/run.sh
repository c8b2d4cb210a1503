#!/bin/bash
# Runs the tests of this folder against a real Docker Engine: installs Docker, starts an engine for each worker of
# vitest, builds the image from Dockerfile, and removes everything at the end. Needs root on Debian. Fails when it could
# not start, ran no test, or left one out. BUILT=1 uses dist/ops-panel as it is. DOCKER_COUNT is the number of engines.
set -euo pipefail
HERE=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
cd "$HERE/../.."
DATA=${DOCKER_DATA:-/var/tmp/ops-panel-docker}
# A worker uses the engine with its number (container.ts).
export DOCKER_COUNT=${DOCKER_COUNT:-2} TEST_DOCKER_DATA=$DATA
[ $# = 0 ] || [ $# -ge "$DOCKER_COUNT" ] || DOCKER_COUNT=$#
export TEST_REPORT=${TEST_REPORT:-$DATA/report.json}
export TMPDIR=$DATA/tmp
export PATH=$PWD/node_modules/.bin:$PATH

fail() { echo "test:docker: $*" >&2; exit 1; }

[ "$(id -u)" = 0 ] || fail 'must run as root: it starts an engine.'
grep -qs '^ID=debian' /etc/os-release || fail 'needs Debian: the engine is its package docker.io.'
[ -x node_modules/.bin/vitest ] || fail 'the packages are missing: run "npm ci" first.'
"$BASH" test/packages.sh docker || fail 'packages are missing.'
node --version >/dev/null || fail 'the Node of node_modules does not start.'

tests= engines=()
finish() {
  [ -z "$tests" ] || kill -KILL -- "-$tests" 2>/dev/null || true # after an interruption
  local number engine
  for number in "${!engines[@]}"; do TEST_DOCKER_SOCKET=$DATA/$number/docker.sock node "$HERE/clear.ts" || true; done
  for engine in "${engines[@]}"; do kill -TERM "$engine" 2>/dev/null || true; done
  for engine in "${engines[@]}"; do
    for _ in {1..100}; do kill -0 "$engine" 2>/dev/null || break; sleep 0.1; done
    kill -KILL "$engine" 2>/dev/null || true
  done
  # The engines unmount their file systems when they end; rm would empty a mount that is left.
  awk -v d="$DATA/" 'index($5, d) == 1 { print $5 }' /proc/self/mountinfo | sort -r | xargs -r umount -l || true
  rm -rf "$DATA" || echo "test:docker: $DATA could not be removed" >&2
}
[ ! -e "$DATA/1/docker.sock" ] || fail "$DATA is in use: another suite runs, or one was killed."
trap finish EXIT
trap 'exit 130' INT TERM HUP
mkdir -p "$TMPDIR"

for number in $(seq "$DOCKER_COUNT"); do
  own=$DATA/$number
  mkdir -p "$own"
  setsid dockerd --data-root "$own/engine" --exec-root "$own/exec" -H "unix://$own/docker.sock" --pidfile "$own/pid" \
    --storage-driver vfs --iptables=false --bridge=none --host-gateway-ip 127.0.0.1 >"$own/log" 2>&1 &
  engines[number]=$!
done
for number in "${!engines[@]}"; do
  own=$DATA/$number
  for _ in {1..300}; do [ -S "$own/docker.sock" ] && break; kill -0 "${engines[number]}" 2>/dev/null || break; sleep 0.1; done
  [ -S "$own/docker.sock" ] || { tail -20 "$own/log" >&2; fail 'the engine did not start.'; }
done

# The same image that users run.
[ -n "${BUILT:-}" ] || npm run --silent build:binary || fail 'the executable could not be built.'
for number in "${!engines[@]}"; do
  DOCKER_HOST=unix://$DATA/$number/docker.sock node packaging/image.mjs || fail 'the image could not be made.'
done

rm -f "$TEST_REPORT"
result=0
setsid vitest run --project docker "$@" &
tests=$!
wait "$tests" || result=$?
[ "$result" = 0 ] || echo "test:docker: vitest ended with $result" >&2
[ -s "$TEST_REPORT" ] || fail 'no test was run: there is no report.'
node test/host/count.ts "$TEST_REPORT" docker "$@" || result=1
exit $result
