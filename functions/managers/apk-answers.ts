/*
 * The changes of an upgrade by apk, and the upgrades that it leaves alone, for apk.ts. The host helper contains this text: any change of it, even
 * of a comment, needs a new `HELPER_VERSION`.
 */

/**
 * `apk_simulated` asks apk about `$apk_names`, or about everything where they are empty, and prints `change ACTION NAME
 * FROM TO`, `problem MESSAGE` and `code N`. A simulation takes no lock and fetches nothing. A line in a form that is not
 * known, or another number of lines than apk counts, makes the answer a failed one.
 *
 * `apk_choose ONLY REMOVALS KIND NAME…` sets `$apk_names`, `$apk_none` where nothing is chosen, and `$apk_answer`. Names
 * on the command line of `apk upgrade` mark nothing: unlike `apk add -u`, it leaves the list of wanted packages as it is.
 * Where apk would remove packages that nothing needs after the upgrade, and no removal is allowed, the packages that
 * need them today keep their versions.
 */
const CHOICE = `
apk_simulated() {
  if [ -n "$apk_none" ]; then
    printf 'code\\t0\\n'
    return
  fi
  {
    limited 60 apk $apk_always upgrade --simulate --no-self-upgrade $apk_names </dev/null 2>&1
    printf '\\ncode %s\\n' "$?"
  } | head -c 4000000 | apk_plain | awk '
    /^code [0-9]+$/ { code = $2; next }
    /^\\( *[0-9]+\\/[0-9]+\\) / {
      head = $0; sub(/\\).*/, "", head); sub(/.*\\//, "", head); total = head + 0; count++
      line = $0; sub(/^\\( *[0-9]+\\/[0-9]+\\) /, "", line)
      if (line ~ /^(Updating pinning|\\[APK unavailable, skipped\\] Reinstalling) /) next
      words = split(line, word, " "); name = word[2]; sub(/@[A-Za-z0-9._-]+$/, "", name)
      action = word[1] == "Upgrading" || word[1] == "Replacing" ? "upgrade" : word[1] == "Downgrading" ? "downgrade" : \\
        word[1] == "Installing" ? "install" : word[1] == "Purging" ? "remove" : word[1] == "Reinstalling" ? "reinstall" : ""
      from = word[3]; to = word[5]
      two = action == "upgrade" || action == "downgrade"
      if (words != (two ? 5 : 3) || (two && word[4] != "->")) action = ""
      sub(/^\\(/, "", from)
      if (two) sub(/\\)$/, "", to); else { sub(/\\)$/, "", from); to = from }
      if (action == "install") from = "-"
      if (action == "remove") to = "-"
      if (action == "" || name !~ /^[A-Za-z0-9._][A-Za-z0-9._+-]*$/ || length(name) > 200 || !version(from) || !version(to)) { unknown = 1; next }
      print "change\\t" action "\\t" name "\\t" from "\\t" to
      next
    }
    /^ERROR: / { sub(/^ERROR: */, ""); if (error == "") error = $0; open = 1; next }
    open && /^ / && details < 6 { sub(/^ +/, ""); error = error (details++ ? "; " : " ") $0; next }
    { open = 0 }
    function version(text) { return text == "-" || (text ~ /^[A-Za-z0-9._~+:-]+$/ && length(text) <= 250) }
    END {
      if (code == "") code = 1
      if (unknown || count + 0 != total + 0) { print "problem\\tapk told a change in a form that is not known"; code = 1 }
      else if (code != 0) print "problem\\t" substr(error == "" ? "apk upgrade --simulate ended with " code : error, 1, 300)
      # That packages do not fit together is an answer too.
      if (error ~ /^(unable to select packages|unsatisfiable constraints)/) code = 0
      print "code\\t" code
    }'
}
# apk_named FIELD VALUES: the names of the changes of $apk_answer with one of these actions
apk_named() { printf '%s\\n' "$apk_answer" | awk -F '\\t' -v actions=" $1 " '$1 == "change" && index(actions, " " $2 " ") { print $3 }'; }
# apk_without NAMES: lines of stdin without these
apk_without() {
  {
    printf '%s\\n' $1 --
    cat
  } | awk '!body { if ($0 == "--") body = 1; else gone[$0]; next } !($0 in gone)'
}
# apk_holders NAMES: the installed packages that need one of these
apk_holders() {
  {
    printf '%s\\n' $1 --
    apk_database
  } | awk '
    !body { if ($0 == "--") body = 1; else gone[$0]; next }
    /^P:/ { name = substr($0, 3) }
    /^p:/ && (name in gone) { $0 = substr($0, 3); for (i = 1; i <= NF; i++) { sub(/[<>=~].*/, "", $i); gone[$i] } }
    /^D:/ { needs[name] = substr($0, 3) }
    END { for (name in needs) { m = split(needs[name], need, " "); for (i = 1; i <= m; i++) { sub(/[<>=~].*/, "", need[i]); if (need[i] in gone) { print name; break } } } }'
}
apk_choose() {
  [ "$1" = all ] || return 1
  removals=$2 kind=$3 apk_names= apk_none= tries=0 spared=
  [ "$kind" = every ] || [ -n "$apk_by_name" ] || return 1
  shift 3
  for name; do
    name=\${name%%:*}
    case $name in '' | -* | *[!A-Za-z0-9._+-]*) return 1 ;; esac
    spared="$spared $name"
  done
  case $kind in
    these)
      apk_names=$spared spared=
      [ -n "$apk_names" ] || apk_none=1
      ;;
    without)
      apk_answer=$(apk_simulated)
      apk_names=$(apk_named 'upgrade downgrade' | apk_without "$spared")
      [ -n "$apk_names" ] || apk_none=1
      ;;
    every) spared= ;;
    *) return 1 ;;
  esac
  while :; do
    apk_answer=$(apk_simulated)
    removed=$(apk_named remove)
    [ "$removals" = keep ] && [ -n "$removed" ] || break
    if [ "$kind" = these ]; then
      apk_answer=$(printf 'problem\\tapk removes packages with these: %s\\ncode\\t0\\n' "$(echo $removed | cut -c 1-200)")
      break
    fi
    tries=$((tries + 1))
    apk_names=$([ "$tries" -gt 5 ] || [ -z "$apk_by_name" ] || apk_named 'upgrade downgrade' | apk_without "$(apk_holders "$removed")")
    [ -n "$apk_names" ] || apk_none=1
  done
  taken=$(printf '%s\\n' "$apk_answer" | awk -F '\\t' -v names="$spared" 'BEGIN { n = split(names, each, " "); for (i = 1; i <= n; i++) kept[each[i]] }
    $1 == "change" && ($3 in kept) && name == "" { name = $3 } END { print name }')
  [ -z "$taken" ] ||
    apk_answer=$(printf 'problem\\tapk cannot leave %s as it is: another package needs its new version\\ncode\\t0\\n' "$taken")
}`

/**
 * `apk_detailed` adds what the list of installed packages and the lists of the repositories tell: lines `change ACTION
 * NAME FROM TO` become those of `m_changes`, others stay. Where a list cannot be read, sizes are unknown.
 */
const DETAILS = `
# apk_records WORD: of names and, after a line --, records on stdin: WORD name version arch size room source, for these names
apk_records() {
  awk -v word="$1" '
    !body { if ($0 == "--") body = 1; else want[$0]; next }
    /^[PVASIo]:/ { field[substr($0, 1, 1)] = substr($0, 3); next }
    $0 == "" { tell() }
    END { tell() }
    function tell() {
      if (("P" in field) && (field["P"] in want)) print word, field["P"], safe(field["V"]), safe(field["A"]), number(field["S"]), number(field["I"]), safe(field["o"])
      split("", field)
    }
    function safe(text) { return text ~ /^[A-Za-z0-9._~+:-]+$/ && length(text) <= 250 ? text : "-" }
    function number(text) { return text ~ /^[0-9]+$/ && length(text) <= 14 ? text : "-" }'
}
apk_detailed() {
  lines=$(cat)
  names=$(printf '%s\\n' "$lines" | awk -F '\\t' '$1 == "change" { print $3 }' | sort -u | head -n 10000)
  {
    if [ -n "$names" ]; then
      {
        printf '%s\\n' "$names" --
        apk_database
      } | apk_records installed
      apk_indexes | head -n 200 | while read -r file; do
        {
          printf '%s\\n' "$names" --
          limited 20 tar -xzOf "$file" APKINDEX 2>/dev/null </dev/null | head -c 100000000
        } | apk_records offered
      done
      limited 30 apk $apk_always policy $names 2>/dev/null </dev/null | head -c 4000000 | apk_plain | awk '
        /^[^ ].* policy:$/ { name = $1; next }
        /^  [^ ].*:$/ { version = $1; sub(/:$/, "", version); next }
        $NF ~ /^(https?|ftp|file):\\/\\// || ($NF ~ /^\\// && $NF !~ /apk\\/db/) { print "origin", name, version, substr($NF, 1, 200) }'
    fi
    echo --
    printf '%s\\n' "$lines"
  } | awk -v native="$apk_arch" '
    !body && $0 == "--" { body = 1; FS = "\\t"; next }
    !body && $1 == "installed" { arch[$2] = $4; had[$2] = $6; from_source[$2] = $7; next }
    !body && $1 == "offered" { if (!(($2 " " $3) in size)) { size[$2 " " $3] = $5; room[$2 " " $3] = $6; source[$2 " " $3] = $7; new_arch[$2 " " $3] = $4 } next }
    !body { if (!(($2 " " $3) in origin)) origin[$2 " " $3] = $4; next }
    { split($0, field, "\\t") }
    field[1] != "change" { print; next }
    {
      name = field[3]; key = name " " field[5]; gone = field[5] == "-"
      a = (name in arch) ? arch[name] : (key in new_arch) ? new_arch[key] : native
      s = gone ? 0 : (key in size) ? size[key] : "-"
      before = (name in had) ? had[name] : (field[4] == "-") ? 0 : "-"
      after = gone ? 0 : (key in room) ? room[key] : "-"
      r = before == "-" || after == "-" ? "-" : sprintf("%.0f", after - before)
      o = (key in source) ? source[key] : (name in from_source) ? from_source[name] : "-"
      print "change\\t" field[2] "\\t" name "\\t" a "\\t" field[4] "\\t" field[5] "\\t" ((key in origin) ? origin[key] : "-") "\\t0\\t" s "\\t" r "\\t" o
    }'
}
apk_changes() {
  apk_ready
  if apk_choose "$@"; then printf '%s\\n' "$apk_answer" | apk_detailed; else echo unsupported; fi
}`

/**
 * Available upgrades come from `apk version`. A constraint in the list of wanted packages that leaves no newer version,
 * or a package that was installed from a file, is a hold.
 */
const LEFT = `
apk_left() {
  apk_ready
  apk_choose all remove every
  whole=$apk_answer
  [ -z "$(apk_named remove)" ] || apk_choose all keep every
  listed=$({
    limited 30 apk $apk_always version -l '<' 2>/dev/null </dev/null
    echo "code $?"
  } | head -c 4000000 | apk_plain)
  held=$(tr ' ' '\\n' 2>/dev/null <"$apk_root/etc/apk/world" | apk_plain |
    sed -n 's/^\\([A-Za-z0-9._][A-Za-z0-9._+-]*\\)\\(@[A-Za-z0-9._-]*\\)\\{0,1\\}\\([=<~]\\|><\\).*/\\1/p' | sort -u | head -n 1000)
  {
    printf '%s\\n' "$held" | sed -n 's/^./hold &/p'
    printf '%s\\n' "$apk_answer" | sed 's/^/now /'
    printf '%s\\n' "$whole" | sed 's/^/whole /'
    printf '%s\\n' "$listed"
  } | awk '
    $1 == "hold" { held[$2]; print "hold\\t" $2; next }
    $1 == "now" && $2 == "change" { now[$4]; next }
    $1 == "now" && $2 == "code" { if ($3 != 0) bad = $3; next }
    $1 == "whole" && $2 == "change" { if (!($4 in now)) left("kept_back_remove", $4, $5, $6); next }
    $1 == "whole" && $2 == "code" { if ($3 != 0) bad = $3; next }
    $1 == "now" || $1 == "whole" { next }
    /^code [0-9]+$/ { code = $2; next }
    $2 == "<" && $1 ~ /^[A-Za-z0-9._][A-Za-z0-9._+-]*-[0-9]/ && $3 ~ /^[A-Za-z0-9._~+:-]+$/ && length($0) < 700 {
      name = version = $1
      while (match(version, /-[0-9]/)) version = substr(version, RSTART + 1)
      name = substr($1, 1, length($1) - length(version) - 1)
      if (!(name in now)) left((name in held) ? "held" : "kept_back_dependencies", name, version, $3)
    }
    function left(reason, name, from, to) { if (!(name in told) && count++ < 10000) print "change\\t" reason "\\t" name "\\t" from "\\t" to; told[name] }
    END { print "code\\t" (code == "" ? 1 : code != 0 ? code : bad + 0) }' | apk_detailed |
    awk -F '\\t' '$1 == "change" { print "left\\t" $2 "\\t" $3 "\\t" $4 "\\t" $5 "\\t" $6 "\\t" $7 "\\t0"; next } { print }'
}
# The database marks packages whose files or scripts failed (f: with f, s, x); without names, apk add only solves.
apk_verify() {
  apk_ready
  apk_database | awk '/^P:/ { name = substr($0, 3) }
    /^f:/ && name ~ /^[A-Za-z0-9._][A-Za-z0-9._+-]*$/ && count < 1000 {
      flags = substr($0, 3)
      why = flags ~ /f/ ? "its files were not written whole" : flags ~ /s/ ? "its script failed" : flags ~ /x/ ? "its extended attributes were not written" : ""
      if (why != "") { print "unfinished\\t" name "\\t" why ": apk fix " name; count++ } }'
  {
    limited 60 apk $apk_always add --simulate </dev/null 2>&1
    printf '\\ncode %s\\n' "$?"
  } | head -c 1000000 | apk_plain | awk '
    /^code [0-9]+$/ { code = $2; next }
    /^ERROR: (unable to select packages|unsatisfiable constraints)/ { unmet = 1; next }
    /^ERROR: / { unmet = 0; other = 1 }
    unmet && /^  [^ ]/ { name = $1; sub(/:$/, "", name); rest = ($0 ~ /no such package/) ? "no such package" : ""; next }
    unmet && /^    [^ ]/ && name != "" && count < 1000 {
      text = $0; sub(/^ +/, "", text)
      who = name
      if (text ~ /^required by: /) { who = $3; sub(/\\[.*/, "", who); sub(/-[0-9][^-]*(-r[0-9]+)?$/, "", who); if ($3 ~ /^world\\[/) who = "world" }
      gsub(/[^A-Za-z0-9._+-]/, "", who)
      if (who != "") { print "broken\\t" substr(who, 1, 200) "\\t" substr(name (rest == "" ? "" : " (" rest ")") ": " text, 1, 300); count++ }
    }
    END { if (code == "") code = 1; print "code\\t" (count ? 0 : code) }'
}`

export const APK_ANSWERS = `${CHOICE}${DETAILS}${LEFT}`
