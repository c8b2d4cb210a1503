import { FIND_MANAGER } from '../managers/manager.ts'
import { PAUSE } from '../updates/lock-script.ts'
import { REFRESH } from '../updates/refresh-script.ts'

/*
 * The shell side of remedies: POSIX scripts that run on the host or inside a container. `<sudo>` is empty or `sudo -n`,
 * where the sudo rule names apt-get alone. The host helper contains these texts: any change of them, even of a comment,
 * needs a new `HELPER_VERSION`.
 */

/**
 * `REPAIR <sudo> <package>…`, on the host or inside a container: completes an interrupted dpkg operation, then has apt
 * fix unmet dependencies without removing packages. Where that is impossible, apt may remove the named packages, which
 * the check has found broken, and no others. Where the sudo rule names apt-get alone, dpkg runs as its hook, as for an
 * upgrade (`STEPS` of apt.ts). Exits with 0 when nothing is left unfinished.
 */
export const REPAIR = `
sudo=$1
shift
broken=$(printf '%s\\n' "$@")
export LC_ALL=C DEBIAN_FRONTEND=noninteractive APT_LISTCHANGES_FRONTEND=none NEEDRESTART_MODE=l
unset TMPDIR TEMPDIR TMP TEMP
repair='dpkg --force-confdef --force-confold --configure -a'
set -- -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold -o DPkg::Lock::Timeout=120 \\
  -o Dpkg::Use-Pty=0 -o APT::Color=0
if [ -z "$sudo" ]; then
  $repair </dev/null
else
  $sudo apt-get "$@" -o "APT::Update::Pre-Invoke::=DEBIAN_FRONTEND=noninteractive $repair || true" update </dev/null
fi
$sudo apt-get -y "$@" --no-remove -f install </dev/null
checked() { apt-get -o Debug::NoLocking=1 -qq check </dev/null >/dev/null 2>&1; }
if [ -n "$broken" ] && ! checked; then
  removed=$(apt-get -o Debug::NoLocking=1 -s -f install </dev/null 2>/dev/null | sed -n 's/^Remv \\([^ ]*\\) .*/\\1/p')
  others=$(printf '%s\\n' "$removed" | grep -vxF -e "$broken")
  if [ -n "$removed" ] && [ -z "$others" ]; then
    $sudo apt-get -y "$@" -f install </dev/null
  elif [ -n "$others" ]; then
    echo "apt would also remove these packages, so nothing was removed: $(echo $others)"
  fi
fi
# How things are now counts, not how each step went.
code=0
audit=$(dpkg --audit 2>/dev/null) || code=1
[ -z "$audit" ] || code=1
[ -z "$(ls /var/lib/dpkg/updates 2>/dev/null)" ] || code=1
checked || code=1
if [ "$code" = 0 ]; then echo 'Nothing is left unfinished.'; else echo 'Something is still unfinished.'; fi
exit "$code"
`

const QUIETLY = `
export LC_ALL=C DEBIAN_FRONTEND=noninteractive PATH="$PATH:/usr/sbin:/sbin"
unset TMPDIR TEMPDIR TMP TEMP`

/**
 * `ALLOW <sudo> <repository>…`: accepts that these repositories, each as `<base> <suite>` or `<base>`, call themselves
 * otherwise than before. apt can only accept the changes of all repositories together, so an ordinary refresh first
 * finds those that have changed; one that is not approved ends the script with 3, and nothing is accepted. Exits with 0
 * when no repository is refused for a change any more, also when another one cannot be refreshed.
 */
export const ALLOW = `
sudo=$1
shift
approved=$(printf '%s\\n' "$@")${QUIETLY}${PAUSE}${REFRESH}
refresh_all() {
  read_lists $sudo apt-get "$@" -o APT::Update::Error-Mode=any -o Acquire::Retries=1 -o Acquire::http::Timeout=20 \\
    -o Acquire::https::Timeout=20 -o APT::Color=0 update
}
foreign() {
  printf '%s\\n' "$1" | while IFS= read -r name; do
    [ -z "$name" ] || printf '%s\\n' "$approved" | grep -qxF -e "$name" || printf '%s\\n' "$name"
  done
}
refresh_all
if [ -z "$changed" ]; then
  echo 'No repository is refused for a change of its name or release.'
  exit 0
fi
others=$(foreign "$changed")
if [ -n "$others" ]; then
  printf 'These repositories have changed too, and nobody has accepted that:\\n%s\\nNothing was accepted.\\n' "$others"
  exit 3
fi
refresh_all --allow-releaseinfo-change
others=$(foreign "$accepted")
if [ -n "$others" ]; then
  printf 'apt has accepted the changes of these repositories too, which came in the meantime:\\n%s\\n' "$others"
  exit 3
fi
if [ -n "$changed" ]; then
  printf 'Still refused:\\n%s\\n' "$changed"
  exit 100
fi
echo 'The change was accepted.'
[ -z "$failed" ] || printf 'Other repositories could not be refreshed: %s\\n' "$failed"
`

/**
 * `$names` becomes the packages of which `$marked` tells whether they need the mark of `apt-mark <how>`; the last line
 * names those that still need it afterwards.
 */
const mark = (how: 'hold' | 'unhold', left: string) => `
names=$(wanted)
waited=0
[ -z "$names" ] || pause /var/lib/dpkg/lock-frontend
if [ -z "$names" ]; then
  :
elif [ -z "$sudo" ]; then
  apt-mark ${how} $names </dev/null
else
  $sudo apt-get -o Debug::NoLocking=1 -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts=/dev/null \\
    -o APT::Get::List-Cleanup=0 -o "APT::Update::Pre-Invoke::=apt-mark ${how} $names 2>&1; exit 1" update \\
    </dev/null 2>&1 | grep -a -v -e '^E: Problem executing scripts' -e '^E: Sub-process returned' -e '^Reading package lists'
fi
left=$(wanted)
[ -z "$left" ] || printf '${left}: %s\\n' "$left"
[ -z "$left" ]
`

/** Reads lines `name` or `name:arch` and passes on those that were asked for, as `name` or as `name:arch`. */
const ASKED = `
# Without apt-mark no hold can be read, and an empty list would look like success.
command -v apt-mark >/dev/null 2>&1 || {
  echo 'Only the holds of apt can be changed.'
  exit 1
}
native=$(dpkg --print-architecture 2>/dev/null)
asked_of() {
  { printf '%s\\n' "$asked" | sed 's/^/? /'; cat; } | awk -v native="$native" '
    $1 == "?" { want[$2] = 1; next }
    $0 !~ /^[a-z0-9][a-z0-9+.-]*(:[a-z0-9][a-z0-9-]*)?$/ { next }
    { bare = $0; sub(/:.*/, "", bare) }
    ($0 in want) || (bare in want) || (bare == $0 && ((bare ":" native) in want || (bare ":all") in want))'
}
held() { apt-mark showhold 2>/dev/null </dev/null; }`

/**
 * `UNHOLD <sudo> <package>…`: lifts the hold of these packages, each as `name`, for every architecture, or `name:arch`.
 * Where the sudo rule names apt-get alone, a hook of a refresh without sources lifts it; the hook ends that refresh, so
 * that no list changes. Exits with 0 when none of the packages is held any more. Only names that apt-mark itself lists
 * and that match the pattern of package names get into the text of the hook.
 */
export const UNHOLD = `
sudo=$1
shift
asked=$(printf '%s\\n' "$@")${QUIETLY}${PAUSE}${ASKED}
wanted() { held | asked_of | tr '\\n' ' '; }
[ -n "$(wanted)" ] || echo 'None of these packages is held.'${mark('unhold', 'Still held')}`

/**
 * `HOLD <sudo> <package>…`: holds these packages, as `UNHOLD` lifts it. A package that is not installed is named, and
 * not held. Exits with 0 when all of them are installed and held. Only names that dpkg itself lists get into the hook.
 */
export const HOLD = `
sudo=$1
shift
asked=$(printf '%s\\n' "$@")${QUIETLY}${PAUSE}${ASKED}
installed=$(dpkg-query -W -f '\${db:Status-Status} \${binary:Package}\\n' 2>/dev/null | sed -n 's/^installed //p' | asked_of)
wanted() {
  # apt-mark names the native architecture nowhere, dpkg names it for some packages.
  { held | sed 's/^/? /'; printf '%s\\n' "$installed"; } | sed "s/:$native$//" |
    awk '$1 == "?" { held[$2] = 1; next } $0 != "" && !($0 in held)' | tr '\\n' ' '
}
missing=$(for each; do
  printf '%s\\n' "$installed" | awk -v name="$each" -v native="$native" '
    { bare = $0; sub(/:.*/, "", bare) }
    $0 == name || bare == name || name == bare ":" native || name == bare ":all" { found = 1 }
    END { exit !found }' || printf '%s ' "$each"
done)
[ -z "$missing" ] || printf 'Not installed: %s\\n' "$missing"
[ -n "$(wanted)" ] || [ -z "$installed" ] || echo 'These packages are held already.'${mark('hold', 'Not held')}[ -z "$left$missing" ]
`

/**
 * `CLEAN <sudo>`: removes the package files that the manager has downloaded, and says how much is free before and after.
 * pacman keeps them for people who go back to a former version, so they stay.
 */
export const CLEAN = `
sudo=$1${QUIETLY}${PAUSE}
${FIND_MANAGER.trim()}
archives=/var/cache
if [ "$manager" = apt-get ]; then
  archives=/var/cache/apt/archives/
  eval "$(apt-config shell archives Dir::Cache::archives/d 2>/dev/null)"
fi
free() {
  kib=$(df -Pk "$archives" | { read -r heads && read -r device size used left rest && echo "$left"; })
  echo "Free space $1: $((kib / 1024)).$((kib % 1024 * 10 / 1024)) MiB"
}
free before
code=0
case $manager in
  apt-get)
    waited=0
    pause "\${archives%/}/lock"
    $sudo apt-get clean </dev/null || code=$?
    ;;
  dnf) $sudo dnf clean packages </dev/null || code=$? ;;
  zypper) $sudo zypper --non-interactive clean </dev/null || code=$? ;;
  apk) $sudo apk cache clean </dev/null || code=$? ;;
  *)
    echo "The package files of $manager are not removed by the panel."
    code=1
    ;;
esac
free after
exit "$code"
`

/** The file that `MANUAL` writes; apt reads it after those of Debian. */
const MANUAL_FILE = '/etc/apt/apt.conf.d/99ops-panel-no-auto-upgrades'

/**
 * `MANUAL <sudo>`: unattended-upgrades no longer upgrades by itself; apt goes on refreshing its lists. It writes a file
 * of its own, whose removal undoes that. Where the sudo rule names apt-get alone, a hook of a refresh without sources
 * writes it, as in `UNHOLD`. Exits with 0 when apt's configuration says so afterwards: another file may come later.
 */
export const MANUAL = `
sudo=$1${QUIETLY}
unset APT_CONFIG
file=${MANUAL_FILE}
write='umask 022
mkdir -p /etc/apt/apt.conf.d && new=$(mktemp /etc/apt/apt.conf.d/.ops-panel-XXXXXXXX) || exit 1
printf "%s\\n" "// ops-panel: unattended-upgrades does not upgrade by itself. Without this file it may do so again." \\
  "APT::Periodic::Unattended-Upgrade \\"0\\";" >"$new" && chmod 644 "$new" && mv -f "$new" ${MANUAL_FILE} && exit 0
rm -f "$new"
exit 1'
if [ -z "$sudo" ]; then
  sh -c "$write" </dev/null
else
  $sudo apt-get -o Debug::NoLocking=1 -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts=/dev/null \\
    -o APT::Get::List-Cleanup=0 -o "APT::Update::Pre-Invoke::=( $write ) 2>&1; exit 1" update </dev/null 2>&1 |
    grep -a -v -e '^E: Problem executing scripts' -e '^E: Sub-process returned' -e '^Reading package lists'
fi
interval=0
eval "$(apt-config shell interval APT::Periodic::Unattended-Upgrade 2>/dev/null)"
case $interval in
  '' | 0 | 0[smhd])
    echo "unattended-upgrades no longer upgrades by itself. To undo that, remove $file"
    exit 0
    ;;
esac
[ ! -e "$file" ] || echo "$file is there, but apt reads another file after it."
echo 'unattended-upgrades still upgrades by itself.'
exit 1
`
