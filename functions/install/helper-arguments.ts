/**
 * Shell functions of the host helper that decide which arguments it takes: `is_container <number>`, `is_place
 * host|<number>`, `is_text <longest> <text>`, `is_hash <text>`, `is_package <name>[:<arch>]`, `is_selection <word>…`
 * (`selectionWords` of plan-command.ts), `is_version <version>`, `is_service <unit>` (`isServiceName` of never.ts),
 * `is_files <word>` (`filesWord` of conffile-scripts.ts),
 * `is_offer <name>[:<arch>]=<version>`, `is_snapshot <name>` (a snapshot of the panel) and `is_look <word>…` (`probeWords`
 * without commands). A changed rule is another text of the helper, so it needs a new
 * `HELPER_VERSION`.
 */
export const ARGUMENT_CHECKS = `is_container() {
  case $1 in '' | 0* | *[!0-9]*) return 1 ;; esac
  [ "\${#1}" -ge 3 ] && [ "\${#1}" -le 9 ]
}

is_place() {
  [ "$1" = host ] || is_container "$1"
}

# the SHA-256 of a plan
is_hash() {
  case $1 in *[!0-9a-f]*) return 1 ;; esac
  [ "\${#1}" = 64 ]
}

# is_text <longest> <text>: printable ASCII. The sets of characters below are those of LC_ALL=C.
is_text() {
  case $2 in '' | -* | *[!' '-~]*) return 1 ;; esac
  [ "\${#2}" -le "$1" ]
}

is_package() {
  case $1 in *:*:* | *:) return 1 ;; *:*) set -- "\${1%:*}" "\${1#*:}" ;; *) set -- "$1" '' ;; esac
  case $1 in [!A-Za-z0-9_]* | *[!A-Za-z0-9_+.@-]*) return 1 ;; esac
  case $2 in -* | *[!A-Za-z0-9_-]*) return 1 ;; esac
  [ "\${#1}" -ge 1 ] && [ "\${#1}" -le 200 ] && [ "\${#2}" -le 50 ]
}

# is_selection all|security keep|remove every|these|without <package>...
is_selection() {
  [ "$#" -ge 3 ] || return 1
  case $1 in all | security) ;; *) return 1 ;; esac
  case $2 in keep | remove) ;; *) return 1 ;; esac
  case $3 in
    every)
      [ "$#" = 3 ]
      return
      ;;
    these | without) [ "$#" -gt 3 ] || return 1 ;;
    *) return 1 ;;
  esac
  shift 3
  for each; do is_package "$each" || return 1; done
}

is_version() {
  case $1 in [!A-Za-z0-9]* | *[!A-Za-z0-9.+:~_^@-]*) return 1 ;; esac
  [ "\${#1}" -ge 1 ] && [ "\${#1}" -le 250 ]
}

# is_files: base64, or - for none
is_files() {
  case $1 in -) ;; '' | *[!A-Za-z0-9+/=]*) return 1 ;; esac
  [ "\${#1}" -le 60000 ]
}

# only a snapshot that this service has made
is_snapshot() {
  case $1 in panel-*[!a-z0-9-]* | panel-*-*-*) return 1 ;; panel-[0-9]*-????????) ;; *) return 1 ;; esac
  case \${1#panel-} in *[!0-9]*-????????) return 1 ;; esac
  [ "\${#1}" -ge 24 ] && [ "\${#1}" -le 26 ]
}

# is_look [tcp <port> | unit <name>]...
is_look() {
  while [ "$#" -gt 1 ]; do
    case $1 in
      tcp) case $2 in '' | 0* | *[!0-9]*) return 1 ;; esac && [ "\${#2}" -le 5 ] || return 1 ;;
      unit) case $2 in '' | -* | *[!A-Za-z0-9:_.@\\\\-]*) return 1 ;; esac && [ "\${#2}" -le 190 ] || return 1 ;;
      *) return 1 ;;
    esac
    shift 2
  done
  [ "$#" = 0 ]
}

is_service() {
  case $1 in '' | [!A-Za-z0-9:_@\\\\]* | *[!A-Za-z0-9:_.@\\\\-]*) return 1 ;; esac
  [ "\${#1}" -le 190 ]
}

is_offer() {
  case $1 in *=*=*) return 1 ;; *=*) ;; *) return 1 ;; esac
  is_package "\${1%%=*}" && is_version "\${1#*=}"
}`
