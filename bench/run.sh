#!/bin/bash
# Measures the service against its building blocks, on a real host that it starts and removes. Arguments choose
# the rows: login http job flood line broadcast terminal start paint checks plans plan-host plan-sheet
# protection-look unprotected-run services-look night idle size (all of them without arguments); --markdown prints what
# docs/performance.md contains. Needs root on Debian and a quarter of an hour.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH=$PWD/node_modules/.bin:$PATH
export BENCH_RIG=${BENCH_RIG:-test/host/rig.sh} RIG_PORT=${RIG_PORT:-2322}

packages=()
command -v ssh >/dev/null || packages+=(openssh-client)
command -v sshpass >/dev/null || packages+=(sshpass)
command -v wrk >/dev/null || packages+=(wrk)
if [ ${#packages[@]} -gt 0 ]; then
  apt-get -qq update
  apt-get -qq install -y --no-install-recommends "${packages[@]}" >/dev/null
fi

bash test/packages.sh panel
npm run --silent build
npm run --silent build:binary
trap 'bash "$BENCH_RIG" down' EXIT
bash "$BENCH_RIG" up
node bench/main.ts "$@"
