/*
 * The changes that zypper would make for a selection. The host helper contains this text: any change of it, even of a
 * comment, needs a new `HELPER_VERSION`.
 *
 * zypper has no option that leaves packages out, but libzypp takes its configuration from the file that `ZYPP_CONF`
 * names: a copy of the target's own, with more locks, leaves out what a plan does not take. Naming packages on the
 * command line would mark them as wanted by the user, so only trials do that.
 */

export const ZYPPER_CHOICE = `
# zypper_notes: the available packages, and which editions the security patches ask for
zypper_notes() {
  : >notes
  zypper_asks list-updates --all || return
  zypper_whole || return 4
  {
    zypper_awk '
    /^update / { kind = attr("kind"); line = attr("name") " " attr("arch") " " attr("edition") " " attr("edition-old"); next }
    /^source / && kind == "package" {
      alias = plain(attr("alias")); gsub(/ /, "_", alias)
      if (line !~ /^[A-Za-z0-9_.@+~-]+ [A-Za-z0-9_-]+ [!-~]+ [!-~]+$/ || ++count > 10000) { bad = 1; exit }
      print "known " line " " (alias == "" ? "-" : substr(alias, 1, 200))
      kind = ""
    }
    END { exit bad }' <answer || echo bad
  } | cat >known || return 4
  ! grep -q -x bad known || return 4
  zypper_asks list-patches || return
  zypper_whole || return 4
  zypper_awk '
    /^update kind="patch" / && attr("status") == "needed" && attr("category") == "security" && attr("name") ~ /^[A-Za-z0-9_.:+~-]+$/ && !seen[attr("name")]++ && count++ < 2000 { print attr("name") }' \\
    <answer | cat >patches || return 4
  if [ -s patches ]; then
    set --
    while read -r name; do set -- "$@" "$name"; done <patches
    zypper_call "\${patient:-4}" 60 -n --no-refresh info -t patch -- "$@" || return
    awk '/^[^ ]/ { inside = 0 } /^Conflicts *: / { sub(/^Conflicts *: */, ""); inside = 1 } /^Conflicts *:$/ { inside = 1; next }
      inside && $2 == "<" && NF == 3 && n++ < 20000 { print "fix", $1, $3 }' answer | cat >notes || return 4
  fi
  cat known >>notes
}
# zypper_conf: a copy of the configuration of libzypp, with locks of the names in out besides the target's own
zypper_conf() {
  : >conf
  : >locks
  base=/etc/zypp/zypp.conf
  [ -e "$base" ] || base=/usr/etc/zypp/zypp.conf
  for file in "$base" /usr/etc/zypp/zypp.conf.d/*.conf /etc/zypp/zypp.conf.d/*.conf; do
    [ ! -e "$file" ] || { cat "$file"; echo; } >>conf
  done
  set -- "$(sed -n 's/^[[:space:]]*locksfile\\.path[[:space:]]*=[[:space:]]*//p' conf | tail -n 1)" "$(sed -n 's/^[[:space:]]*locksfile\\.apply[[:space:]]*=[[:space:]]*//p' conf | tail -n 1)"
  case $2 in
    [Nn]o | [Ff]alse | [Oo]ff | 0) ;;
    *) cat "\${1:-/etc/zypp/locks}" >locks 2>/dev/null ;;
  esac
  printf '\\n[main]\\nlocksfile.path = %s\\nlocksfile.apply = true\\n' "$work/locks" >>conf &&
    sed 's/.*/\\ntype: package\\nmatch_type: exact\\ncase_sensitive: on\\nsolvable_name: &/' out | cat >>locks
}
# zypper_tried NAME...: what an update of these packages, or of all, would change without the names in out
zypper_tried() {
  unset ZYPP_CONF
  if [ -s out ]; then
    # sudo drops the environment, and with it the place of the locks.
    [ -z "\${sudo:-}" ] || return 201
    zypper_conf || return 4
    export ZYPP_CONF="$work/conf"
  fi
  zypper_asks $verb --dry-run -- "$@" || return
  zypper_whole || return 4
  zypper_changed <answer | cat >changes || return 4
  ! grep -q -x 'change.unreadable' changes || return 4
  # A lock that zypper does not know must not become a change.
  ! awk -F '\\t' 'NR == FNR { out[$0]; next } $1 == "change" && $3 in out { found = 1 } END { exit !found }' out changes || return 4
}
zypper_names() { awk -F '\\t' -v only="$1" '$1 == "change" && (only == "" || $2 == only) { print $3 }' changes | sort -u | cat; }
# zypper_verb: sets $verb, and $rolling to \`yes\` where only a distribution upgrade is right
zypper_verb() {
  rolling=no verb='update --no-allow-vendor-change'
  case $(sed -n 's/^ID=//p' /etc/os-release 2>/dev/null | tr -d '"') in
    *tumbleweed* | *slowroll* | *microos* | *aeon* | *kalpa*) rolling=yes verb='dist-upgrade --no-allow-vendor-change' ;;
  esac
}
# zypper_choose ONLY REMOVALS KIND NAME...: what a plan changes, in the file changes, without the names in the file out;
# ends with 200 for what zypper cannot choose
zypper_choose() {
  only=$1 removals=$2 kind=$3
  shift 3
  : >out
  : >named
  for name; do
    case $name in *[!A-Za-z0-9_.@+~:-]*) return 200 ;; esac
    printf '%s\\n' "\${name%%:*}" >>named
  done
  zypper_verb
  [ "$rolling:$only:$kind" = "yes:all:every" ] || [ "$rolling" = no ] || return 200
  zypper_notes || return
  zypper_tried || return
  cp changes full || return 4
  if [ "$only:$kind" != all:every ]; then
    awk -F '\\t' -v only="$only" -v kind="$kind" '
      FILENAME == ARGV[1] { named[$1]; next }
      FILENAME == ARGV[2] { split($0, word, " "); if (word[1] == "known") all[word[2]]; next }
      $1 == "change" { all[$3]; change[$3]; if ($8 == 1) security[$3] }
      END {
        printf "" >"wanted"
        for (name in all) {
          isIn = (only == "all" || name in security) && (kind == "every" || (name in named) == (kind == "these"))
          if (!isIn) print name
          else if (name in change) print name >"wanted"
        }
        if (kind == "without") for (name in named) if (!(name in all)) print name
      }' named notes full | sort -u | cat >out && sort -o wanted wanted || return 4
    [ "$only:$kind" != all:without ] || : >wanted
    zypper_tried || return
    zypper_names >names
    # Some of them need packages that were not asked for: those are left in, too.
    missing=$(grep -v -x -F -f names wanted)
    if [ -n "$missing" ]; then
      cp out rest
      [ "$kind" = without ] && cp named out || : >out
      if zypper_tried $missing; then zypper_names >names; else : >names; fi
      grep -v -x -F -f names rest >out
      [ "$kind" != without ] || cat named >>out
      zypper_tried || return
    fi
  fi
  [ "$removals" = keep ] || return 0
  round=0
  while :; do
    zypper_names remove >names || return 4
    [ -s names ] || return 0
    round=$((round + 1))
    [ "$round" -le 10 ] || return 4
    cat names >>out
    zypper_tried && continue
    # A distribution upgrade without its removals is none.
    [ "$rolling" = yes ] || return 4
    : >changes
  done
}
`
