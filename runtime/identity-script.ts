/** Scripts that ask the host who an account is and what it may do; run as `sh -c SCRIPT name`. */

/** Prints the uid, then the names of the groups, of the account itself or of the user named by the one argument. */
export const IDENTIFY = 'id -u -- "$@" && id -Gn -- "$@"'

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

/** `WITHOUT_INPUT <command> <argument>…` runs a command that finds nothing on its stdin. */
export const WITHOUT_INPUT = 'exec "$@" </dev/null'
