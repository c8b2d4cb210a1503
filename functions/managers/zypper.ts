/*
 * zypper, by the shape of manager.ts. The host helper contains this text: any change of it, even of a comment, needs a new
 * `HELPER_VERSION`.
 */

export const ZYPPER = `
zypper_refresh() { printf 'code\\t1\\n'; }
zypper_changes() { printf 'code\\t1\\n'; }
zypper_left() { printf 'code\\t1\\n'; }
zypper_verify() { printf 'code\\t1\\n'; }
zypper_cache() { echo /var/cache; }
zypper_security() { echo database; }
zypper_run() { return 1; }
zypper_upgrade() { return 1; }
`
