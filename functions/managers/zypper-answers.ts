/*
 * The answers of zypper, read with a shell and awk: problems, and the changes of a transaction. The host helper
 * contains this text: any change of it, even of a comment, needs a new `HELPER_VERSION`.
 *
 * Names and editions come from repositories and are not escaped in zypper's XML, so a record of another form makes the
 * whole answer unreadable. Files are written by cat, which tells that the disk is full; not every awk and sort does.
 */

export const ZYPPER_ANSWERS = `
zypper_end=$(($(date +%s) + 90))
# zypper_within SECONDS: these, or what is left of the time of the whole check. zypper may need five seconds more for each
# call: it does not end for a signal while a repository does not answer.
zypper_within() {
  left=$((zypper_end - $(date +%s)))
  [ "$left" -gt 1 ] || left=1
  [ "$left" -lt "$1" ] || left=$1
  echo "$left"
}
# zypper_begin: a folder of this subshell alone, where programs may run; gone with it
zypper_begin() {
  unset ZYPP_CONF
  for folder in /run /var/tmp /tmp /root "$HOME"; do
    work=$(mktemp -d "$folder/ops-panel.XXXXXXXX" 2>/dev/null) || continue
    trap 'cd / && rm -rf "$work"' EXIT
    trap 'exit 143' TERM INT HUP
    printf '#!/bin/sh\\nexit 9\\n' >"$work/probe"
    chmod 700 "$work/probe"
    "$work/probe" 2>/dev/null
    if [ "$?" = 9 ]; then
      cd "$work" && exec 5<. || return
      sweep
      return 0
    fi
    rm -rf "$work"
  done
  return 1
}
zypper_starts() { zypper_begin || { printf 'code\\t1\\n'; exit; }; }
# zypper_call PATIENCE SECONDS WORD...: zypper's answer in the file answer; waits PATIENCE seconds for its lock
zypper_call() {
  patience=$(($(date +%s) + $1)) most=$2
  shift 2
  while :; do
    {
      (cd / && limited "$(zypper_within "$most")" \${sudo:-} zypper "$@") </dev/null 2>/dev/null
      echo "$?" >code
    } | head -c 16000000 | cat >answer || return 4
    code=$(cat code)
    [ -n "$code" ] || return 4
    [ "$code" = 7 ] && [ "$(date +%s)" -lt "$patience" ] || return "$code"
    sleep 1
  done
}
# zypper_asks WORD...: from the lists as they are; a repository without lists is told by the refresh, and keeps back no other
zypper_asks() {
  zypper_call "\${patient:-4}" 60 -x -n --no-refresh "$@"
  code=$?
  [ "$code" != 106 ] || code=0
  return "$code"
}
zypper_whole() { tail -c 40 answer | grep -q '</stream>'; }
# The functions of each awk program: one record for each piece of the XML after a <
zypper_xml='
function attr(name, at, rest) {
  at = index($0, " " name "=\\"")
  if (!at) return ""
  rest = substr($0, at + length(name) + 3)
  at = index(rest, "\\"")
  return at ? substr(rest, 1, at - 1) : ""
}
function plain(text) {
  gsub(/&lt;/, "<", text); gsub(/&gt;/, ">", text); gsub(/&quot;/, "\\"", text); gsub(/&apos;/, sprintf("%c", 39), text); gsub(/&amp;/, "\\\\&", text)
  gsub(/[[:cntrl:]]+/, " ", text); gsub(/  +/, " ", text); sub(/^ /, "", text); sub(/ $/, "", text)
  return text
}
function body(text) { text = $0; sub(/^[^>]*>/, "", text); return plain(text) }
function part(a, b, x, y, digits, form) {
  while (a != "" || b != "") {
    sub(/^[^A-Za-z0-9~^]+/, "", a); sub(/^[^A-Za-z0-9~^]+/, "", b)
    x = substr(a, 1, 1); y = substr(b, 1, 1)
    if (x ~ /[~^]/ || y ~ /[~^]/) {
      if (x == y) { a = substr(a, 2); b = substr(b, 2); continue }
      if (x == "~") return -1
      if (y == "~") return 1
      return x == "^" ? (y == "" ? 1 : -1) : (x == "" ? -1 : 1)
    }
    if (x == "" || y == "") break
    digits = x ~ /[0-9]/
    if ((y ~ /[0-9]/) != digits) return digits ? 1 : -1
    form = digits ? "^[0-9]+" : "^[A-Za-z]+"
    match(a, form); x = substr(a, 1, RLENGTH); a = substr(a, RLENGTH + 1)
    match(b, form); y = substr(b, 1, RLENGTH); b = substr(b, RLENGTH + 1)
    if (digits) { sub(/^0+/, "", x); sub(/^0+/, "", y); if (length(x) != length(y)) return length(x) > length(y) ? 1 : -1 }
    if ((x "") != (y "")) return (x "") > (y "") ? 1 : -1
  }
  return a == b ? 0 : a == "" ? -1 : 1
}
function edition(a, b, m, n, c) {
  m = a ~ /^[0-9]+:/ ? a : "0:" a; n = b ~ /^[0-9]+:/ ? b : "0:" b
  c = part(substr(m, 1, index(m, ":") - 1), substr(n, 1, index(n, ":") - 1))
  if (c) return c
  sub(/^[0-9]+:/, "", m); sub(/^[0-9]+:/, "", n)
  a = m; b = n; sub(/-[^-]*$/, "", a); sub(/-[^-]*$/, "", b)
  c = part(a, b)
  if (c || index(m, "-") == 0 || index(n, "-") == 0) return c
  sub(/^.*-/, "", m); sub(/^.*-/, "", n)
  return part(m, n)
}
# A patch fixes NAME, or NAME.ARCH, from this edition on.
function fixed(name, arch, from, to, i, n) {
  for (n = 2; n; n--) {
    for (i = 1; i <= fixes[name]; i++) if (edition(fix[name, i], to) <= 0 && (from == "-" || edition(from, fix[name, i]) < 0)) return 1
    name = name "." arch
  }
  return 0
}
BEGIN { OFS = "\\t" }
'
zypper_read='function read(file, line) { RS = "\\n"; while ((getline line < file) > 0) take(line); close(file); RS = "<" }'
# zypper_awk PROGRAM [-v NAME=VALUE]...
zypper_awk() {
  program=$1
  shift
  awk -v RS='<' -v notes=notes "$@" "$zypper_xml$program"
}
# zypper_problems: why zypper could not do it, of an answer
zypper_problems() {
  zypper_awk '
    /^prompt / { asks = 1 }
    /^\\/prompt>/ { asks = 0 }
    /^message type="error">/ || (asks && /^description>/) {
      text = body()
      n = split(text, line, /Problem: /)
      if (n > 1) { sub(/ Solution [0-9]+: .*/, "", line[2]); text = line[2] }
      if (text != "" && !seen[text]++ && told++ < 20) print "problem", substr(text, 1, 300)
    }' <answer
}
# zypper_changed: lines change and total, of the summary of a transaction
zypper_changed() {
  zypper_awk '
    '"$zypper_read"'
    function take(line, word) {
      if (split(line, word, " ") == 3 && word[1] == "fix") fix[word[2], ++fixes[word[2]]] = word[3]
      else if (word[1] == "known") source[word[2] " " word[3] " " word[4]] = word[6]
    }
    BEGIN { read(notes) }
    /^install-summary / { inside = 1; expected = attr("packages-to-change"); size = attr("download-size"); room = attr("space-usage-diff"); next }
    /^\\/install-summary>/ { inside = 0; summaries++; next }
    !inside { next }
    /^(to-|_)[a-z-]+>/ { list = substr($0, 1, index($0, ">") - 1); next }
    /^\\/(to-|_)[a-z-]+>/ { list = ""; next }
    /^(description>|\\/description>|\\/solvable>)/ { next }
    !/^solvable type="[a-z]+" / || list == "" { bad = 1; next }
    !/^solvable type="package" / || list == "_unsupported" { next }
    !/^solvable type="package" name="[A-Za-z0-9_.@+~-]+" edition="[^" ]+" arch="[A-Za-z0-9_-]+"( [a-z-]+="[^"]*")*\\/?>/ { bad = 1; next }
    {
      name = attr("name"); arch = attr("arch"); to = attr("edition"); from = attr("edition-old")
      if (list == "to-change-arch" || list == "to-change-vendor") {
        if ((name, arch, to) in seen) next
        list = "to-reinstall"
      }
      seen[name, arch, to]
      if (++count > 10000) { bad = 1; next }
      if (list == "to-remove") { from = to; to = "-" }
      else if (list == "to-install") from = "-"
      else if (list == "to-reinstall" && from == "") from = to
      if (from == "" || to == "" || from ~ / /) { bad = 1; next }
      origin = source[name " " arch " " to]
      # Newer versions tell the repository here, too.
      if (origin == "" && to != "-") { origin = substr(plain(attr("repository")), 1, 200); gsub(/ /, "_", origin) }
      print "change", substr(list, 4), name, arch, from, to, origin == "" ? "-" : origin, to == "-" ? 0 : fixed(name, arch, from, to), "-", "-", "-"
    }
    END {
      if (bad || inside || summaries > 1 || (expected != "" && expected != count + 0)) print "change", "unreadable"
      if (size ~ /^[0-9]+$/ && room ~ /^-?[0-9]+$/) print "total", size, room
    }' || printf 'change\\tunreadable\\n'
}
`
