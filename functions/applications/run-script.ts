import { COMMUNITY_VERSION } from './community-look.ts'
import { FETCHING } from './fetch-script.ts'
import { ASKER, DOWNLOADER } from './stand-ins.ts'

/** The exit codes of `RUN_SCRIPT` that are its own; a script that ends with one of them is told as 1. */
export const SOURCE_CHANGED = 76
export const ASKS = 77
export const REFUSES_CODE = 78
export const NOT_BEGUN = 79

/** Hours that an update may take. A script that reads the answer of a question again and again would never end. */
const HOURS = 3

/** Begins a line of the output with the versions. Nothing follows it. */
export const VERSION_LINE = 'ops-panel: version '

/** Makes the shell text that writes a program of `text` for bash into `$folder/bin`, under each of these names. */
function program(text: string, ...names: string[]): string {
  const [first = '', ...others] = names
  const links = others.map((name) => `ln "$folder/bin/${first}" "$folder/bin/${name}"\n`).join('')
  return `{
  printf '#!%s\\nhere=%s real_curl=%s real_wget=%s\\n' "$bash" "$folder" "$real_curl" "$real_wget"
  cat <<'OPS_PANEL_TEXT'
${text.trim()}
OPS_PANEL_TEXT
} >"$folder/bin/${first}"
chmod 700 "$folder/bin/${first}"
${links}`
}

/**
 * `RUN_SCRIPT <name> <count> <pattern>… { <SHA-256> <address> }…`, in a container, as root: fetches these files once more,
 * and runs the first one in bash, where the addresses of the others give what was fetched. A file with another digest, or
 * one that cannot be had, ends it before anything runs. Nothing but these texts is loaded as code, as far as
 * `DOWNLOADER` recognises it. `<pattern>`s are addresses of code that it refuses. Questions are not answered: `PHS_SILENT`
 * makes the community scripts take their defaults, and another question ends the run. Prints the version before and
 * after, where the script notes one.
 */
export const RUN_SCRIPT = `${FETCHING}${COMMUNITY_VERSION}
application=$1 count=$2
shift 2
begin_not() {
  printf 'ops-panel: %s Nothing was run.\\n' "$1"
  exit ${NOT_BEGUN}
}
bash=$(command -v bash) || begin_not 'bash is missing here.'
real_curl=$(command -v curl) real_wget=$(command -v wget)
folder=$(mktemp -d /var/tmp/ops-panel-application-XXXXXXXX) || begin_not 'A folder cannot be made.'
trap 'rm -rf "$folder"' EXIT
trap 'exit 143' HUP INT TERM
: >"$folder/patterns"
while [ "$count" -gt 0 ]; do
  printf '%s\\n' "$1" >>"$folder/patterns"
  count=$((count - 1))
  shift
done
number=0
: >"$folder/pinned"
while [ $# -gt 1 ]; do
  if ! fetch_code "$2" "$folder/$number"; then
    tail -n 1 "$folder/$number.error" 2>/dev/null
    begin_not "$2 cannot be fetched."
  fi
  if [ "$(digest_of "$folder/$number")" != "$1" ]; then
    printf 'ops-panel: %s gives something else than what was agreed to. Nothing was run.\\n' "$2"
    exit ${SOURCE_CHANGED}
  fi
  printf '%s %s\\n' "$number" "$2" >>"$folder/pinned"
  number=$((number + 1))
  shift 2
done
mkdir "$folder/bin" || begin_not 'A folder cannot be made.'
${program(DOWNLOADER, 'curl', 'wget')}${program(ASKER, 'whiptail', 'dialog')}chmod 700 "$folder" "$folder/bin"
# On a file system without programs, the real curl would be found.
[ "$(PATH=$folder/bin:$PATH; curl --ops-panel 2>/dev/null)" = ops-panel ] || begin_not 'No program runs in /var/tmp.'
limited=
timeout -k 1 5 true 2>/dev/null && limited='timeout -k 30 ${HOURS * 3600}'
before=$(application_version "$application")
set --
for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
  eval "value=\\\${$name-}"
  [ -z "$value" ] || set -- "$@" "$name=$value"
done
cd /root 2>/dev/null || cd /
umask 022
env -i "$@" HOME=/root USER=root LOGNAME=root SHELL="$bash" LANG=C.UTF-8 TERM=xterm PHS_SILENT=1 \\
  DEBIAN_FRONTEND=noninteractive APT_LISTCHANGES_FRONTEND=none NEEDRESTART_MODE=l PATH="$folder/bin:$PATH" \\
  $limited sh -c 'echo $$ >"$1/pid"; exec "$2" "$1/0"' ops-panel-application "$folder" "$bash" </dev/null 2>&1
code=$?
after=$(application_version "$application")
if [ -s "$folder/refused" ]; then
  echo 'ops-panel: this update loads code that nobody has agreed to. It was stopped, and may have done a part of its work:'
  sed 's/^/  /' "$folder/refused"
  exit ${REFUSES_CODE}
fi
if [ -s "$folder/asked" ]; then
  echo 'ops-panel: this update asks a question that nobody can answer here. It was stopped; run "update" in a terminal:'
  sed 's/^/  /' "$folder/asked"
  exit ${ASKS}
fi
[ "$code" != 124 ] || echo 'ops-panel: this update took more than ${HOURS} hours and was ended.'
case $code in ${SOURCE_CHANGED} | ${ASKS} | ${REFUSES_CODE} | ${NOT_BEGUN}) code=1 ;; esac
printf '\\n${VERSION_LINE}%s -> %s\\n' "\${before:--}" "\${after:--}"
exit "$code"
`
