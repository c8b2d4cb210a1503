/** Scripts that ask the host about an account and its rights; run as `sh -c SCRIPT name argument…`. */

/**
 * `IDENTIFY mark` runs on the account’s own connection. It writes the mark, the name, the uid, the names of the
 * groups, and the mark again, each ended by a NUL. Output before the first mark comes from start-up files.
 */
export const IDENTIFY = `
printf '%s\\0' "$1"
id -unz && id -uz || exit 1
id -Gnz 2>/dev/null
printf '%s\\0' "$1"
`

/**
 * `INSPECT mark name` runs as the service account. It writes what the host knows of the account between two marks,
 * each field ended by a NUL: the name as the host writes it, the uid, the shell, the password (`usable`, `unusable`,
 * or `unseen` without root’s rights), the rest of the shadow entry (`lastchange:min:max:warn:inactive:expire:`), the
 * host’s time in seconds, whether sudo lets the account become root (`yes`, `no`, `unasked`), and the names of the
 * groups. It writes only `gone` between the marks for an unknown account, and fails when the host cannot say. The
 * password hash never leaves the host. sudo is asked only by root, and only for members of wheel.
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

/** A shell test: the program that this word names and its folder belong to root, and only root can change them. */
export function isRoots(word: string): string {
  const whole = `find ${word} "$(dirname ${word})" -maxdepth 0 -uid 0 ! -perm /022 ! -type l 2>/dev/null`
  return `[ -f ${word} ] && [ "$(${whole} | wc -l)" = 2 ]`
}

/**
 * `ELEVATION <helper> [no-password]` writes how the account gains an administrator’s rights: `root` (it is root), `sudo`
 * (for everything, without a password), `password` (for everything, with its password, read here from stdin), `helper`
 * (for this program, which only root can change) or `rule` (at best for single commands). `-k` makes sudo ignore
 * cached credentials, so that the answer also holds for the next connection. With `no-password` sudo is given none: an
 * empty one would count as a wrong one.
 */
export const ELEVATION = `
if [ "$(id -u)" = 0 ]; then echo root
elif sudo -n true 2>/dev/null; then echo sudo
elif [ "\${2-}" != no-password ] && sudo -k -S -p '' -l /bin/sh >/dev/null 2>&1; then echo password
elif ${isRoots('"$1"')} && sudo -n -- "$1" version </dev/null >/dev/null 2>&1; then echo helper
else echo rule
fi
`

/**
 * `WITHOUT_INPUT <command> <argument>…` runs a command with an empty pipe as stdin. A container that receives the
 * host’s /dev/null could change its mode.
 */
export const WITHOUT_INPUT = 'exec "$@" <<END\nEND\n'
