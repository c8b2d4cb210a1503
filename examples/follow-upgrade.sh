#!/usr/bin/env bash
# Upgrades one target, prints each event as a line of JSON, and exits with the code of the upgrade. Needs curl and websocat 1.x
# (https://github.com/vi/websocat). Pipe the events to `jq -rj '.data.chunk // empty'` to get the output alone.
#   PANEL_PASSWORD=demo bash follow-upgrade.sh http://127.0.0.1:8080 demo lxc:101
set -euo pipefail
url=${1:-http://127.0.0.1:8080} user=${2:-demo} target=${3:-host}

text() { printf '"%s"' "$(sed 's/[\\"]/\\&/g' <<<"$1")"; }
field() { sed -E "s/.*\"$1\":\"([^\"]*)\".*/\1/"; }
post() { curl -fsS "$url$1" -H 'Content-Type: application/json' "${@:2}" --data-binary @-; }

token=$(post /api/auth/login <<<"{\"username\":$(text "$user"),\"password\":$(text "$PANEL_PASSWORD")}" | field access_token)
authorized() { "$@" -H @<(echo "Authorization: Bearer $token"); }
job=$(authorized post /api/updates/run <<<"{\"target\":$(text "$target")}" | field job_id)

# Every account that can list the processes of this machine sees the token, which is valid for 15 minutes. -B: no event is longer.
websocat -n -t -B 1048576 -H="Authorization: Bearer $token" "${url/#http/ws}/ws/updates/$job" </dev/null

record=$(authorized curl -fsS "$url/api/updates/jobs/$job?output=none")
[[ $record =~ \"exit_code\":([0-9]+) ]] && exit "${BASH_REMATCH[1]}"
exit 1
