/** Seconds for a question to systemd, for reading the maps of all processes, and for needrestart, which reads their programs. */
const ASK_SECONDS = 10
const READ_SECONDS = 15
const NEEDRESTART_SECONDS = 20

/**
 * The part of an inspection that finds running programs whose code an upgrade has replaced, as section `services`: lines
 * `<kind> <unit or program> <pid> <package or -> <file>`, at most 100, without spaces but in the file. Kinds: `service` (a
 * unit that systemd says is active, without `.service`), `session` (the name of the user that is logged in), `process`
 * (neither), `init` (process 1). Where needrestart is installed, the active services that it names are added, with
 * `needrestart` as the file. The last line is `whole` if nothing was left out: not where the account sees no processes of
 * others, where the maps of a process could not be read, where there are more than the limits below, or where systemd or
 * needrestart did not answer.
 *
 * It reads the maps of all processes of its own pid namespace at once: executable mappings of removed files of the
 * system, at most eight of a process. A package is found by the path with and without `/usr`, and, because versions of a
 * library may have other file names, by the shorter names of the library. It uses `section` of the inspection. The host
 * helper contains this text: any change of it, even of a comment, needs a new `HELPER_VERSION`.
 */
export const SERVICES = `
brief=
! command -v timeout >/dev/null 2>&1 || brief='timeout -k 1 ${ASK_SECONDS}'
# Lines \`unit <name>.service <main pid>\`.
active_units() {
  [ -d /run/systemd/system ] && command -v systemctl >/dev/null 2>&1 || return 0
  set -f
  set -- $($brief systemctl list-units --plain --no-legend --no-pager --full --type=service --state=active </dev/null |
    awk '$1 ~ /^[A-Za-z0-9:_@\\\\][A-Za-z0-9:_.@\\\\-]*[.]service$/ && length($1) <= 198 { print $1 }' | head -n 1000)
  set +f
  [ "$#" = 0 ] || $brief systemctl show --no-pager -p Id,MainPID -- "$@" </dev/null | awk '
    function tell() { if (id != "") print "unit", id, pid + 0; id = ""; pid = 0 }
    /^Id=/ { id = substr($0, 4) } /^MainPID=/ { pid = substr($0, 9) } /^$/ { tell() } END { tell() }'
}
# Lines \`<kind> <name> <pid> <file>\`, then \`whole\` if that is all, from \`<pid>/maps:<mapping>\`, what grep says, and the units.
users_of_files() {
  awk '
    function clean(text, most) { gsub(/[^!-~]/, "_", text); return text == "" ? "-" : substr(text, 1, most) }
    function status_of(pid, file, line, count) {
      name = "-"
      parent = 0
      file = "/proc/" pid "/status"
      while (count++ < 20 && (getline line <file) > 0) {
        if (line ~ /^Name:/) name = clean(substr(line, 7), 100)
        if (line ~ /^PPid:/) { parent = substr(line, 7) + 0; break }
      }
      close(file)
    }
    # Of a hybrid hierarchy, the longer path counts.
    function group_of(pid, file, line, path, part, count, at) {
      unit = user = path = ""
      file = "/proc/" pid "/cgroup"
      while ((getline line <file) > 0) {
        if (line !~ /^(0|[0-9]+:name=systemd):/) continue
        sub(/^[0-9]+:[^:]*:/, "", line)
        if (length(line) > length(path)) path = line
      }
      close(file)
      count = split(path, part, "/")
      for (at = 1; at <= count && unit == "" && user == ""; at++) {
        if (part[at] == "user.slice") { user = part[at + 1]; gsub(/[^0-9]/, "", user); user = user == "" ? "-" : user }
        if (part[at] in known) unit = part[at]
      }
    }
    function ancestor_of(pid, steps) {
      while (pid > 1 && steps++ < 30) {
        if (pid in main) return main[pid]
        status_of(pid)
        pid = parent
      }
      return ""
    }
    function tell(pid, kind, called, at) {
      sub(/[.]service$/, "", called)
      if ((kind, called) in told) return
      if (++number > 100) { lacking = 1; return }
      told[kind, called] = 1
      for (at = 1; at <= files[pid]; at++) print kind, called, pid, file[pid, at]
    }
    $1 == "unit" { known[$2] = 1; if ($3 > 1) main[$3] = $2; next }
    # Of xargs: 123 if a grep has found nothing, or has said why it cannot read a file.
    $1 == "code" { ended = $2 == 0 || $2 == 123; next }
    /^grep: / { if ($0 !~ /: No such (file or directory|process)$/) lacking = 1; next }
    {
      pid = substr($0, 1, index($0, "/") - 1)
      path = substr($0, index($0, " /") + 1)
      sub(/ [(]deleted[)]$/, "", path)
      gsub(/[^ -~]/, "?", path)
      if (!(pid in files)) order[++count] = pid
      file[pid, ++files[pid]] = substr(path, 1, 300)
    }
    END {
      while ((getline line <"/etc/passwd") > 0) if (split(line, field, ":") > 2) account[field[3]] = field[1]
      for (at = 1; at <= count && at <= 1000; at++) {
        pid = order[at]
        status_of(pid)
        called = name
        group_of(pid)
        if (pid == 1) tell(pid, "init", called)
        else if (called == "conmon") tell(pid, "process", called)
        else if (pid in main) tell(pid, "service", main[pid])
        else if (user != "") tell(pid, "session", user in account ? clean(account[user], 100) : "uid=" user)
        else if (unit != "") tell(pid, "service", unit)
        else if ((unit = ancestor_of(parent)) != "") tell(pid, "service", unit)
        else tell(pid, "process", called)
      }
      if (ended && !lacking && count <= 1000) print "whole"
    }'
}
# The paths under which the package manager may know a file, the best first.
known_paths='
  function paths_of(file, paths, count, stem) {
    if (file !~ /^[A-Za-z0-9\\/._+@:~%=,-]+$/) return 0
    for (stem = file; ; sub(/[.][0-9]+$/, "", stem)) {
      paths[++count] = stem
      paths[++count] = stem ~ /^\\/usr\\// ? substr(stem, 5) : "/usr" stem
      if (stem !~ /[.]so[.][0-9.]*[0-9][.][0-9]+$/ || count > 8) return count
    }
  }
  function file_of(line) { sub(/^[^ ]+ [^ ]+ [^ ]+ /, "", line); return line }'
# owners: of paths on stdin, lines \`= <package> <path>\`
owners() {
  case \${manager:-} in
    apk) xargs -r $brief apk info --who-owns | sed -n 's|^\\(/[^ ]*\\) \\(symlink target \\)\\{0,1\\}is owned by \\([A-Za-z0-9._][A-Za-z0-9._+-]*\\)-[0-9][^ -]*-r[0-9]*$|= \\3 \\1|p' ;;
    pacman) xargs -r $brief pacman -Qo --color never | sed -n 's|^\\(/[^ ]*\\) is owned by \\([A-Za-z0-9@_+][A-Za-z0-9@._+-]*\\) [^ ]*$|= \\2 \\1|p' ;;
    dnf | zypper)
      # rpm does not say to which of the paths a name belongs.
      paths=$(cat)
      {
        printf '%s\\n' "$paths" --
        printf '%s\\n' "$paths" | xargs -r $brief rpm -qf --qf '%{NAME}\\n' | grep -x '[A-Za-z0-9_][A-Za-z0-9._+-]*' | sort -u | head -n 500 |
          xargs -r $brief rpm -q --qf '[= %{=NAME} %{FILENAMES}\\n]' | head -c 20000000
      } | awk '!body { if ($0 == "--") body = 1; else want[$0]; next } NF == 3 && $1 == "=" && $2 ~ /^[A-Za-z0-9_][A-Za-z0-9._+-]*$/ && ($3 in want)'
      ;;
    *) xargs -r $brief dpkg-query -S -- | sed -n 's|^\\([a-z0-9][a-z0-9+.-]*\\)\\(:[a-z0-9-]*\\)\\{0,1\\}\\(, .*\\)\\{0,1\\}: \\(/.*\\)$|= \\1 \\4|p' ;;
  esac
}
with_packages() {
  found=$(cat)
  {
    printf '%s\\n' "$found" |
      awk "$known_paths"'NF > 3 { count = paths_of(file_of($0), paths); for (at = 1; at <= count; at++) print paths[at] }' |
      sort -u | head -n 3000 | owners
    printf '%s\\n' "$found"
  } | awk "$known_paths"'
    function tell() { if (key != "") print key, (owner == "" ? "-" : owner), path }
    $1 == "=" { package[$3] = $2; next }
    $0 == "whole" { whole = 1 }
    NF < 4 { next }
    {
      if ($1 " " $2 " " $3 != key) { tell(); key = $1 " " $2 " " $3; path = file_of($0); owner = "" }
      if (owner != "") next
      count = paths_of(file_of($0), paths)
      for (at = 1; at <= count && owner == ""; at++) if (paths[at] in package) { owner = package[paths[at]]; path = file_of($0) }
    }
    END { tell(); if (whole) print "whole" }'
}
# The output of needrestart and its exit code, where it is installed. In this mode it lists what its own settings exclude, too.
needrestart_output() {
  [ "$all" = 1 ] && command -v needrestart >/dev/null 2>&1 || return 0
  {
    \${brief:+timeout -k 1 ${NEEDRESTART_SECONDS}} needrestart -b -l -r l </dev/null
    echo "code $?"
  } | head -c 200000
}
outdated() {
  all=0
  [ "$(id -u)" != 0 ] || all=1
  # A process of an inner pid namespace has a number there too.
  own=$(cd /proc && printf '%s/status\\n' [1-9]* | xargs -r grep -s -l -E '^NSpid:[[:space:]]+[0-9]+$' -- | sed 's|/status$|/maps|')
  [ -n "$own" ] || return
  mapped=$(cd /proc && {
    printf '%s\\n' "$own" | \${brief:+timeout -k 1 ${READ_SECONDS}} xargs -r grep -a -H -m 8 -E \\
      '^[0-9a-f]+-[0-9a-f]+ ..x. [0-9a-f]+ [0-9a-f]+:[0-9a-f]+ [0-9]+ +/(usr|lib|lib32|lib64|libx32|bin|sbin|opt)/.* [(]deleted[)]$' -- 2>&1
    echo "code $?"
  } | head -c 2000000)
  named=$(needrestart_output) units=
  case $named in '' | *'code 0') ;; *) all=0 ;; esac
  case "$mapped $named" in
    */maps:[0-9a-f]* | *'NEEDRESTART-SVC: '*)
      units=$(active_units)
      # Without them, names of needrestart are left out, and services look like programs.
      case "$units:$named" in
        [!:]*) ;;
        *'NEEDRESTART-SVC: '*) all=0 ;;
        *) [ ! -d /run/systemd/system ] || all=0 ;;
      esac
      ;;
  esac
  {
    printf '%s\\n' "$units" "$mapped" | users_of_files | with_packages
    printf '%s\\n' "$units" "$named" | awk '$1 == "unit" { active[$2] = 1 }
      $1 == "NEEDRESTART-SVC:" && $2 in active { sub(/[.]service$/, "", $2); print "service", $2, "0 - needrestart" }'
  } | awk -v all="$all" '$0 == "whole" { whole = all; next }
    ($1, $2) in told { next }
    { told[$1, $2] = 1; if (++count > 100) all = 0; else print substr($0, 1, 600) }
    END { if (whole + all == 2) print "whole" }'
}
outdated 2>/dev/null | section services
`
