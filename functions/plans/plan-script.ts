import { type Command, type Elevation, helped, quote, script } from '../../ssh/ssh.ts'
import { inContainer } from '../hypervisor/pct.ts'
import { sudoFor } from '../updates/apt.ts'
import { PAUSE } from '../updates/lock-script.ts'
import { relay } from '../updates/refresh-script.ts'

/*
 * The shell side of plans: what apt would do for a selection, and a run that does exactly that or nothing. Both
 * scripts choose with the same words, so they need no list of packages from the service, and the hash alone binds the
 * run. The host helper contains these texts: any change of them, even of a comment, needs a new `HELPER_VERSION`.
 */

/** Which of the available changes a plan takes. `packages` null: all of them. */
export interface Selection {
  only: 'all' | 'security'
  packages: readonly string[] | null
  exclude: readonly string[]
  allow_remove: boolean
}

/** The exit code of `PLANNED` when apt was about to do something else: EX_DATAERR. Nothing was changed then. */
export const PLAN_DIFFERS = 65
/** The lines around what apt was about to do instead; each line between them has a leading space. */
export const DIFFERS_MARK = 'ops-panel-plan differs'
export const DIFFERS_END = 'ops-panel-plan end'
/** The line that the hook prints when apt is about to do exactly the plan. */
const AGREES = 'ops-panel-plan: apt does exactly what was planned.'

/**
 * `BOUND <command> <argument>…`: runs apt with the preferences that stdin gives. The file with them has no name from
 * its first moment on, so nobody else can write or link it, and nothing stays behind whatever ends this process; the
 * argument `PREFERENCES` becomes its address below /proc. Exits with 74 when it cannot be written whole. With
 * `PLAN_BOUND` in the environment, the exit code is `PLAN_DIFFERS` unless the hook of `PLANNED` has agreed, where apt
 * itself reports no failure, or where the hook has refused.
 */
const BOUND = relay({
  first: `open my $file, "+>", undef or exit 74;
binmode STDIN;
while (1) {
  my $count = sysread STDIN, my $text, 65536;
  exit 74 if !defined $count;
  last if $count == 0;
  print $file $text or exit 74;
}
defined $file->flush && close STDIN && open STDIN, "<", "/dev/null" or exit 74;
my $address = "/proc/$$/fd/" . fileno $file;
s/\\bPREFERENCES\\b/$address/ for @ARGV;
my ($line, $agreed, $refused, $ended) = ("", 0, 0, 0);`,
  // After a refusal apt prints the whole text of the hook.
  take: `next if $ended;
  my $take = 0;
  for my $piece (split /(?<=\\n)/, $bytes) {
    $take += length $piece;
    $line .= $piece if length $line < 200;
    next if $piece !~ /\\n\\z/;
    $agreed = 1 if $line eq "${AGREES}\\n";
    $refused = 1 if $line eq "${DIFFERS_MARK}\\n";
    $ended = $refused && $line eq "${DIFFERS_END}\\n";
    $line = "";
    last if $ended;
  }
  put($bytes, $take);`,
  last: `if ($ENV{PLAN_BOUND} && ($refused || ($code == 0 && !$agreed))) {
  print "${DIFFERS_MARK}\\n${DIFFERS_END}\\n" if !$refused;
  $code = ${PLAN_DIFFERS} << 8;
}`,
}).replace('use strict;', 'use strict;\nuse IO::Handle;')

/**
 * `HOOK <hash>`, which apt runs as root after the download and before it changes anything (`DPkg::Pre-Install-Pkgs`,
 * version 3 of apt-pkg/deb/dpkgpm.cc): makes the lines of a plan's hash from what apt is about to do, and refuses when
 * their hash is another one. It needs no file. A package that is only configured changes nothing that a plan names.
 */
const HOOK = `export LC_ALL=C
found=$(awk '!body { if (NR == 1 && $0 != "VERSION 3") { print "unknown format"; exit } if ($0 == "") body = 1; next }
  $6 == "-" { print "remove " $1 ":" $3, $2, "-"; next }
  $2 == "-" { print "install " $1 ":" $7, "-", $6; next }
  $5 == "<" { print "upgrade " $1 ":" $7, $2, $6; next }
  $5 == ">" { print "downgrade " $1 ":" $7, $2, $6; next }
  $9 != "**CONFIGURE**" { print "reinstall " $1 ":" $7, $2, $6 }' | sort -u)
sum=$(if [ -n "$found" ]; then printf "%s\\n" "$found"; fi | sha256sum)
if [ "\${sum%% *}" = "$1" ]; then
  echo "${AGREES}"
  exit 0
fi
echo "${DIFFERS_MARK}"
if [ -n "$found" ]; then printf "%s\\n" "$found" | sed "s/^/ /"; fi
echo "${DIFFERS_END}"
exit 1`

/** The hook's text inside single quotes of the command line that apt gives to a shell. */
const QUOTED_HOOK = HOOK.replaceAll("'", `'\\''`)

/** Pins under which only security updates are candidates: the first record that matches is the one that counts. */
const SECURITY_PINS = `Package: *
Pin: release l=Debian-Security
Pin-Priority: 500

Package: *
Pin: release a=*-security
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

/**
 * Shell functions: `choose <only> <keep|remove> <every|these|without> <name>…` sets `$how`, the words of apt-get, and
 * `$pins`, records of preferences (apt_preferences(5)) that leave every other package at its version; `bound <command>…`
 * runs a command under `$pins`, `pinned` is its option. Pins keep the marks of automatic packages as they are, which
 * naming packages on apt-get's command line would not.
 */
const CHOOSE = `
export LC_ALL=C DEBIAN_FRONTEND=noninteractive APT_LISTCHANGES_FRONTEND=none NEEDRESTART_MODE=l PATH="$PATH:/usr/sbin:/sbin"
unset TMPDIR TEMPDIR TMP TEMP PERL5OPT PERL5LIB PERL5DB PERL_UNICODE PERLIO
quiet='-o Debug::NoLocking=1 -o APT::Color=0 -o APT::Get::AutomaticRemove=false'
how='--with-new-pkgs upgrade' pins=
bound() {
  {
    printf '%s\\n' "$pins"
    cat /etc/apt/preferences 2>/dev/null
  } | perl -e ${quote([BOUND])} "$@"
}
pinned='-o Dir::Etc::preferences=PREFERENCES'
# name:arch, offered version, installed version
upgradable() {
  bound apt $pinned list --upgradable 2>/dev/null |
    sed -n 's#^\\([a-z0-9][a-z0-9+.-]*\\)/[^ ]* \\([A-Za-z0-9.+:~-]*\\) \\([a-z0-9-]*\\) \\[upgradable from: \\([A-Za-z0-9.+:~-]*\\)\\]$#\\1:\\3 \\2 \\4#p'
}
# needed <word of apt-get>…: what installing these changes, as name:arch and version
needed() {
  bound apt-get $quiet -s $safe install "$@" 2>/dev/null </dev/null |
    sed -n 's#^Inst \\([a-z0-9][a-z0-9+.-]*\\)[^ ]* \\(\\[[^]]*\\] \\)*(\\([A-Za-z0-9.+:~-]*\\) .*\\[\\([a-z0-9-]*\\)\\]).*#\\1:\\4 \\3#p'
}
choose() {
  only=$1 removals=$2 kind=$3 safe=--no-remove
  shift 3
  if [ "$removals" = remove ]; then how=full-upgrade safe=; fi
  [ "$only:$kind" != all:every ] || return 0
  names=$(printf '%s\\n' "$@")
  held=$(apt-mark showhold 2>/dev/null)
  listed=$(upgradable)
  offered=$listed
  if [ "$only" = security ]; then
    pins='${SECURITY_PINS}'
    offered=$(upgradable)
    pins=
  fi
  wanted=
  if [ "$only:$kind" != all:without ]; then
    # The lists have their ends of fields, so that no name is a part of another one.
    wanted=$(printf '%s\\n' "$offered" | awk -v kind="$kind" -v names="$names" -v held="$held" '
      BEGIN { n = split(names, list, "\\n"); for (i = 1; i <= n; i++) named[list[i]]; n = split(held, list, "\\n"); for (i = 1; i <= n; i++) kept[list[i]] }
      { split($1, part, ":"); isNamed = ($1 in named) || (part[1] in named) }
      NF == 3 && !($1 in kept) && !(part[1] in kept) && (kind == "every" || isNamed == (kind == "these")) {
        print (part[2] == "all" ? part[1] : $1) "=" $2 }')
  fi
  found=
  if [ -n "$wanted" ]; then
    found=$(needed $wanted)
    # One that cannot be had must not keep back the others.
    [ -n "$found" ] || found=$(printf '%s\\n' "$wanted" | head -n 200 | while read -r one; do needed "$one"; done | sort -u)
  fi
  pins=$(printf '%s\\n%s\\n' "$listed" "$offered" | awk -v only="$only" -v kind="$kind" -v names="$names" -v found="$found" '
    BEGIN { n = split(names, list, "\\n"); for (i = 1; i <= n; i++) if (list[i] != "") named[list[i]]
      n = split(found, list, "\\n"); for (i = 1; i <= n; i++) { split(list[i], part, " "); version[part[1]] = part[2] } }
    NF != 3 || ($1 in seen) { next }
    { seen[$1]; split($1, part, ":"); seen[part[1]]; isNamed = ($1 in named) || (part[1] in named) }
    { name = part[2] == "all" ? part[1] : $1; to = $3
      if (kind == "without" && isNamed) to = $3
      else if (only == "all" && kind == "without") next
      else if ($1 in version) to = version[$1]
      printf "Package: %s\\nPin: version %s\\nPin-Priority: 1001\\n\\n", name, to }
    END { if (kind == "without") for (name in named) if (!(name in seen)) print "absent " name }')
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
}`

/**
 * `PLAN <only> <keep|remove> <every|these|without> <name>…`, on the host or inside a container: prints what apt would
 * do, in sections: a word, indented lines, an empty line. Changes nothing and refreshes nothing.
 */
export const PLAN = `${CHOOSE}
section() {
  printf '%s\\n' "$1"
  tr -d '\\000' | sed 's/^/ /'
  echo
}
for manager in apt-get apk dnf zypper pacman none; do
  command -v "$manager" >/dev/null 2>&1 && break
done
echo "manager $manager"
[ "$manager" = apt-get ] || exit 0
set -f
choose "$@"
set +f
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
archives=/var/cache/apt/archives/
eval "$(apt-config shell archives Dir::Cache::archives/d 2>/dev/null)"
{
  for folder in / /usr /var /boot "$archives"; do
    case $folder in "$archives") name=archives ;; *) name=$folder ;; esac
    [ ! -d "$folder" ] || printf '%s %s %s\\n' "$name" "$(stat -f -c '%a %S %b' "$folder")" "$(stat -c %d "$folder")"
  done
} | section disk
echo end
`

/**
 * `PLANNED <sudo> <hash> <only> <keep|remove> <every|these|without> <name>…`, on the host or inside a container: makes
 * the changes of the plan with that hash. `<sudo>` is empty or `sudo -n`, for a rule that names apt-get alone. The lists
 * are not refreshed. Exits with `PLAN_DIFFERS` when apt was about to do something else, with what that was between
 * `DIFFERS_MARK` and `DIFFERS_END`; nothing was changed then. Otherwise exits with apt-get's code.
 */
export const PLANNED = `
sudo=$1 hash=$2
shift 2
waited=0${PAUSE}${CHOOSE}
set -f
pause /var/lib/dpkg/lock-frontend
choose "$@"
export PLAN_BOUND=1
hook=${quote([QUOTED_HOOK])}
bound $sudo apt-get -y $pinned -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold \\
  -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 -o APT::Color=0 -o APT::Get::AutomaticRemove=false \\
  -o DPkg::Tools::Options::sh::Version=3 \\
  -o "DPkg::Pre-Install-Pkgs::=$(printf "sh -c '%s' ops-panel-plan %s" "$hook" "$hash")" $how
`

/** The words of a selection, as both scripts and the host helper take them. */
export function selectionWords({ only, packages, exclude, allow_remove }: Selection): string[] {
  const names = packages ? packages.filter((name) => !exclude.includes(name)) : exclude
  const kind = packages ? 'these' : exclude.length > 0 ? 'without' : 'every'
  return [only, allow_remove ? 'remove' : 'keep', kind, ...names]
}

/** Returns the command that simulates a selection on the host (`host`) or in a container. */
export function planCommand(place: string, selection: Selection, elevation: Elevation): Command {
  const words = selectionWords(selection)
  if (elevation === 'helper') return helped(['plan', place, ...words])
  const own = script(PLAN, 'ops-panel-plan', ...words)
  return place === 'host' ? own : rooted(inContainer(place, own), elevation)
}

/** Returns the command that runs the plan of that hash on the host (`host`) or in a container. */
export function plannedCommand(place: string, hash: string, selection: Selection, elevation: Elevation): Command {
  const words = [hash, ...selectionWords(selection)]
  if (elevation === 'helper') return helped(['planned', place, ...words])
  if (place === 'host') return script(PLANNED, 'ops-panel-planned', sudoFor(elevation), ...words)
  return rooted(inContainer(place, script(PLANNED, 'ops-panel-planned', '', ...words)), elevation)
}

function rooted(command: Command, elevation: Elevation): Command {
  return elevation === 'rule' ? ['sudo', '-n', ...command] : command
}
