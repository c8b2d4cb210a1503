import { type FoundApplication, ApplicationId, Version } from './application.ts'

/** Bytes of the command `update`; the scripts that write it need 300. */
const MOST_COMMAND = 4096

/**
 * `application_version <name>` prints the version that a community script has noted: in `/root/.<name>`, or in a file such
 * as `/opt/Vaultwarden_version.txt`, as older ones do. Prints nothing where there is none, or no plain one.
 */
export const COMMUNITY_VERSION = `
application_version() {
  for file in "/root/.$1" "/root/.\${1#alpine-}" /opt/*_version.txt; do
    [ -f "$file" ] && [ ! -L "$file" ] && [ -r "$file" ] || continue
    case $file in
      /opt/*)
        named=\${file#/opt/}
        named=$(printf '%s' "\${named%_version.txt}" | tr 'A-Z ' 'a-z-')
        [ "$named" = "\${1#alpine-}" ] || continue
        ;;
    esac
    version=$(head -c 100 "$file" | head -n 1 | tr -d '\\000\\r')
    case $version in
      '' | *[!0-9A-Za-z.+~_:-]*) continue ;;
    esac
    printf '%s\\n' "$version"
    return 0
  done
}`

/**
 * Prints `community_script NAME VERSION ADDRESS whole|changed`, with tabs, where the command `update` of the
 * community scripts is here: a file that runs, in bash, what one literal address gives. `changed`: it does more than that.
 * An address with credentials is none of theirs. The rest of the file never leaves the target.
 */
export const COMMUNITY_LOOK = `${COMMUNITY_VERSION}
community_script() {
  command=/usr/bin/update
  [ -f "$command" ] && [ -r "$command" ] && [ "$(wc -c <"$command")" -le ${MOST_COMMAND} ] || return 0
  found=$(tr -d '\\000\\r' <"$command" | awk '
    function loads(line) {
      return line ~ /^(bash|sh|ash) -c "\\$\\((curl|wget)( -[A-Za-z]*-?)* ["\\047]?https?:\\/\\/[A-Za-z0-9.-]+(:[0-9]+)?\\/[A-Za-z0-9._~%+@,\\/-]+["\\047]?( -)?\\)"$/
    }
    { sub(/^[ \\t]+/, ""); sub(/[ \\t]+$/, "") }
    /^(#.*)?$/ || /^set [+-]a$/ { next }
    /^(set -a; *)?\\[ -f \\/etc\\/profile\\.d\\/90-http-proxy\\.sh \\] && \\. \\/etc\\/profile\\.d\\/90-http-proxy\\.sh(; *set \\+a)?$/ { next }
    loads($0) { count++; match($0, /https?:\\/\\/[A-Za-z0-9._~%+@,:\\/-]+/); address = substr($0, RSTART, RLENGTH); next }
    { more = 1 }
    END { if (count == 1) print address, more ? "changed" : "whole" }')
  address=\${found% *}
  name=\${address##*/}
  name=\${name%.sh}
  case $name in '' | [!A-Za-z0-9]* | *[!A-Za-z0-9._-]*) return 0 ;; esac
  version=$(application_version "$name")
  printf 'community_script\\t%s\\t%s\\t%s\\t%s\\n' "$name" "\${version:--}" "$address" "\${found##* }"
}
`

/** An address that a script names. Credentials and questions are in none of them. */
export const ADDRESS = /^https?:\/\/[A-Za-z0-9.-]+(:\d{1,5})?(\/[A-Za-z0-9._~%+@,/-]*)?$/
/** Characters of an address. */
export const LONGEST_ADDRESS = 300

/** Reads one line of `COMMUNITY_LOOK`; undefined for any other line. */
export function communityScript(line: string): FoundApplication | undefined {
  const [word, name = '', version = '', address = '', state, more] = line.split('\t')
  if (word !== 'community_script' || more !== undefined || (state !== 'whole' && state !== 'changed')) return undefined
  const id = ApplicationId.safeParse(`community_script:${name}`)
  const noted = version === '-' ? null : Version.safeParse(version).data
  if (!id.success || noted === undefined || address.length > LONGEST_ADDRESS || !ADDRESS.test(address)) return undefined
  const source = { address, digest: null }
  return {
    id: id.data,
    kind: 'community_script',
    name,
    version: noted,
    available: null,
    source,
    updatable: state === 'whole',
  }
}
