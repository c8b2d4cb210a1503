/*
 * pacman, by the shape of manager.ts. The host helper contains this text: any change of it, even of a comment, needs a new
 * `HELPER_VERSION`.
 */

export const PACMAN = `
pacman_refresh() { printf 'code\\t1\\n'; }
pacman_changes() { printf 'code\\t1\\n'; }
pacman_left() { printf 'code\\t1\\n'; }
pacman_verify() { printf 'code\\t1\\n'; }
pacman_cache() { echo /var/cache; }
pacman_security() { echo database; }
pacman_run() { return 1; }
pacman_upgrade() { return 1; }
`
