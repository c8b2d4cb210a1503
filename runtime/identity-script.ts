/** Scripts that ask the host who an account is and what it may do; run as `sh -c SCRIPT name argument…`. */

/**
 * `IDENTIFY mark`, on the account's own connection, prints the mark, the name, the uid, the names of the groups, and the
 * mark again, each ended by a NUL. What stands before the first mark was said by the account's start-up files.
 */
export const IDENTIFY = `
printf '%s\\0' "$1"
id -unz && id -uz || exit 1
id -Gnz 2>/dev/null
printf '%s\\0' "$1"
`

/**
 * `INSPECT mark name`, as the service account, prints between two marks, each ended by a NUL, what the host knows of the
 * account of that name: its name as the host writes it, the uid, the shell, the password (\`usable\`, \`unusable\`, or \`unseen\`
 * without root's rights), the rest of the shadow entry (\`lastchange:min:max:warn:inactive:expire:\`), the host's time in
 * seconds, whether sudo lets the account become root (\`yes\`, \`no\`, \`unasked\`), then the names of the groups. It prints \`gone\` alone when there
 * is no such account, and fails when the host cannot say. The hash of the password never leaves the host. sudo is asked for members of wheel alone, and by root alone.
 */
export const INSPECT = `
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin"
mark=$1 name=$2
say() { printf '%s\\0' "$@"; }
me=$(id -u) || exit 1
uid=$(id -u -- "$name" 2>/dev/null)
case $? in
  0) ;;
  1) say "$mark" gone "$mark"; exit 0 ;;
  *) exit 1 ;;
esac
entry=$(getent passwd -- "$name" 2>/dev/null) || entry=$(id -un -- "$name"):::::: || exit 1
password=unseen ages= sudo=unasked
if [ "$me" = 0 ]; then
  shadow=$(getent shadow -- "$name" 2>/dev/null) || shadow=
  rest=\${shadow#*:}
  case $rest in
    '' | '!'* | '*'*) password=unusable ;;
    *) password=usable ;;
  esac
  ages=\${rest#*:}
  case " $(id -Gn -- "$name" 2>/dev/null) " in *' wheel '*)
    case $name in '#'*) ;; *)
      sudo=no
      if sudo -n -l -U "$name" /bin/sh >/dev/null 2>&1 </dev/null; then sudo=yes; fi
    esac
  esac
fi
say "$mark" "\${entry%%:*}" "$uid" "\${entry##*:}" "$password" "$ages" "$(date +%s)" "$sudo"
id -Gnz -- "$name" 2>/dev/null
say "$mark"
`

/** A test of the shell: the program that this word names, and its folder, are root's, and nobody else can change them. */
export function isRoots(word: string): string {
  const whole = `find ${word} "$(dirname ${word})" -maxdepth 0 -uid 0 ! -perm /022 ! -type l 2>/dev/null`
  return `[ -f ${word} ] && [ "$(${whole} | wc -l)" = 2 ]`
}

/**
 * `ELEVATION <helper>` prints how the account gains an administrator's rights: `root` (it has them), `sudo` (for anything,
 * no password asked), `password` (for anything, with its password, read here from stdin), `helper` (for that program, which
 * root alone can change) or `rule` (at best for single commands).
 * `-k` makes sudo ask even if it was answered a moment ago, so that the probe is true for the next connection too.
 */
export const ELEVATION = `
if [ "$(id -u)" = 0 ]; then echo root
elif sudo -n true 2>/dev/null; then echo sudo
elif sudo -k -S -p '' -l /bin/sh >/dev/null 2>&1; then echo password
elif ${isRoots('"$1"')} && sudo -n -- "$1" version </dev/null >/dev/null 2>&1; then echo helper
else echo rule
fi
`

/**
 * `WITHOUT_INPUT <command> <argument>…` runs a command that finds nothing on its stdin: a pipe, since a container that is
 * given the host's /dev/null can change its mode.
 */
export const WITHOUT_INPUT = 'exec "$@" <<END\nEND\n'
