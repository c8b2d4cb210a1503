/**
 * A shell test: another process holds the lock of that file. /proc/locks identifies files by a number that is not
 * unique across file systems, so anybody could hold a lock with the same number. The test therefore requires that the
 * holder has this very file open or, where that cannot be read, is root.
 */
export const LOCKED = `
locked() {
  inode=$(stat -c %i "$1" 2>/dev/null) || return 1
  for holder in $(sed -n "s/.* \\([0-9][0-9]*\\) [^ ]*:$inode [^ ]* [^ ]*$/\\1/p" /proc/locks); do
    for open in "/proc/$holder/fd"/*; do
      [ "$open" -ef "$1" ] && return 0
    done
    [ "$(id -u)" = 0 ] || ! grep -q '^Uid:[^0-9]*0[^0-9]' "/proc/$holder/status" 2>/dev/null || return 0
  done
  return 1
}`

/**
 * A shell function: `pause <file>` waits until no other process holds the lock of that file, until `$waited`, which the
 * caller sets to 0, is 120 seconds.
 */
export const PAUSE = `${LOCKED}
pause() {
  while locked "$1" && [ "$waited" -lt 120 ]; do
    [ "$waited" -gt 0 ] || echo 'Waiting for another apt-get or dpkg to finish...'
    waited=$((waited + 1))
    sleep 1
  done
}`
