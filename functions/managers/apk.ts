import { APK_ANSWERS } from './apk-answers.ts'
import { APK_RUN } from './apk-run.ts'

/*
 * apk, by the shape of manager.ts. Its source and the reasons for this binding are in
 * docs/decisions/0041-binding-of-each-manager.md. The host helper contains this text: any change of it, even of a
 * comment, needs a new `HELPER_VERSION`.
 */

/**
 * `apk_repositories` prints the address of each repository; `apk_indexes` the files with the lists. `apk_ready` sets
 * the options of every command: lists are as old as they are, because apk would otherwise fetch old ones by itself, and
 * a repository without a list does not stop the others.
 */
const BASE = `
apk_root=
apk_always=
apk_plain() { tr '\\000-\\011\\013-\\037\\177' '?' | sed 's#://[^/@ ]*@#://#g'; }
apk_ready() {
  [ -z "$apk_always" ] || return 0
  apk_always='--no-progress --cache-max-age 5256000'
  for option in '--force-missing-repositories' '--timeout 20'; do
    ! limited 10 apk $option --print-arch >/dev/null 2>&1 </dev/null || apk_always="$apk_always $option"
  done
  apk_arch=$(limited 10 apk --print-arch 2>/dev/null </dev/null)
  case $apk_arch in '' | *[!A-Za-z0-9_]*) apk_arch=- ;; esac
  # Before 2.14, apk upgrade may pass over names and take everything.
  apk_by_name=$(limited 10 apk --version 2>/dev/null </dev/null | sed -n 's/^apk-tools \\([0-9]*\\)\\.\\([0-9]*\\)[^0-9].*/\\1 \\2/p' |
    awk '$1 > 2 || ($1 == 2 && $2 >= 14) { print 1 }')
}
apk_database() {
  for file in "$apk_root/lib/apk/db/installed" "$apk_root/usr/lib/apk/db/installed"; do
    if [ -f "$file" ]; then
      cat "$file"
      return
    fi
  done
  return 1
}
apk_cache() {
  if [ -d "$apk_root/etc/apk/cache" ]; then echo "$apk_root/etc/apk/cache"; else echo "$apk_root/var/cache/apk"; fi
}
apk_repositories() {
  for file in "$apk_root/etc/apk/repositories" "$apk_root"/etc/apk/repositories.d/*.list "$apk_root"/lib/apk/repositories.d/*.list; do
    if [ -f "$file" ]; then
      cat "$file"
      echo
    fi
  done 2>/dev/null | head -c 262144 | apk_plain | awk '/^ *(#|$)/ || $1 == "set" || $1 == "default" { next }
    { at = ($1 ~ /^(ndx|v2|v3)$/) ? 2 : 1; if ($at ~ /^@/) at++; address = $at; sub(/\\/+$/, "", address) }
    address == "" { next }
    at == NF { tell(address); next }
    { for (part = at + 1; part <= NF; part++) tell(address "/" $part) }
    function tell(one) { if (!(one in told) && count++ < 200) print substr(one, 1, 300); told[one] }'
}
apk_indexes() {
  ls "$(apk_cache)"/APKINDEX.*.tar.gz 2>/dev/null
  apk_repositories | sed -n -e 's#^file://##' -e 's#^/.*#&#p' | while read -r folder; do
    [ ! -f "$apk_root$folder/$apk_arch/APKINDEX.tar.gz" ] || printf '%s\\n' "$apk_root$folder/$apk_arch/APKINDEX.tar.gz"
  done
}
apk_security() { echo database; }`

/**
 * \`apk update\` ends with 0 in some releases although no repository was reached, so its words count too: each \`WARNING\`
 * or \`ERROR\` about a repository, and the line with the numbers of those without a list and with an old one.
 */
const REFRESH = `
apk_refresh() {
  apk_ready
  slow=
  case $apk_always in *--timeout*) slow='--timeout 20' ;; esac
  told=$({
    limited 60 $sudo apk --no-progress --wait 30 $slow update </dev/null 2>&1
    echo "code $?"
  } | tail -c 262144 | apk_plain)
  {
    apk_repositories
    echo --
    printf '%s\\n' "$(apk_indexes | wc -l)" "$told"
  } | awk '
    !body && $0 == "--" { body = 1; next }
    !body { all[++count] = $0; next }
    body == 1 { readable = $1 + 0; body = 2; next }
    /^code [0-9]+$/ { code = $2; next }
    /Unable to lock database: / && !/: (Permission denied|Read-only file system|No such file or directory)$/ { locked = 1 }
    /^(WARNING|ERROR): / {
      text = $0; sub(/^[A-Z]+: */, "", text); last = text
      sub(/^(Ignoring|fetching|updating and opening|updating|opening from cache|opening) /, "", text)
      address = text; sub(/: .*/, "", address)
      if (address !~ /^(https?:\\/\\/|file:\\/\\/|ftp:\\/\\/|\\/)./) next
      # An address may have a port.
      if (match(substr(text, 9), /: /)) { address = substr(text, 1, RSTART + 7); message = substr(text, RSTART + 10) } else message = text
      which = owner(address)
      if (!(which in why)) { why[which] = message; failed[++failures] = which }
    }
    /^[0-9]+ (unavailable, [0-9]+ stale|errors?); [0-9]+ distinct packages available/ { gone = $1; old = ($2 ~ /^unavailable/) ? $3 : 0; counted = 1 }
    /^OK: [0-9]+ distinct packages available/ { whole = 1 }
    function owner(address, one, best) {
      best = ""
      for (i = 1; i <= count; i++) {
        one = all[i]
        if ((address == one || index(address, one "/") == 1) && length(one) > length(best)) best = one
      }
      return best == "" ? substr(address, 1, 300) : best
    }
    END {
      if (code == "") code = 1
      for (i = 1; i <= count; i++) print "repository\\t" all[i] "\\t" all[i]
      if (locked) print "locked"
      if (code == 0 && (failures || gone + old > 0 || !whole)) code = 1
      # Which ones failed is not known: none counts as refreshed.
      if (code != 0 && !failures && !locked)
        for (i = 1; i <= count; i++) { failed[++failures] = all[i]; why[all[i]] = last == "" ? "apk update ended with " code : last }
      for (i = 1; i <= failures && i <= 200; i++) print "failed\\t" code "\\t" failed[i] "\\t" substr(why[failed[i]], 1, 300)
      print "lists\\t" (whole ? count : counted ? (count > gone ? count - gone : 0) : readable < count ? readable : count)
      print "code\\t" code
    }'
}`

export const APK = `${BASE}${REFRESH}${APK_ANSWERS}${APK_RUN}
`
