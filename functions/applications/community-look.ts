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
 * Prints `community_script|NAME|VERSION|ADDRESS|whole`, or `changed` at its end, where the command `update` of the
 * community scripts is here: a file that runs, in bash, what one literal address gives. The newer ones set variables to
 * literal texts first, and put these into the address. `changed`: it does more than that, or loads it in a way that is not
 * known. An address with credentials is none of theirs. The rest of the file never leaves the target.
 */
export const COMMUNITY_LOOK = `${COMMUNITY_VERSION}
community_script() {
  command=/usr/bin/update
  [ -f "$command" ] && [ -r "$command" ] || return 0
  found=$(head -c ${MOST_COMMAND + 1} "$command" | tr '\\000\\r' '? ' | awk '
    function loads(line) {
      return line ~ /^(bash|sh|ash) -c "\\$\\((curl|wget)( -[A-Za-z]*-?)* ["\\047]?https?:\\/\\/[A-Za-z0-9.-]+(:[0-9]+)?\\/[A-Za-z0-9._~%+@,\\/-]+["\\047]?( -)?\\)"$/
    }
    # put(LINE): the line with the values of the variables that the file has set
    function put(line,   name) {
      while (match(line, /\\$\\{[A-Z_]+\\}/)) {
        name = substr(line, RSTART + 2, RLENGTH - 3)
        if (!(name in value)) return line
        line = substr(line, 1, RSTART - 1) value[name] substr(line, RSTART + RLENGTH)
      }
      return line
    }
    { bytes += length($0) + 1; sub(/^[ \\t]+/, ""); sub(/[ \\t]+$/, "") }
    /^(#.*)?$/ || /^set [+-]a$/ { next }
    /^(set -a; *)?\\[ -f \\/etc\\/profile\\.d\\/90-http-proxy\\.sh \\] && \\. \\/etc\\/profile\\.d\\/90-http-proxy\\.sh(; *set \\+a)?$/ { next }
    /^export (SCRIPT_SLUG|UPDATE_SCRIPT_NAME|COMMUNITY_SCRIPTS_([A-Z]+_)?URL)="[A-Za-z0-9._~%+@,:\\/-]*"$/ {
      name = $2
      sub(/=.*/, "", name)
      text = $0
      gsub(/^[^"]*"|"$/, "", text)
      if (name in value) more = 1
      value[name] = text
      next
    }
    { line = put($0) }
    loads(line) { count++; match(line, /https?:\\/\\/[A-Za-z0-9._~%+@,:\\/-]+/); address = substr(line, RSTART, RLENGTH); next }
    { more = 1 }
    END {
      if (bytes > ${MOST_COMMAND}) exit
      # The newest one asks a helper first.
      base = value["COMMUNITY_SCRIPTS_URL"]
      if (count != 1 && base ~ /^https?:\\/\\/[A-Za-z0-9.-]+(:[0-9]+)?\\/[A-Za-z0-9._~%+@,\\/-]+$/ && value["UPDATE_SCRIPT_NAME"] != "") {
        address = base "/ct/" value["UPDATE_SCRIPT_NAME"] ".sh"
        count = more = 1
      }
      if (count == 1) print address, more ? "changed" : "whole"
    }')
  address=\${found% *}
  name=\${address##*/}
  name=\${name%.sh}
  case $name in '' | [!A-Za-z0-9]* | *[!A-Za-z0-9._-]*) return 0 ;; esac
  version=$(application_version "$name")
  printf 'community_script|%s|%s|%s|%s\\n' "$name" "\${version:--}" "$address" "\${found##* }"
}
`

/** An address that a script names. Credentials and questions are in none of them. */
export const ADDRESS = /^https?:\/\/[A-Za-z0-9.-]+(:\d{1,5})?(\/[A-Za-z0-9._~%+@,/-]*)?$/
/** Characters of an address. */
export const LONGEST_ADDRESS = 300

/** Reads one line of `COMMUNITY_LOOK`; undefined for any other line. */
export function communityScript(line: string): FoundApplication | undefined {
  const [word, name = '', version = '', address = '', state, more] = line.split('|')
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
