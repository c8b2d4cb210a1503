import { DNF5_RUN } from './dnf5-run.ts'

/*
 * dnf5, by its command line, for systems without Python. The table that dnf5 shows before it asks is its resolved
 * transaction, so a plan reads the table, and a run answers the question of the very process that then goes on.
 * `dnf5 replay` of a stored transaction is not used: it installs packages whose signatures nobody has checked. The host
 * helper contains this text: any change of it, even of a comment, needs a new `HELPER_VERSION`.
 */

/**
 * awk: the table of a transaction, as lines `row SECTION NAME ARCH VERSION ORIGIN` and `old NAME ARCH VERSION NEW`, where
 * NEW is the package that replaces it. The summary counts the packages, so a table that was read otherwise is `unreadable`.
 */
const TABLE = `
function plain(version) { sub(/^0:/, "", version); return version }
/^Package +Arch +Version +Repository +Size *$/ { table = 1; section = ""; next }
/^Transaction Summary:/ { table = 0; summary = 1; next }
summary && /^ (Installing|Reinstalling|Upgrading|Downgrading|Removing|Replacing): +[0-9]+ packages?$/ { told += $2; next }
summary && /^ *$/ { summary = 0; whole = 1; next }
!table || /^$/ { next }
/^[A-Z][a-z ]*:$/ { section = $1; if ($0 ~ /^Skipping /) section = "skip"; next }
section == "skip" && /^ [^ ]/ && NF == 6 { print "skip", $1 "-" $3 "." $2; next }
/^   replacing / && NF == 7 { count++; print "old", $2, $3, plain($4), last; next }
/^ [^ ]/ && NF == 6 && section ~ /^(Installing|Reinstalling|Upgrading|Downgrading|Removing):?$/ {
  count++; sub(/:$/, "", section); last = $1 "-" $3 "." $2; print "row", section, $1, $2, plain($3), $4; next }
{ print "unreadable" }
END { whole += summary; if (table || (whole && told != count)) print "unreadable"; if (whole) print "whole" }`

/** awk: lines of `TABLE` as lines \`change\` of manager.ts, without their sizes: these come from lines \`about\` before them. */
const CHANGES = `
function same(a, b) { return a == b || a == "noarch" || b == "noarch" }
function tell(action, name, arch, from, to, origin,   key, old) {
  key = name "." arch "." to; old = from == "-" ? "" : name "." from
  print "change", action, name, arch, from, to, origin, ((name "." arch) in fixes && to != "-") ? 1 : 0, to == "-" ? 0 : (key in size) ? size[key] : "-",
    (to != "-" && !(key in room)) || (old != "" && !(old in had)) ? "-" : (to == "-" ? 0 : room[key]) - (old == "" ? 0 : had[old]), (key in source) ? source[key] : "-" }
function close_row() {
  if (row == "") return
  action = section == "Installing" ? "install" : section == "Removing" ? "remove" : section == "Upgrading" ? "upgrade" : section == "Downgrading" ? "downgrade" : "reinstall"
  if (section == "Removing") tell("remove", name, arch, version, "-", "-")
  else if (section == "Reinstalling") tell(action, name, arch, version, version, origin)
  else tell(action, name, arch, from == "" ? "-" : from, version, origin)
  row = ""
}
BEGIN { OFS = "\\t" }
$1 == "about" { key = $2 "." $3 "." $4; size[key] = $5; room[key] = $6; source[key] = $7; next }
$1 == "had" { had[$2 "." $3] = $4; next }
$1 == "fix" { fixes[$2]; next }
$1 == "unreadable" { print "change"; next }
$1 == "row" { close_row(); row = 1; from = ""; section = $2; name = $3; arch = $4; version = $5; origin = $6; next }
$1 == "old" && $2 == name && section != "Installing" && from == "" && same($3, arch) { from = $4; next }
$1 == "old" && $2 == name && same($3, arch) && section == "Reinstalling" { next }
$1 == "old" { tell("remove", $2, $3, $4, "-", "-"); next }
END { close_row() }`

export const DNF5 = `
dnf5_table='${TABLE.trim()}'
dnf5_rows='${CHANGES.trim()}'
# Names of packages are words; everything else is no selection that dnf5 takes.
dnf5_choose() {
  case $1:$2:$3 in
    *:*:every | *:*:these | *:*:without) ;;
    *) return 1 ;;
  esac
  case $1:$2 in all:keep | all:remove | security:keep | security:remove) ;; *) return 1 ;; esac
  only=$1 removals=$2 kind=$3 options= specs=
  shift 3
  for each; do
    case $each in '' | -* | *[!A-Za-z0-9_.@+~:-]*) return 1 ;; esac
  done
  [ "$only" = all ] || options=--security
  if [ "$removals" = remove ]; then options="$options --allowerasing"; else options="$options --setopt=installonly_limit=0"; fi
  for each; do
    name=\${each%%:*} arch=
    case $each in *:*) arch=.\${each#*:} ;; esac
    case $kind in
      these) ! rpm -q --quiet -- "$name" || specs="$specs $name$arch" ;;
      without) options="$options --exclude=$name$arch" ;;
    esac
  done
  [ "$kind:$specs" != these: ] || return 2
}
dnf5_ask='--setopt=cacheonly=metadata --setopt=*.skip_if_unavailable=1 --setopt=assumeyes=0 --setopt=defaultyes=0 --setopt=best=0'
dnf5_asks() { limited 60 dnf5 -C -q '--setopt=*.skip_if_unavailable=1' "$@" 2>/dev/null </dev/null; }
# The table is all that counts on the standard output; messages with texts of the repositories come beside it.
dnf5_resolve() {
  set -f
  rows=$(limited 60 dnf5 $dnf5_ask upgrade --assumeno $options $specs 2>/dev/null </dev/null | head -c 4000000 | awk "$dnf5_table")
  table=
  [ -n "$rows" ] || table=$({
    limited 60 dnf5 $dnf5_ask upgrade --assumeno $options $specs 2>&1 </dev/null
    echo "ended $?"
  } | tail -c 10000)
  set +f
}
# Whether dnf5 has nothing to do. Texts of repositories are among its messages, so its exit code counts too.
dnf5_idle() {
  case $table in
    *'Nothing to do.'*"
ended 0") ;;
    *) return 1 ;;
  esac
}
# Sets rows for dnf5_choose. Without removals, a package that drives out another one is left out, until none is.
dnf5_solve() {
  turns=0 best=
  while [ "$turns" -lt 10 ]; do
    turns=$((turns + 1))
    dnf5_resolve
    # dnf5 removes nothing for an update that it may leave out: then it may leave out only those that lack something.
    case $removals:$best:$rows in
      *unreadable*) ;;
      remove::*)
        best=tried plain=$rows before=$table without=$options
        options="$options --setopt=best=1 $(printf '%s\\n' "$rows" | awk '$1 == "skip" { printf "--exclude=%s ", $2 }')"
        continue
        ;;
      remove:tried:)
        best=failed
        dnf5_idle || options=$without rows=$plain table=$before
        ;;
    esac
    case $rows in
      *unreadable*) problem='the answer of dnf5 cannot be read' && return 1 ;;
      '')
        ! dnf5_idle || return 0
        problem=$(printf '%s\\n' "$table" | grep -v -e '^[A-Z][a-z ]*\\.$' -e '^ended [0-9]*$' | tail -n 3 | tr -c '[:print:]' ' ' | cut -c 1-300)
        return 1
        ;;
    esac
    # A package that is left out must not be removed instead.
    gone=$(printf '%s\\n' "$rows" | awk '$1 == "row" && $2 == "Removing" { print $3, $4 } $1 == "old" { print $2, $3, $5 }' |
      awk -v rows="$rows" 'BEGIN { n = split(rows, line, "\\n"); for (i = 1; i <= n; i++) { split(line[i], w, " "); if (w[1] == "row" && w[2] != "Removing") there[w[3] " " w[4]] = there[w[3]] = 1 } }
        !(($1 " " $2) in there) && !($2 == "noarch" && ($1 in there)) && !(($1 " noarch") in there)')
    if [ "$removals" = remove ]; then
      [ "$kind" = without ] || return 0
      for each in $(printf '%s\\n' "$gone" | awk '{ print $1; print $1 "." $2 }'); do
        case " $options " in *" --exclude=$each "*) removals=keep ;; esac
      done
      [ "$removals" = keep ] || return 0
      options=$(printf '%s' "$options" | sed -e 's/ --allowerasing//' -e 's/ --setopt=best=1//')
      continue
    fi
    [ -n "$gone" ] || return 0
    by=$(printf '%s\\n' "$gone" | awk 'NF == 3 { print "--exclude=" $3 }' | sort -u | tr '\\n' ' ')
    [ -n "$by" ] || break
    options="$options $by"
  done
  problem='dnf5 finds no upgrade without removals'
  return 1
}
dnf5_fixes() {
  marks=$(dnf5_asks advisory list --security --updates) || return
  printf '%s\\n' "$marks" |
    awk '$2 == "security" { arch = $4; sub(/.*\\./, "", arch); sub(/-[^-]*-[^-]*$/, "", $4); print "fix", $4 "." arch }'
}
# The sizes and marks of the packages of $rows, then the rows themselves.
dnf5_about() {
  set -f
  set -- $(printf '%s\\n' "$rows" | awk '$1 == "row" && $2 != "Removing" { print $3 "-" $5 "." $4 }' | head -n 10000)
  set +f
  [ "$#" = 0 ] || dnf5_asks repoquery --available --qf 'about %{name} %{arch} %{evr} %{downloadsize} %{installsize} %{source_name}\\n' -- "$@"
  rpm -qa --qf 'had %{NAME} %|EPOCH?{%{EPOCH}:}|%{VERSION}-%{RELEASE} %{LONGSIZE}\\n' 2>/dev/null
  dnf5_fixes || echo unreadable
  printf '%s\\n' "$rows"
}
dnf5_changes() {
  dnf5_choose "$@"
  case $? in
    1) printf 'unsupported\\ncode\\t1\\n' && return ;;
    2) printf 'code\\t0\\n' && return ;;
  esac
  if dnf5_solve; then
    dnf5_about | awk "$dnf5_rows"
    printf 'code\\t0\\n'
  else
    printf 'problem\\t%s\\ncode\\t1\\n' "$problem"
  fi
}
dnf5_refresh() {
  until=$(($(date +%s) + 50)) failed=0 lists=0
  told=$(limited 30 dnf5 -q repo list --enabled 2>/dev/null </dev/null)
  if [ $? != 0 ]; then
    printf 'code\\t1\\n'
    return
  fi
  told=$(printf '%s\\n' "$told" | awk 'NR > 1 && NF { print $1 }' | sort -u)
  if [ "$(printf '%s\\n' "$told" | wc -l)" -gt 200 ]; then
    failed=1
    printf 'failed\\t1\\t-\\tthere are more than 200 repositories\\n'
  fi
  for id in $(printf '%s\\n' "$told" | head -n 200); do
    address=$(limited 10 dnf5 -C -q repo info "$id" 2>/dev/null </dev/null | awk '/^ +(Base URL|Mirrorlist|Metalink) +: / { sub(/^[^:]*: /, ""); print $1; exit }')
    printf 'repository\\t%s\\t%s\\n' "$id" "\${address:--}"
    left=$((until - $(date +%s))) text='no answer in time' code=124
    if [ "$left" -gt 0 ]; then
      text=$(limited "$left" $sudo dnf5 makecache --refresh "--repo=$id" "--setopt=$id.skip_if_unavailable=0" --setopt=retries=1 \\
        --setopt=timeout=20 </dev/null 2>&1)
      code=$?
    fi
    if [ "$code" != 0 ]; then
      failed=1
      text=$(printf '%s\\n' "$text" | grep -v '^ ' | tail -n 2 | tr -c '[:print:]' ' ' | cut -c 1-300)
      printf 'failed\\t%s\\t%s\\t%s\\n' "$code" "$id" "\${text:-no message}"
    fi
    set -- "$(dnf_cache)/$id"-*/repodata/repomd.xml
    [ ! -e "$1" ] || lists=$((lists + 1))
  done
  printf 'lists\\t%s\\ncode\\t%s\\n' "$lists" "$failed"
}
dnf5_left() {
  dnf5_choose all remove every && dnf5_solve && full=$(dnf5_about | awk "$dnf5_rows") || full=
  dnf5_choose all keep every
  if ! dnf5_solve; then
    printf 'code\\t1\\n'
    return
  fi
  query='repoquery --upgrades --latest-limit=1 --qf'
  form='%{name} %{arch} %{evr} %{repoid}\\n'
  {
    dnf5_about | awk "$dnf5_rows" | awk -F '\\t' '{ print "done", $3 "." $4 }'
    printf '%s\\n' "$full" | awk -F '\\t' '$1 == "change" { print "full", $3, $4, $5, $6, $7, $8 }'
    dnf5_asks $query "seen $form" || echo failed
    rpm -qa --qf 'is %{NAME} %{ARCH} %|EPOCH?{%{EPOCH}:}|%{VERSION}-%{RELEASE}\\n' 2>/dev/null || echo failed
    dnf5_fixes || echo failed
    sed -n 's/^name = "\\([^"]*\\)"$/hold \\1/p' /etc/dnf/versionlock.toml 2>/dev/null
    dnf5_asks '--setopt=disable_excludes=*' $query "all $form" || echo failed
  } | awk 'BEGIN { OFS = "\\t" }
    $0 == "failed" { code = 1; next }
    $1 == "done" { done[$2]; next }
    $1 == "full" { full[$2 "." $3] = $2 "\\t" $3 "\\t" $4 "\\t" $5 "\\t" $6 "\\t" $7; next }
    $1 == "seen" { seen[$2 "." $3 "." $4]; next }
    $1 == "is" { is[$2 "." $3] = $4; if (!($2 in any)) any[$2] = $4; next }
    $1 == "fix" { fix[$2]; next }
    $1 == "hold" { holds[$2]; next }
    $1 == "all" { key = $2 "." $3; if (key in done) next
      done[key]; reason = key in full ? "kept_back_remove" : "kept_back_dependencies"
      if (!((key "." $4) in seen)) { reason = "held"; holds[$2] }
      print "left", reason, $2, $3, key in is ? is[key] : $2 in any ? any[$2] : "-", $4, $5, (key in fix) ? 1 : 0 }
    END { for (key in full) if (!(key in done)) print "left", "kept_back_remove", full[key]
      for (name in holds) print "hold", name; print "code", code + 0 }'
}
dnf5_verify() {
  told=$(limited 30 dnf5 -C check --duplicates 2>/dev/null </dev/null)
  code=$?
  told=$(printf '%s\\n' "$told" | awk '/^[^ ].*-[^-]+-[^-]+$/ { sub(/-[^-]*-[^-]*$/, ""); if (!seen[$0]++) print "unfinished\\t" $0 "\\tseveral versions are installed" }')
  # It fails where it finds something, too.
  if [ -n "$told" ]; then
    printf '%s\\n' "$told"
    code=0
  fi
  printf 'code\\t%s\\n' "$code"
}
${DNF5_RUN.trim()}
`
