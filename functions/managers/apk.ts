/*
 * apk, by the shape of manager.ts. The host helper contains this text: any change of it, even of a comment, needs a new
 * `HELPER_VERSION`.
 */

export const APK = `
apk_refresh() { printf 'code\\t1\\n'; }
apk_changes() { printf 'code\\t1\\n'; }
apk_left() { printf 'code\\t1\\n'; }
apk_verify() { printf 'code\\t1\\n'; }
apk_cache() { echo /var/cache; }
apk_security() { echo database; }
apk_run() { return 1; }
apk_upgrade() { return 1; }
`
