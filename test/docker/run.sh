#!/bin/bash
# The suite against a real Docker Engine: installs it, starts one of its own, makes the service's image by Dockerfile, runs
# every test of this folder, and takes all of it down again. Root on Debian. Fails when it could not start, ran no test, or
# left one out.
set -euo pipefail
HERE=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
cd "$HERE/../.."
DATA=${DOCKER_DATA:-/var/tmp/ops-panel-docker}
export TEST_DOCKER_SOCKET=$DATA/docker.sock TEST_DOCKER_DATA=$DATA
export TEST_REPORT=${TEST_REPORT:-$DATA/report.json}
export TMPDIR=$DATA/tmp
export PATH=$PWD/node_modules/.bin:$PATH

fail() { echo "test:docker: $*" >&2; exit 1; }

[ "$(id -u)" = 0 ] || fail 'must run as root: it starts an engine.'
grep -qs '^ID=debian' /etc/os-release || fail 'needs Debian: the engine is its package docker.io.'
[ -x node_modules/.bin/vitest ] || fail 'the packages are missing: run "npm ci" first.'
node --version >/dev/null 2>&1 || { apt-get -q update && apt-get -q -y --no-install-recommends install libatomic1; } >/dev/null
node --version >/dev/null || fail 'the Node of node_modules does not start.'
packages=()
[ -x /usr/sbin/dockerd ] || packages+=(docker.io)
command -v docker-compose >/dev/null || packages+=(docker-compose)
if [ ${#packages[@]} -gt 0 ]; then
  # Its service would start an engine of its own.
  printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d.ops-panel && chmod 755 /usr/sbin/policy-rc.d.ops-panel
  [ -e /usr/sbin/policy-rc.d ] || { ln -s policy-rc.d.ops-panel /usr/sbin/policy-rc.d && policy=1; }
  { apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install "${packages[@]}"; } >/dev/null || failed=1
  [ -z "${policy-}" ] || rm -f /usr/sbin/policy-rc.d
  rm -f /usr/sbin/policy-rc.d.ops-panel
  [ -z "${failed-}" ] || fail "${packages[*]} could not be installed."
fi
# From Debian 13 on it is a package of its own.
command -v docker >/dev/null || apt-get -q -y --no-install-recommends install docker-cli >/dev/null || fail 'there is no docker.'

tests= engine=
finish() {
  [ -z "$tests" ] || kill -KILL -- "-$tests" 2>/dev/null || true # if the suite was interrupted
  if [ -n "$engine" ]; then
    node "$HERE/clear.ts" || true
    kill -TERM "$engine" 2>/dev/null || true
    for _ in {1..100}; do kill -0 "$engine" 2>/dev/null || break; sleep 0.1; done
    kill -KILL "$engine" 2>/dev/null || true
  fi
  # What the engine has mounted goes with it; a mount that is left would be emptied by rm.
  awk -v d="$DATA/" 'index($5, d) == 1 { print $5 }' /proc/self/mountinfo | sort -r | xargs -r umount -l || true
  rm -rf "$DATA"
}
trap finish EXIT
trap 'exit 130' INT TERM HUP
[ ! -S "$TEST_DOCKER_SOCKET" ] || fail "$DATA is in use: another suite runs, or one was killed."
mkdir -p "$TMPDIR"

setsid dockerd --data-root "$DATA/engine" --exec-root "$DATA/exec" -H "unix://$TEST_DOCKER_SOCKET" --pidfile "$DATA/pid" \
  --storage-driver vfs --iptables=false --bridge=none --host-gateway-ip 127.0.0.1 >"$DATA/log" 2>&1 &
engine=$!
for _ in {1..300}; do [ -S "$TEST_DOCKER_SOCKET" ] && break; kill -0 "$engine" 2>/dev/null || break; sleep 0.1; done
[ -S "$TEST_DOCKER_SOCKET" ] || { tail -20 "$DATA/log" >&2; fail 'the engine did not start.'; }

# The very image that people run.
DOCKER_HOST=unix://$TEST_DOCKER_SOCKET npm run --silent build:image || fail 'the image could not be made.'

rm -f "$TEST_REPORT"
result=0
setsid vitest run --project docker "$@" &
tests=$!
wait "$tests" || result=$?
[ -s "$TEST_REPORT" ] || fail 'no test was run: there is no report.'
node test/host/count.ts "$TEST_REPORT" docker "$@" || result=1
exit $result
