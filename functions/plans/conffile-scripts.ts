import { type Command, script } from '../../ssh/ssh.ts'
import { CHANGED_CONFFILES, downloads } from '../updates/fetch-script.ts'

/*
 * The shell side of configuration files that somebody has changed (dpkg's conffiles): how each differs from the one that
 * a planned package brings, and the replacement of the chosen ones. The host helper contains these texts: any change of
 * them, even of a comment, needs a new `HELPER_VERSION`.
 */

/** The exit code of `COMPARE` when it cannot begin: EX_UNAVAILABLE. */
export const COMPARE_FAILED = 69
/** Most packages in one comparison, and most files in the choice of a plan. */
export const MOST_COMPARED = 100
/** Bytes of one diff, and largest package that is downloaded for it. */
export const DIFF_BYTES = 32 * 1024
const MOST_PACKAGE = 64 * 1024 * 1024
/** Bytes of one file; a longer one is not compared. */
const MOST_FILE = 1024 * 1024

/** Seconds after which no further package is downloaded. */
const BEGINS_WITHIN = 60

/**
 * `COMPARE <all|public> <name>[:<arch>]=<version>…`, on the host or inside a container, as root or as an ordinary user:
 * downloads these packages one by one, and compares the configuration files that were changed with those in the package.
 * Prints for each `file <state> <access> <note> <package> <file>`, then the diff from the file to the new one in base64,
 * in lines that are indented; at the end `end`. `<state>`: `conflict`, `same` (the package brings nothing new for it) or
 * `unavailable`; `<access>`: `public` when every user of the system may read the file, else `private`; `<note>`: `text`,
 * `cut`, `binary`, or `hidden` for the diff of a private file where only public ones were asked for. Takes no lock, and
 * leaves nothing behind.
 */
export const COMPARE = `
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin"
shown=$1
shift
command -v apt-get >/dev/null || exit ${COMPARE_FAILED}${downloads('ops-panel-compare', COMPARE_FAILED)}${CHANGED_CONFFILES}
mkdir -m 700 "$folder/own" || exit ${COMPARE_FAILED}
# read_now <file>: copies it to $folder/own/now, and sets $access. The system decides who may read it, by what it opens
# and not by its name: another account may exchange the file at any moment. Without the rights of root nobody can tell.
read_now() {
  access=private
  if [ "$(id -u)" = 0 ] && timeout -k 1 5 setpriv --reuid 65534 --regid 65534 --clear-groups \\
    head -c ${MOST_FILE} -- "$1" >"$folder/own/now" 2>/dev/null; then
    access=public
    return
  fi
  [ "$shown" = all ] && timeout -k 1 5 head -c ${MOST_FILE} -- "$1" >"$folder/own/now" 2>/dev/null
}
# unpacked <file>: the file of the downloaded package on stdout.
unpacked() {
  for member in ".$1" "\${1#/}"; do
    if grep -q -x -F -e "$member" "$folder/own/members"; then
      timeout -k 2 20 dpkg-deb --fsys-tarfile "$archive" 2>/dev/null | tar -xOf - "$member" 2>/dev/null
      return
    fi
  done
}
# told <state> <note> <file>
told() {
  printf 'file %s %s %s %s %s\\n' "$1" "$access" "$2" "$package" "$3"
}
# compared <sum> <file>, of the downloaded package
compared() {
  access=private
  if ! grep -q -x -F -e "$2" "$folder/own/conffiles"; then
    told same text "$2"
    return
  fi
  unpacked "$2" | head -c ${MOST_FILE} >"$folder/own/new"
  if [ ! -s "$folder/own/new" ] || [ "$(stat -c %s "$folder/own/new")" = ${MOST_FILE} ]; then
    told unavailable text "$2"
  elif [ "$(md5sum <"$folder/own/new" | cut -c 1-32)" = "$1" ]; then
    told same text "$2"
  elif ! read_now "$2"; then
    told conflict hidden "$2"
  elif [ "$(stat -c %s "$folder/own/now")" = ${MOST_FILE} ]; then
    told unavailable text "$2"
  elif cmp -s "$folder/own/now" "$folder/own/new"; then
    told same text "$2"
  else
    diff -u "$folder/own/now" "$folder/own/new" | tail -n +3 >"$folder/own/diff"
    if [ ! -s "$folder/own/diff" ]; then
      told conflict binary "$2"
      return
    fi
    note=text
    [ "$(stat -c %s "$folder/own/diff")" -le ${DIFF_BYTES} ] || note=cut
    told conflict "$note" "$2"
    head -c ${DIFF_BYTES} "$folder/own/diff" | base64 | sed 's/^/ /'
  fi
}
begun=$(date +%s)
for wanted; do
  # The host helper passes on what an account says.
  case $wanted in [!a-z0-9]* | *[!A-Za-z0-9.+:~=-]* | *=*=* | *=) continue ;; *=*) ;; *) continue ;; esac
  package=\${wanted%%=*} version=\${wanted#*=}
  printf '%s\\n' "$package" | changed_conffiles >"$folder/own/changed"
  [ -s "$folder/own/changed" ] || continue
  state=unavailable
  if [ $(($(date +%s) - begun)) -lt ${BEGINS_WITHIN} ]; then
    size=$(size_of "$package" "$version")
    if [ -n "$size" ] && [ "\${#size}" -le 8 ] && [ "$size" -le ${MOST_PACKAGE} ] && fetch 25 download "$wanted"; then state=ready; fi
  fi
  set -- ./*.deb
  archive=$1
  [ -f "$archive" ] && [ ! -L "$archive" ] || state=unavailable
  if [ "$state" = ready ]; then
    timeout -k 2 20 dpkg-deb --fsys-tarfile "$archive" 2>/dev/null | tar -tf - >"$folder/own/members" 2>/dev/null &&
      timeout -k 2 20 dpkg-deb --ctrl-tarfile "$archive" >"$folder/own/control" 2>/dev/null || state=unavailable
    tar -xOf "$folder/own/control" ./conffiles >"$folder/own/conffiles" 2>/dev/null
  fi
  access=private
  while IFS= read -r line; do
    rest=\${line#* }
    sum=\${rest%% *} file=\${rest#* }
    if [ "$state" = ready ]; then compared "$sum" "$file"; else told unavailable text "$file"; fi
  done <"$folder/own/changed"
  rm -f ./*
done
echo end
`

/**
 * `TAKE <files>`, which dpkg runs before each of its steps (`--pre-invoke`), as root: before it configures packages, puts
 * the new version of each of these files in its place, and leaves the former one beside it with the ending `.dpkg-old`.
 * dpkg then finds the file as the package brought it. `<files>`: one a line, in base64. Acts on files alone that dpkg
 * has recorded as conffiles and has just unpacked, in folders that nobody but root can write. It never stops dpkg: a
 * file that cannot be replaced stays, as without this choice.
 */
const TAKE = `[ "$DPKG_HOOK_ACTION" = configure ] || exit 0
export LC_ALL=C
umask 077
known=$(dpkg-query -W -f '\${Conffiles}\\n' 2>/dev/null |
  awk '/^ \\// { sub(/^ /, ""); sub(/ [^ ]+( obsolete| remove-on-upgrade)*$/, ""); print }')
printf %s "$1" | base64 -d | while IFS= read -r file; do
  [ -f "$file.dpkg-new" ] && [ ! -L "$file.dpkg-new" ] || continue
  right=yes above=$file
  [ -f "$file" ] && [ ! -L "$file" ] && printf '%s\\n' "$known" | grep -q -x -F -e "$file" || right=
  while [ "$above" != / ] && [ -n "$right" ]; do
    above=$(dirname -- "$above")
    case $(stat -c '%u %A' -- "$above") in '0 d'????-??-?) ;; *) right= ;; esac
  done
  if [ -n "$right" ] && rm -f -- "$file.dpkg-tmp" && cat -- "$file.dpkg-new" >"$file.dpkg-tmp" &&
    chown --reference="$file" -- "$file.dpkg-tmp" && chmod --reference="$file" -- "$file.dpkg-tmp" &&
    ln -f -T -- "$file" "$file.dpkg-old" && mv -f -T -- "$file.dpkg-tmp" "$file"; then
    echo "ops-panel-plan: $file is the new version; the former one is $file.dpkg-old."
  else
    [ -z "$right" ] || rm -f -- "$file.dpkg-tmp"
    echo "ops-panel-plan: $file stays as it is; the new version could not be put in its place."
  fi
done
exit 0`

/** The text of `TAKE` inside single quotes of the command line that dpkg gives to a shell. */
export const QUOTED_TAKE = TAKE.replaceAll("'", `'\\''`)

/** Returns the command that compares the changed configuration files of packages, each `<name>[:<arch>]=<version>`. */
export function compareCommand(packages: readonly string[]): Command {
  return script(COMPARE, 'ops-panel-compare', 'all', ...packages)
}

/** Returns the files of a choice as `PLANNED` takes them: base64, or `-` for none. */
export function filesWord(files: readonly string[]): string {
  return files.length === 0 ? '-' : Buffer.from(files.map((file) => `${file}\n`).join('')).toString('base64')
}
