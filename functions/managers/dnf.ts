/*
 * dnf, by the shape of manager.ts. The host helper contains this text: any change of it, even of a comment, needs a new
 * `HELPER_VERSION`.
 */

export const DNF = `
dnf_refresh() { printf 'code\\t1\\n'; }
dnf_changes() { printf 'code\\t1\\n'; }
dnf_left() { printf 'code\\t1\\n'; }
dnf_verify() { printf 'code\\t1\\n'; }
dnf_cache() { echo /var/cache; }
dnf_security() { echo database; }
dnf_run() { return 1; }
dnf_upgrade() { return 1; }
`
