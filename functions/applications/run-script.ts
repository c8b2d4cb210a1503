import { COMMUNITY_VERSION } from './community-look.ts'
import { RAN_NOTHING } from '../protection/protected-script.ts'
import { FETCHING } from './fetch-script.ts'

/*
 * The run of a community script, and the programs that it finds before the real ones: what it downloads, and what it asks.
 * Each begins with `here`, the folder of the run: `pinned` has lines `<number of a file> <address>`, `patterns` addresses of
 * code that is never loaded, `pid` the process of the script, and `refused` and `asked` say why it was stopped.
 */

/**
 * `end_others SIGNAL FOLDER` sends a signal to the other shells of this session that find their programs in the folder of a
 * run. A service that the script has started has a session of its own; an apt that one of them has started is not a shell,
 * and ends by itself.
 */
const END_OTHERS = `
end_others() {
  signal=$1 place=$2
  IFS= read -r stat </proc/$$/stat
  set -- \${stat##*) }
  session=$4
  for each in /proc/[0-9]*; do
    [ "$each" != "/proc/$$" ] && IFS= read -r stat <"$each/stat" || continue
    set -- \${stat##*) }
    [ "$4" = "$session" ] && tr '\\000' ' ' <"$each/environ" | grep -q -F "$place/bin" || continue
    program=$(readlink "$each/exe")
    case \${program##*/} in bash* | dash* | ash* | sh | ksh* | zsh* | busybox*) kill -s "$signal" "\${each#/proc/}" ;; esac
  done
} 2>/dev/null`

/**
 * Ends the script with every shell that it has started: after something that it did not get, each would go on with half of
 * its functions, and find the real curl after the run.
 */
const STOP = `${END_OTHERS}
stop() {
  # timeout passes a signal on to its whole group.
  trap '' TERM
  printf '%s\\n' "$2" | tr -c ' -~\\n' '?' | cut -c 1-300 >>"$here/$1"
  read -r pid <"$here/pid"
  kill -s TERM "$pid"
  end_others TERM "$here"
  (
    # A question may have given it more of the output.
    exec >/dev/null 2>&1 </dev/null 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
    for second in 1 2 3 4 5 6 7 8 9 10; do
      sleep 1
      kill -0 "$pid" 2>/dev/null || exit 0
    done
    # Another process may have its number by then.
    tr '\\000' ' ' <"/proc/$pid/environ" | grep -q -F "$here" && kill -s KILL "$pid"
  ) &
  exit 22
}`

/**
 * Stands for curl and wget: gives the texts that were agreed to for their addresses, from files. It refuses other code as
 * far as it can recognise it: by a pattern, by the ending of its address, or because the text begins by calling a shell.
 * Everything else is data, and goes through. `real_curl` and `real_wget` are the real programs.
 */
export const DOWNLOADER = `${STOP}
name=\${0##*/}
if [ "$name" = curl ]; then real=$real_curl; else real=$real_wget; fi
if [ "$1" = --ops-panel ]; then
  echo ops-panel
  exit
fi
if [ -z "$real" ]; then
  echo "$name: command not found" >&2
  exit 127
fi
is_pinned() {
  while read -r number pinned; do
    [ "$pinned" != "$1" ] || return 0
  done <"$here/pinned"
  return 1
}
is_code() {
  local pattern
  while IFS= read -r pattern; do
    [[ $1 != $pattern ]] || return 0
  done <"$here/patterns"
  case \${1%%[?#]*} in *.sh | *.func | *.bash) return 0 ;; esac
  return 1
}
calls_shell() {
  local line
  IFS= read -r line <"$1"
  [[ $line =~ ^#!.*[/\\ ](ba|da|a|z|k)?sh([[:space:]]|$) ]]
} 2>/dev/null
addresses=() files=() file= folder= format= wants= remote=
for word; do
  if [ -n "$wants" ]; then
    printf -v "$wants" %s "$word"
    case $wants in url) addresses+=("$word") ;; file) files+=("$word") ;; esac
    wants=
    continue
  fi
  case $name:$word in
    *:[Hh][Tt][Tt][Pp]://* | *:[Hh][Tt][Tt][Pp][Ss]://*) addresses+=("$word") ;;
    *:--url) wants=url ;;
    *:--url=*) addresses+=("\${word#*=}") ;;
    curl:--output | curl:-o | wget:--output-document | wget:-O) wants=file ;;
    curl:--output=* | wget:--output-document=*) file=\${word#*=} files+=("\${word#*=}") ;;
    curl:--write-out | curl:-w) wants=format ;;
    curl:--remote-name | curl:-O) remote=1 ;;
    curl:-o* | wget:-O*) file=\${word:2} files+=("\${word:2}") ;;
    curl:--output-dir | wget:--directory-prefix | wget:-P | wget:-*[a-z]P) wants=folder ;;
    curl:--output-dir=* | wget:--directory-prefix=*) folder=\${word#*=} ;;
    wget:-P*) folder=\${word:2} ;;
    *:--header | *:--data* | *:--user* | *:--proxy* | *:--referer | *:--retry* | *:--*time* | *:--re[qs]* | *:--cookie* | *:--form* | *:--*cert | *:--key | *:--dump-header | *:--range | *:--limit-rate | *:--tries | *:--post-*)
      case $word in *=*) ;; *) wants=ignored ;; esac
      ;;
    *:--*) ;;
    curl:-*o) wants=file ;;
    curl:-*w) wants=format ;;
    curl:-*O) remote=1 ;;
    wget:-*O) wants=file ;;
    wget:-*O-) file=- ;;
    *:-[ACDEFHKTUXYbcdehmrtuxyz]) wants=ignored ;;
    *:-*) ;;
    # curl and wget add the http:// themselves.
    *:*.*/*) ! is_code "$word" || stop refused "$word" ;;
  esac
done
[ "$file" != /dev/stdout ] || file=-
if [ -z "$file" ] && { [ "$name" = wget ] || [ -n "$remote" ]; }; then
  # wget keeps a query in the name.
  files=("\${addresses[@]%%[?#]*}" "\${addresses[@]%%#*}")
  files=("\${files[@]##*/}")
  file=\${files[0]-}
fi
if [ -n "$folder" ] && [ -n "$file" ] && [ "$file" != - ]; then
  files=("\${files[@]/#/$folder/}")
  file=$folder/$file
fi
for address in "\${addresses[@]}"; do
  if is_pinned "$address"; then
    [ "\${#addresses[@]}" = 1 ] || stop refused "$address (among others)"
    case $file in
      '' | -) cat "$here/$number" ;;
      *) cat "$here/$number" >"$file" || exit 23 ;;
    esac
    format=\${format//'%{http_code}'/200}
    case $format in '' | *'%{'*) ;; *) printf %b "$format" ;; esac
    exit 0
  fi
  ! is_code "$address" || stop refused "$address"
  for each in "\${files[@]}"; do ! is_code "$each" || stop refused "$address"; done
done
told=\${addresses[0]:-$name $*}
first=$here/first.$$
"$real" "$@" | {
  dd bs=1 count=256 of="$first" 2>/dev/null
  if calls_shell "$first"; then : >"$first.code"; else cat "$first" -; fi
}
code=\${PIPESTATUS[0]}
rm -f "$first"
for each in "\${files[@]}"; do
  [ ! -f "$each" ] || ! calls_shell "$each" || { rm -f "$each"; : >"$first.code"; }
done
if [ -e "$first.code" ]; then
  rm -f "$first.code"
  stop refused "$told"
fi
exit "$code"
`

/** Stands for whiptail and dialog. Nobody can answer here, so a question ends the run; what only tells something does not. */
export const ASKER = `${STOP}
for word; do
  case $word in
    --infobox | --msgbox) exit 0 ;;
    --gauge | --mixedgauge)
      cat >/dev/null
      exit 0
      ;;
  esac
done
stop asked "$*"
`

/**
 * The exit codes of `RUN_SCRIPT` that are its own, and `NOT_AGREED` of a job that was not begun, because nobody agrees to it
 * any more. A script that ends with one of them is told as 1.
 */
export const [SOURCE_CHANGED, NOT_BEGUN, NOT_AGREED] = RAN_NOTHING
export const ASKS = 77
export const REFUSES_CODE = 78

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
 * one that cannot be had, ends it before anything runs. It runs as `update` runs it, as the text of `bash -c`: a script in a
 * file looks for its parts beside that file first, up to folders in which any account can put some. Nothing but these texts is
 * loaded as code, as far as `DOWNLOADER` recognises it. `<pattern>`s are addresses of code that it refuses. Questions are
 * not answered: `PHS_SILENT` makes the community scripts take their defaults, and another question ends the run. Prints the
 * version before and after, where the script notes one.
 */
export const RUN_SCRIPT = `${FETCHING}${COMMUNITY_VERSION}${END_OTHERS}
application=$1 count=$2
shift 2
begin_not() {
  printf 'ops-panel: %s Nothing was run.\\n' "$1"
  exit ${NOT_BEGUN}
}
bash=$(command -v bash) || begin_not 'bash is missing here.'
real_curl=$(command -v curl) real_wget=$(command -v wget)
# The folder of a run that was killed is still there.
for left in /var/tmp/ops-panel-application-*; do
  [ -d "$left" ] && [ ! -L "$left" ] && [ -O "$left" ] && [ -f "$left/owner" ] || continue
  owner=$(head -c 20 "$left/owner" | tr -c -d 0-9)
  grep -q -s -F ops-panel-application "/proc/\${owner:-none}/cmdline" || rm -rf "$left"
done
folder=$(mktemp -d /var/tmp/ops-panel-application-XXXXXXXX) || begin_not 'A folder cannot be made.'
trap 'rm -rf "$folder"' EXIT
trap 'exit 143' HUP INT TERM
echo $$ >"$folder/owner"
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
# The longest argument of a program.
[ "$(wc -c <"$folder/0")" -lt 131072 ] || begin_not 'The script is longer than its command could run it.'
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
  $limited sh -c 'echo $$ >"$1/pid"; exec "$2" -c "$(cat "$1/0")"' ops-panel-application "$folder" "$bash" </dev/null 2>&1
code=$?
[ ! -s "$folder/refused" ] && [ ! -s "$folder/asked" ] || end_others KILL "$folder"
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
case $code in ${SOURCE_CHANGED} | ${ASKS} | ${REFUSES_CODE} | ${NOT_BEGUN} | ${NOT_AGREED}) code=1 ;; esac
printf '\\n${VERSION_LINE}%s -> %s\\n' "\${before:--}" "\${after:--}"
exit "$code"
`
