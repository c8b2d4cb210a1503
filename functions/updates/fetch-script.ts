/*
 * Shell text about packages that are not installed yet, shared by scripts that download one. The host helper contains
 * it: any change, even of a comment, needs a new `HELPER_VERSION`.
 */

/** In units of 512 bytes. A download without end must not fill the disk; apt may rewrite its own cache, of some 50 MiB. */
const MOST_FILE = (256 * 1024 * 1024) / 512

/**
 * Makes the shell text for a script that downloads: a folder of its own, `$folder`, which is removed at the end, and a
 * working directory in it; `fetch <seconds> <word of apt-get>…` downloads there, with apt's messages in `$folder/log`;
 * `size_of <package> <version>` prints the size of that offered version in bytes, or nothing. The script exits with
 * `failed` when it cannot begin or is ended.
 */
export function downloads(name: string, failed: number): string {
  return `
unset TMPDIR TEMPDIR TMP TEMP
export LC_ALL=C
umask 022
folder=$(mktemp -d -t ${name}.XXXXXX) || exit ${failed}
trap 'rm -rf "$folder"' EXIT
trap 'exit ${failed}' HUP INT TERM
chmod 711 "$folder" && mkdir "$folder/downloads" && cd "$folder/downloads" || exit ${failed}
# apt downloads as an account of its own, which owns this folder as long as that takes, and no other file.
[ "$(id -u)" != 0 ] || chown _apt . 2>/dev/null
ulimit -f ${MOST_FILE} 2>/dev/null
fetch() {
  seconds=$1
  shift
  timeout -k 2 "$seconds" apt-get -q -o APT::Color=0 -o Acquire::Retries=0 -o Acquire::http::Timeout=10 \\
    -o Acquire::https::Timeout=10 "$@" </dev/null >"$folder/log" 2>&1
  code=$?
  [ "$(id -u)" != 0 ] || chown "$([ "$code" = 0 ] && echo 0 || echo _apt)" . 2>/dev/null
  return "$code"
}
# apt takes a name that it does not know for a pattern, so the record must be of this very package and version.
size_of() {
  timeout -k 2 10 apt-cache show "$1=$2" 2>/dev/null </dev/null | awk -v name="\${1%%:*}" -v version="$2" '
    $1 == "Package:" { isOne = $2 == name }
    $1 == "Version:" { isOne = isOne && $2 == version }
    $1 == "Size:" && isOne { print $2; exit }' | grep -x '[0-9]*'
}`
}

/**
 * The shell function `changed_conffiles`: reads names of installed packages, one a line, and prints `<package> <md5>
 * <file>` for each of their configuration files that is not as the installed version brought it; the sum is that of
 * the original, as dpkg recorded it. Leaves out links, files that are gone and those that cannot be read.
 */
export const CHANGED_CONFFILES = `
changed_conffiles() {
  recorded=$(xargs -r dpkg-query -W -f '\${Package}\\n\${Conffiles}\\n' 2>/dev/null |
    awk '/^[^ ]/ { name = $1 }
      /^ \\// && length($NF) == 32 && $NF !~ /[^0-9a-f]/ && length($0) < 400 && ++n <= 2000 {
        print name, $NF, substr($0, 2, length($0) - 34) }' |
    while IFS=' ' read -r package sum file; do
      [ -f "$file" ] && [ -r "$file" ] && [ ! -L "$file" ] && printf '%s %s %s\\n' "$package" "$sum" "$file"
    done)
  {
    printf '%s\\n' "$recorded" | cut -d ' ' -f 3- | tr '\\n' '\\000' | xargs -0 -r md5sum -z -- 2>/dev/null | tr '\\000' '\\n'
    echo
    printf '%s\\n' "$recorded"
  } | awk '!rest { if ($0 == "") rest = 1; else now[substr($0, 35)] = $1; next }
    { file = substr($0, length($1) + 35) }
    (file in now) && now[file] != $2'
}`
