/*
 * The changes that an upgrade by pacman would make. `pacman -Sp` cannot tell them: it looks for no conflicts and names no
 * removals. A simulation is therefore a real `pacman -Su` up to its download, with databases of its own, from which
 * nothing can be downloaded: it knows no server, its program for downloads fails, and a hook would refuse the transaction.
 * It never gets to the point where libalpm would write through the link to the packages that are installed.
 *
 * It answers pacman's questions as a run does. `--noconfirm` takes the default answers; `--ask` turns those round that
 * nobody may take blindly: a package that IgnorePkg holds is not installed for another one (1), a key that is not in the
 * keyring is not imported (64), and a package in conflict is removed (4) if the plan may remove packages. Replacements are
 * made, packages that cannot be upgraded are not skipped, and the first provider is taken.
 */

/** Names as makepkg allows them, and versions, as patterns of awk. */
const NAME = '/^[A-Za-z0-9@_+][A-Za-z0-9@._+-]*$/'
const VERSION = '/^[A-Za-z0-9][A-Za-z0-9.:_+~^-]*$/'

/** A function of awk: the architecture of a package that is installed in a version, and nothing for any other one. */
const INSTALLED_ARCH = `function installed_arch(name, version, file, line, arch) {
      file = ENVIRON["data"] "/local/" name "-" version "/desc"
      while ((getline line < file) > 0) {
        if (arch == "") arch = "any"
        if (line == "%ARCH%" && (getline line < file) > 0 && line ~ /^[A-Za-z0-9_]+$/) arch = line
      }
      close(file)
      return arch
    }`

export const PACMAN_CHANGES = `
# pacman_hook FOLDER COMMAND: a hook before the first of the target's own
pacman_hook() {
  printf '[Trigger]\\nOperation = Install\\nOperation = Upgrade\\nOperation = Remove\\nType = Package\\nTarget = *\\n[Action]\\nWhen = PreTransaction\\nDescription = Comparing with the plan...\\nExec = %s\\nAbortOnFail\\nNeedsTargets\\n' "$2" >"$1/-ops-panel-plan.hook"
}
# pacman_simulate ASK: writes what pacman tells to $work/output and $work/errors; code is 0 where it came to its download,
# or had nothing to do, and problem where it refuses the upgrade
pacman_simulate() {
  none="$work/none" awk '
    /^(XferCommand|VerbosePkgLists|CacheDir|Server|CacheServer|Color|ILoveCandy|LogFile|DBPath|HookDir)( |$)/ { next }
    { print }
    $0 == "[options]" { print "VerbosePkgLists\\nXferCommand = /bin/false\\nCacheDir = " ENVIRON["none"] }
  ' "$work/configuration" | cat >"$work/none.conf" && mkdir -p "$work/none" "$work/stop" && pacman_hook "$work/stop" /bin/false || return
  code=0
  COLUMNS=0 limited 60 pacman -Su --noconfirm --ask "$1" --noprogressbar --color never --config "$work/none.conf" \\
    --dbpath "$work/db" --hookdir "$work/stop" --logfile /dev/null </dev/null >"$work/output" 2>"$work/errors" || code=$?
  if ! pacman_ended output errors; then
    code=70
    return
  fi
  if grep -q '^:: Proceed with installation' "$work/output"; then
    # The download has failed, as it must.
    if [ "$code" = 1 ]; then code=0; else code=70; fi
  elif [ "$code" = 0 ]; then
    grep -q '^ there is nothing to do' "$work/output" || code=70
  elif [ "$code" = 1 ] && grep -q '^error: failed to prepare transaction' "$work/errors"; then
    code=problem
  fi
  # pacman takes a list that it cannot read for an empty one.
  if [ "$code" = 0 ] && grep '^error: ' "$work/errors" | grep -q -v -e '^error: no servers configured for ' -e '^error: failed to commit transaction '; then
    code=problem
  fi
}
# pacman_found: a simulation as lines change ..., or one line unreadable; fails where they cannot be written
pacman_found() {
  : >"$work/found"
  tab=$(printf '\\t')
  limited 30 pacman -Sup --print-format "%n$tab%v$tab%s$tab%l" --dbpath "$work/db" --logfile /dev/null </dev/null 2>/dev/null >"$work/sizes"
  limited 30 pacman -Qu --dbpath "$work/db" </dev/null 2>/dev/null >"$work/newer"
  pacman_ended sizes newer || return
  data="$data" work="$work" awk '
    BEGIN {
      while ((getline line < (ENVIRON["work"] "/sizes")) > 0)
        if (split(line, part, "\\t") == 4) { size[part[1] " " part[2]] = part[3]; place[part[1] " " part[2]] = part[4] }
      while ((getline line < (ENVIRON["work"] "/newer")) > 0) if (split(line, part, " ") >= 4) up[part[1] " " part[2] " " part[4]]
    }
    # The name of a file ends with the architecture of its package.
    function arch_of(name, version, file, start) {
      file = place[name " " version]
      sub(/.*\\//, "", file)
      start = name "-" version "-"
      if (substr(file, 1, length(start)) == start) {
        file = substr(file, length(start) + 1)
        sub(/\\.pkg\\..*/, "", file)
      }
      return file ~ /^[A-Za-z0-9_]+$/ ? file : "any"
    }
    ${INSTALLED_ARCH}
    function compared(from, to, order) {
      order = "vercmp \\047" from "\\047 \\047" to "\\047"
      order | getline order
      return order == -1 ? "upgrade" : order == 1 ? "downgrade" : "reinstall"
    }
    /^Package \\([0-9]+\\)/ { wanted = substr($2, 2) + 0; rows = 0; place_of = 1; next }
    place_of && /^$/ { place_of = (place_of + 1) % 3; next }
    place_of == 2 { row[++rows] = $0 }
    END {
      if (wanted + 0 != rows + 0 || rows > 10000) { print "unreadable"; exit }
      for (i = 1; i <= rows; i++) {
        # A removal has no repository, and an installation no old version.
        count = split(row[i], word, " ")
        at = 0
        for (j = 2; j <= count && !at; j++) if (word[j] == "MiB") at = j
        slash = index(word[1], "/")
        name = substr(word[1], slash + 1)
        origin = slash ? substr(word[1], 1, slash - 1) : "-"
        from = at == 4 && slash ? "-" : word[2]
        to = at == 4 && !slash ? "-" : word[at - 2]
        # Columns do not tell where a name with a space ends: each one is looked up.
        known = (from == "-" || installed_arch(name, from) != "") && (to == "-" || (name " " to) in place)
        if (!known || length(name) > 200 || length(from) > 250 || length(to) > 250 || length(word[at - 1]) > 15 || !(at == 4 || (at == 5 && slash)) || word[at - 1] !~ /^-?[0-9]+\\.[0-9]+$/ || origin !~ /^[A-Za-z0-9@._+-]+$/ ||
          name !~ ${NAME} || (from != "-" && from !~ ${VERSION}) || (to != "-" && to !~ ${VERSION})) { print "unreadable"; exit }
        if (from == "-") action = "install"
        else if (to == "-") action = "remove"
        else action = (name " " from " " to) in up ? "upgrade" : compared(from, to)
        bytes = action == "remove" ? 0 : size[name " " to]
        if (bytes !~ /^[0-9]+$/ || length(bytes) > 15) bytes = "-"
        printf "change\\t%s\\t%s\\t%s\\t%s\\t%s\\t%s\\t0\\t%s\\t%.0f\\t%s\\n", action, name, to == "-" ? installed_arch(name, from) : arch_of(name, to), from, to, origin, bytes, word[at - 1] * 1048576, name
      }
    }' "$work/output" | cat >"$work/found"
}
# pacman_kept: the removals that HoldPkg names; pacman itself asks about it in pacman -R alone
pacman_kept() {
  pacman_conf HoldPkg >"$work/protected"
  awk -F '\\t' '$2 == "remove" { print $3 }' "$work/found" | while read -r each; do
    while read -r pattern; do
      case $each in $pattern) echo "$each" ;; esac
    done <"$work/protected"
  done
}
# pacman_answer REMOVALS: writes lines change ... or problem ... to $work/changes, and sets code
pacman_answer() {
  ask=65
  [ "$1" != remove ] || ask=69
  pacman_simulate "$ask"
  case $code in
    problem)
      code=0
      {
        sed -n 's/^error: //p' "$work/errors"
        sed -n -e '/ \\[y\\/N\\] *$/d' -e '/^:: .* are in conflict/s/^:: //p' -e '/^:: .* dependency /s/^:: //p' -e '/^:: .* a valid architecture/s/^:: //p' "$work/output"
      } | head -n 20 | pacman_plain | awk '{ print "problem\\t" $0 }' | cat >"$work/changes" || code=70
      ;;
    0)
      if ! pacman_found; then
        code=70
      elif grep -q '^unreadable' "$work/found"; then
        printf 'problem\\tthe name or the version of a package cannot be read\\n'
      elif kept=$(pacman_kept | sed -n 1p) && [ -n "$kept" ]; then
        printf 'problem\\tthis upgrade removes %s, which HoldPkg of pacman.conf protects\\n' "$kept"
      elif [ "$1" != remove ] && removed=$(awk -F '\\t' '$2 == "remove" { print $3 }' "$work/found" | head -n 8 | tr '\\n' ' ') && [ -n "$removed" ]; then
        printf 'problem\\tthis upgrade removes: %s (pacman makes it whole or not at all)\\n' "\${removed% }"
      else
        cat "$work/found"
      fi >"$work/changes" || code=70
      ;;
  esac
}
pacman_changes() (
  if [ "$1:$3" != all:every ]; then
    echo unsupported
    exit
  fi
  code=1
  pacman_begin && if [ -n "$crowded" ]; then
    echo crowded
  else
    pacman_answer "$2"
    [ ! -e "$work/changes" ] || cat "$work/changes"
  fi
  printf 'code\\t%s\\n' "$code"
)
pacman_left() (
  code=1
  pacman_begin && [ -z "$crowded" ] && {
    pacman_answer keep
    reason=
    if grep -q -s '^problem' "$work/changes"; then
      reason=kept_back_dependencies
      ! grep -q -s "^change$(printf '\\t')remove" "$work/found" || reason=kept_back_remove
    fi
    limited 30 pacman -Qu --dbpath "$work/db" </dev/null >"$work/newer" 2>/dev/null
    # 1 stands for none.
    [ "$?" -le 1 ] && pacman_ended newer || code=70
    reason="$reason" data="$data" work="$work" awk '
    ${INSTALLED_ARCH}
      BEGIN {
        while ((getline line < (ENVIRON["work"] "/found")) > 0) { split(line, part, "\\t"); arch[part[3]] = part[4]; origin[part[3]] = part[7] }
      }
      !NF { next }
      $1 !~ ${NAME} || $2 !~ ${VERSION} || $3 != "->" || $4 !~ ${VERSION} { print "unreadable"; exit }
      { reason = $5 == "[ignored]" ? "held" : ENVIRON["reason"] }
      reason != "" { printf "left\\t%s\\t%s\\t%s\\t%s\\t%s\\t%s\\t0\\n", reason, $1, $1 in arch ? arch[$1] : installed_arch($1, $2), $2, $4, $1 in origin ? origin[$1] : "-" }' "$work/newer"
    {
      pacman_conf IgnorePkg
      pacman_conf IgnoreGroup
    } | head -n 900 | pacman_plain | awk '{ print "hold\\t" $0 }'
  }
  printf 'code\\t%s\\n' "$code"
)
`
