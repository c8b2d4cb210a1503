/*
 * The programs that a run of a community script finds before the real ones: what it downloads, and what it asks. Each
 * begins with `here`, the folder of the run: `pinned` has lines `<number of a file> <address>`, `patterns` addresses of
 * code that is never loaded, `pid` the process of the script, and `refused` and `asked` say why it was stopped.
 */

/** Ends the script: after something that it did not get, it would go on with half of its functions. */
const STOP = `
stop() {
  printf '%s\\n' "$2" | tr -c ' -~\\n' '?' | cut -c 1-300 >>"$here/$1"
  read -r pid <"$here/pid"
  kill -s TERM "$pid"
  (
    # A question may have given it more of the output.
    exec >/dev/null 2>&1 </dev/null 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
    sleep 10
    tr '\\000' ' ' <"/proc/$pid/cmdline" | grep -q -F "$here" && kill -s KILL "$pid"
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
addresses=() file= format= wants= remote=
for word; do
  if [ -n "$wants" ]; then
    printf -v "$wants" %s "$word"
    [ "$wants" != url ] || addresses+=("$word")
    wants=
    continue
  fi
  case $name:$word in
    *:[Hh][Tt][Tt][Pp]://* | *:[Hh][Tt][Tt][Pp][Ss]://*) addresses+=("$word") ;;
    *:--url) wants=url ;;
    *:--url=*) addresses+=("\${word#*=}") ;;
    curl:--output | curl:-o | wget:--output-document | wget:-O) wants=file ;;
    curl:--output=* | wget:--output-document=*) file=\${word#*=} ;;
    curl:--write-out | curl:-w) wants=format ;;
    curl:--remote-name | curl:-O) remote=1 ;;
    curl:-o* | wget:-O*) file=\${word:2} ;;
    *:--header | *:--data* | *:--user* | *:--proxy* | *:--referer | *:--retry* | *:--*time* | *:--re[qs]* | *:--cookie* | *:--form* | *:--*cert | *:--key | *:--dump-header | *:--range | *:--limit-rate | *:--tries | *:--directory-prefix | *:--post-*)
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
if [ -z "$file" ] && [ "\${#addresses[@]}" = 1 ] && { [ "$name" = wget ] || [ -n "$remote" ]; }; then
  file=\${addresses[0]%%[?#]*}
  file=\${file##*/}
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
done
told=\${addresses[0]:-$name $*}
if [ -n "$file" ] && [ "$file" != - ]; then
  "$real" "$@"
  code=$?
  if [ -f "$file" ] && calls_shell "$file"; then
    rm -f "$file"
    stop refused "$told"
  fi
  exit "$code"
fi
first=$here/first.$$
"$real" "$@" | {
  dd bs=1 count=256 of="$first" 2>/dev/null
  if calls_shell "$first"; then : >"$first.code"; else cat "$first" -; fi
}
code=\${PIPESTATUS[0]}
rm -f "$first"
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
