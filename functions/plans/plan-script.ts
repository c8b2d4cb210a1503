import { quote } from '../../ssh/ssh.ts'
import { RUN_CODES } from '../managers/agreement.ts'
import { FIND_MANAGER } from '../managers/manager.ts'
import { TELL_OTHERS } from '../managers/no-manager.ts'
import { CHANGED_CONFFILES } from '../updates/fetch-script.ts'
import { PAUSE } from '../updates/lock-script.ts'
import { BOUND, QUOTED_HOOK } from './bound-script.ts'
import { MOST_COMPARED, QUOTED_TAKE } from './conffile-scripts.ts'

/*
 * The shell side of plans: what apt would do for a selection, and a run that does exactly that or nothing. Both
 * scripts choose with the same words, so they need no list of packages from the service, and the hash alone binds the
 * run. The host helper contains these texts: any change of them, even of a comment, needs a new `HELPER_VERSION`.
 */

/** Pins under which only security updates are candidates: the first record that matches is the one that counts. */
const SECURITY_PINS = `Package: *
Pin: release l=Debian-Security
Pin-Priority: 500

Package: *
Pin: release o=Ubuntu,a=*-security
Pin-Priority: 500

Package: *
Pin: release a=now
Pin-Priority: 100

Package: *
Pin: release a=*
Pin-Priority: 50

Package: *
Pin: origin *
Pin-Priority: 50
`

/** How long packages are tried alone that apt cannot install together. */
const POSSIBLE_SECONDS = 40

/**
 * Shell functions: `choose <only> <keep|remove> <every|these|without> <name>…` sets `$how`, the words of apt-get, and
 * `$pins`, records of preferences (apt_preferences(5)) that leave every other package at its version; `bound <command>…`
 * runs a command under `$pins`, `pinned` is its option. Pins keep the marks of automatic packages as they are, which
 * naming packages on apt-get's command line would not.
 */
const CHOOSE = `
export LC_ALL=C DEBIAN_FRONTEND=noninteractive APT_LISTCHANGES_FRONTEND=none NEEDRESTART_MODE=l PATH="$PATH:/usr/sbin:/sbin"
unset TMPDIR TEMPDIR TMP TEMP PERL5OPT PERL5LIB PERL5DB PERL_UNICODE PERLIO
quiet='-o Debug::NoLocking=1 -o APT::Color=0 -o APT::Get::AutomaticRemove=false -o APT::Get::Purge=false'
how='--with-new-pkgs upgrade' pins=
bound() {
  {
    printf '%s\\n' "$pins"
    cat "$preferences" 2>/dev/null
  } | perl -e ${quote([BOUND])} "$@"
}
preferences=/etc/apt/preferences
pinned='-o Dir::Etc::preferences=PREFERENCES'
# A selection that cannot be computed must not become one of everything.
unreadable() {
  echo "ops-panel-plan: $1" >&2
  exit ${RUN_CODES.notBegun}
}
# upgradable <option>…: name:arch, offered version, installed version; - for an offered version that dpkg does not take
upgradable() {
  raw=$(bound apt $pinned -o APT::Color=0 -o APT::Cmd::Use-Format=false "$@" list --upgradable 2>/dev/null) || return
  printf '%s\\n' "$raw" | grep -v -e '^$' -e '^Listing' -e '^WARNING: ' -e '^[NW]: ' |
    sed -e 's#^\\([a-z0-9][a-z0-9+.-]*\\)/[^ ]* \\([A-Za-z0-9.+:~-]*\\) \\([a-z0-9-]*\\) \\[upgradable from: \\([A-Za-z0-9.+:~-]*\\)\\]$#\\1:\\3 \\2 \\4#' \\
      -e 't' -e 's#^\\([a-z0-9][a-z0-9+.-]*\\)/.* \\([a-z0-9-]*\\) \\[upgradable from: \\([A-Za-z0-9.+:~-]*\\)\\]$#\\1:\\2 - \\3#' -e 't' -e 's/.*/?/'
}
# changed_by <word of apt-get>…: what a simulation changes, as name:arch and version
changed_by() {
  raw=$(bound apt-get $quiet "$@" -s 2>/dev/null </dev/null)
  [ "$?" != 74 ] || return 74
  printf '%s\\n' "$raw" |
    sed -n 's#^Inst \\([a-z0-9][a-z0-9+.-]*\\)[^ ]* \\(\\[[^]]*\\] \\)*(\\([A-Za-z0-9.+:~-]*\\) .*\\[\\([a-z0-9-]*\\)\\]).*#\\1:\\4 \\3#p'
}
# possible <package>=<version>…: what installing these changes, or as many of them as can be had: one that cannot must not
# keep back the others. Ends within the time that is left for it.
possible() (
  [ "$(date +%s)" -lt "$until" ] || exit 0
  one=$(changed_by $safe install "$@") || exit
  if [ -n "$one" ]; then
    printf '%s\\n' "$one"
    exit
  fi
  [ "$#" -gt 1 ] || exit 0
  half=$(($# / 2)) first=
  while [ "$half" -gt 0 ]; do
    first="$first $1" half=$((half - 1))
    shift
  done
  possible $first && possible "$@"
)
# missing: lines of stdin before a line --, of which the lines after it are taken away
missing() { awk '$0 == "--" && !list++ { next } !list { if ($0 != "") all[++n] = $0; next } { there[$0] } END { for (i = 1; i <= n; i++) if (!(all[i] in there)) print all[i] }'; }
# pins_of <lines>: pins for each package that can be upgraded; these lines tell which versions are taken. A package that is
# left out and not installed is told as: absent <name>.
pins_of() {
  printf '%s\\n' "$names" -- "$1" -- "$listed" "$offered" | awk -v only="$only" -v kind="$kind" '
    $0 == "--" { list++; next }
    !list { if ($1 != "") named[$1]; next }
    list == 1 { version[$1] = $2; next }
    NF != 3 || ($1 in seen) { next }
    { seen[$1]; split($1, part, ":"); seen[part[1]]; isNamed = ($1 in named) || (part[1] in named) }
    { name = part[2] == "all" ? part[1] : $1; to = $3
      if (kind == "without" && isNamed) to = $3
      else if (only == "all" && kind == "without") next
      else if ($1 in version) to = version[$1]
      printf "Package: %s\\nPin: version %s\\nPin-Priority: 1001\\n\\n", name, to }
    END { if (kind == "without") for (name in named) if (!(name in seen)) print "absent " name }'
}
choose() {
  only=$1 removals=$2 kind=$3 safe=--no-remove wanted= found=
  shift 3
  if [ "$removals" = remove ]; then how=full-upgrade safe=; fi
  [ "$only:$kind" != all:every ] || return 0
  names=$(printf '%s\\n' "$@")
  held=$(apt-mark showhold 2>/dev/null) || unreadable 'apt-mark cannot tell what is held'
  listed=$(upgradable) || unreadable 'apt cannot list what can be upgraded'
  offered=$listed
  if [ "$only" = security ]; then
    pins='${SECURITY_PINS}'
    # A pin of the target's own can offer another version than the security updates have: only what both offer counts.
    both=$(upgradable) || unreadable 'apt cannot list the security updates'
    preferences=/dev/null
    fixes=$(upgradable -o Dir::Etc::preferencesparts=/dev/null) || unreadable 'apt cannot list the security updates'
    preferences=/etc/apt/preferences pins=
    offered=$({
      printf '%s\\n' "$both" --
      printf '%s\\n' "$both" -- "$fixes" | missing
    } | missing)
  fi
  case "$listed $offered" in *'?'*) unreadable 'apt lists what can be upgraded in another form' ;; esac
  if [ "$only:$kind" != all:without ]; then
    # The lists come one after another, with a line between them.
    wanted=$(printf '%s\\n' "$names" -- "$held" -- "$offered" | awk -v kind="$kind" '
      $0 == "--" { list++; next }
      !list { named[$1]; next }
      list == 1 { kept[$1]; next }
      { split($1, part, ":"); isNamed = ($1 in named) || (part[1] in named) }
      NF == 3 && $2 != "-" && !($1 in kept) && !(part[1] in kept) && (kind == "every" || isNamed == (kind == "these")) {
        print $1, $2 }') || unreadable 'the selection cannot be computed'
    # Most of them go together; the others may need packages that were not asked for.
    pins=$(pins_of "$wanted") || unreadable 'the selection cannot be computed'
    found=$([ -z "$wanted" ] || changed_by $pinned $how) || unreadable 'the selection cannot be computed'
    pins=
    others=$(printf '%s\\n' "$wanted" -- "$found" | missing | sed -e 's/:all / /' -e 's/ /=/')
    until=$(($(date +%s) + ${POSSIBLE_SECONDS}))
    found=$(printf '%s\\n' "$found" && { [ -z "$others" ] || possible $others; }) || unreadable 'the selection cannot be computed'
  fi
  pins=$(pins_of "$found") || unreadable 'the selection cannot be computed'
  # A package that is left out and not installed must not come as a new one.
  absent=$(printf '%s\\n' "$pins" | sed -n 's/^absent //p')
  pins=$(printf '%s\\n' "$pins" | grep -v '^absent ')
  for name in $absent; do
    case $(dpkg-query -W -f '\${db:Status-Status}' "$name" 2>/dev/null) in installed*) continue ;; esac
    pins="$pins

Package: $name
Pin: version *
Pin-Priority: -1"
  done
  pins="$pins
"
  # No pin keeps a package from being removed: where one that is left out would be, nothing is.
  if [ "$kind:$how" = without:full-upgrade ] && bound apt-get $quiet $pinned -s $how 2>/dev/null </dev/null |
    awk '/^(Remv|Purg) / { split($2, part, ":"); print $2; print part[1] }' |
    grep -q -x -F -e "$(printf '%s\\n' "$names" | sed "s/:\\(all\\|$(dpkg --print-architecture)\\)$//")"; then
    how='--with-new-pkgs upgrade'
  fi
}`

/** The beginning of a plan: the form of its sections, and what it says of the manager. */
export const PLAN_BEGINS = `section() {
  printf '%s\\n' "$1"
  tr -d '\\000' | sed 's/^/ /'
  echo
}
${FIND_MANAGER.trim()}
echo "manager $manager"
${TELL_OTHERS.trim()}`

/**
 * `PLAN <only> <keep|remove> <every|these|without> <name>…`, on the host or inside a container: prints what apt would
 * do, in sections: a word, indented lines, an empty line. Changes nothing and refreshes nothing. Where apt is not the
 * manager, it tells which one is, and asks it if the functions of managed-scripts.ts come before this text.
 */
export const PLAN = `${CHOOSE}${CHANGED_CONFFILES}
${PLAN_BEGINS}
if [ "$manager" != apt-get ]; then
  command -v managed_plan >/dev/null 2>&1 || exit 0
  sudo=
  managed_plan "$@"
  echo end
  exit 0
fi
set -f
choose "$@"
set +f
echo "native $(dpkg --print-architecture)"
printf '%s\\n' "$wanted" | sed -e 's/:all / /' -e 's/ /=/' | section wanted
set -- /var/lib/dpkg/updates/[0-9]*
[ ! -e "$1" ] || echo journal
dpkg-query -W -f '\${db:Status-Status} \${db:Status-Eflag} \${binary:Package}\\n' 2>/dev/null |
  grep -a -v -e '^installed ok ' -e '^config-files ok ' -e '^not-installed ok ' | head -n 1000 | section unfinished
planned=$({
  bound apt-get $quiet $pinned -s $how 2>&1
  echo "code $?"
} | grep -a -e '^Inst ' -e '^Remv ' -e '^Purg ' -e '^E: ' -e '^code ' | head -c 4000000)
printf '%s\\n' "$planned" | section planned
named() { printf '%s\\n' "$planned" | sed -n "$1" | sort -u | head -n 10000; }
named 's/^Inst \\([a-z0-9][a-z0-9+.-]*\\)[^ ]* \\(\\[[^]]*\\] \\)*(\\([A-Za-z0-9.+:~-]*\\) .*/\\1=\\3/p' |
  xargs -r apt-cache $quiet show -- 2>/dev/null |
  awk 'function tell() { if (name != "") print name, arch, version, size, installed, source } \\
    /^Package: / { tell(); name = $2; arch = version = source = ""; size = installed = 0 } /^Version: / { version = $2 } \\
    /^Architecture: / { arch = $2 } /^Size: / { size = $2 } /^Installed-Size: / { installed = $2 } \\
    /^Source: / { source = $2 " " $3 } END { tell() }' |
  cut -c 1-400 | section offered
named 's/^\\(Inst\\|Remv\\|Purg\\) \\([a-z0-9][a-z0-9+.-]*\\(:[a-z0-9-]*\\)*\\) \\[.*/\\2/p' |
  xargs -r dpkg-query -W -f '\${Package} \${Architecture} \${Installed-Size} \${source:Package} \${source:Version}\\n' 2>/dev/null |
  cut -c 1-500 | section installed
named 's/^Inst \\([a-z0-9][a-z0-9+.-]*\\(:[a-z0-9-]*\\)*\\) \\[.*/\\1/p' |
  changed_conffiles | awk '{ print $1, substr($0, length($1) + 35) }' | head -n ${MOST_COMPARED} | section conffiles
archives=/var/cache/apt/archives/
eval "$(apt-config shell archives Dir::Cache::archives/d 2>/dev/null)"
find "$archives" -maxdepth 1 -type f -name '*.deb' -printf '%f %s\\n' 2>/dev/null | head -n 20000 | section cached
{
  for folder in / /usr /var /boot "$archives"; do
    case $folder in "$archives") name=archives ;; *) name=$folder ;; esac
    [ ! -d "$folder" ] || printf '%s %s %s\\n' "$name" "$(stat -f -c '%a %S %b' "$folder")" "$(stat -c %d "$folder")"
  done
} | section disk
echo end
`

/**
 * `PLANNED <sudo> <hash> <files> <only> <keep|remove> <every|these|without> <name>…`, on the host or inside a
 * container: makes the changes of the plan with that hash. `<sudo>` is empty or `sudo -n`, for a rule that names apt-get
 * alone. `<files>`: the changed configuration files that the new versions replace (`filesWord`); others stay. The lists
 * are not refreshed. Exits with `RUN_CODES.differs` when apt was about to do something else, with what that was between
 * `DIFFERS_MARK` and `DIFFERS_END`; nothing was changed then. `BOUND` says with what it exits otherwise. Another manager
 * than apt has the same exit codes (`RUN_CODES`); the functions of managed-scripts.ts come before this text then.
 */
export const PLANNED = `
sudo=$1 hash=$2 files=$3
shift 3
${FIND_MANAGER.trim()}
if [ "$manager" != apt-get ]; then
  if command -v managed_run >/dev/null 2>&1; then
    managed_run "$hash" "$@"
    exit
  fi
  echo "ops-panel-plan: this plan was made for apt, and the package manager is $manager."
  exit ${RUN_CODES.notBegun}
fi
waited=0${PAUSE}${CHOOSE}
set -f
pause /var/lib/dpkg/lock-frontend
choose "$@"
export PLAN_BOUND=1
hook=${quote([QUOTED_HOOK])}
take=${quote([QUOTED_TAKE])}
IFS='
'
# The hook comes before those of the target: debconf runs scripts of the packages that are about to be installed.
own=$(apt-config dump --format '%v%n' DPkg::Pre-Install-Pkgs | grep -v '^$')
set -- -c CLEARED -o "DPkg::Pre-Install-Pkgs::=$(printf "/usr/bin/env sh -c '%s' ops-panel-plan %s" "$hook" "$hash")"
for each in $own; do set -- "$@" -o "DPkg::Pre-Install-Pkgs::=$each"; done
unset IFS
[ "$files" = - ] || set -- "$@" -o "Dpkg::Options::=--pre-invoke=$(printf "sh -c '%s' ops-panel-take %s" "$take" "$files")"
bound $sudo apt-get -y $pinned "$@" -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold \\
  -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 -o APT::Color=0 -o APT::Get::AutomaticRemove=false \\
  -o APT::Get::Purge=false -o DPkg::Tools::Options::/usr/bin/env::Version=3 \\
  -o DPkg::Tools::Options::/usr/bin/env::InfoFD=0 $how
`
